package webhook

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// A brokerSpec is the spec of a broker of either scope: a namespaced one names its
// Secret without a namespace.
type brokerSpec = v1beta1.ClusterServiceBrokerSpec

// brokers admits ClusterServiceBrokers and ServiceBrokers.
type brokers struct{ access access }

func serveBrokers(server Registrar, handler *brokers) {
	for resource, kind := range map[string]string{"clusterservicebrokers": "ClusterServiceBroker", "servicebrokers": "ServiceBroker"} {
		server.Register("/mutate/"+resource, endpoint{decide: serve(mutating, kind, handler.mutate)})
		server.Register("/validate/"+resource, endpoint{decide: serve(validating, kind, handler.validate)})
	}
}

// mutate is the mutating half.
func (*brokers) mutate(_ context.Context, req *admission.Request) (verdict, error) {
	decided := verdict{rule: ruleNone}
	write, wrong := readWrite[brokerSpec, struct{}](req)
	if wrong != nil || write.new.specless {
		// The schema of the CRD, which is checked next, says best what is wrong.
		return decided, nil
	}
	spec, old := write.new.Spec, &brokerSpec{}
	if write.old != nil {
		old = write.old.Spec
	}
	if denied := urlWithCredentials(old, spec); denied != nil {
		decided.deny(denied) // before the schema, which would repeat it
		return decided, nil
	}
	if write.old != nil && equality.Semantic.DeepEqual(write.old.Spec, spec) {
		return decided, nil
	}
	if spec.RelistBehavior == "" {
		decided.patch.add(v1beta1.RelistDuration, "spec", "relistBehavior")
	}
	if write.old != nil && spec.RelistRequests == 0 && write.old.Spec.RelistRequests != 0 {
		decided.patch.add(write.old.Spec.RelistRequests, "spec", "relistRequests")
	}
	if write.old == nil || dropsFinalizer(&write.new.Metadata, &write.old.Metadata) {
		patchFinalizer(&decided.patch, write.new.Metadata.Finalizers)
	}
	return decided, nil
}

// validate is the validating half.
func (h *brokers) validate(ctx context.Context, req *admission.Request) (verdict, error) {
	decided := verdict{rule: ruleNone}
	write, wrong := readWrite[brokerSpec, struct{}](req)
	if wrong != nil {
		decided.deny(invalid("Unreadable", wrong.field, "%s", wrong.text).remedy("kubectl explain %s", req.Resource.Resource))
		return decided, nil
	}
	old, spec := &brokerSpec{}, write.new.Spec
	if write.old != nil {
		old = write.old.Spec
	}
	decided.deny(urlWithCredentials(old, spec))
	decided.deny(bundleUnreadable(old, spec))
	decided.deny(restrictionsUnknown(old, spec, req.Namespace))
	denied, err := h.secretNotReadable(ctx, req, old, spec)
	if err != nil {
		return verdict{rule: ruleNone}, err
	}
	decided.deny(denied)
	return decided, nil
}

// urlWithCredentials refuses a URL with an @, a question mark or a number sign: before or
// after these people write usernames, passwords and tokens, also such that hold a slash,
// and every user who may read the broker can read its URL. No call takes a query or a
// fragment, and in a path an @ is written %40. The denial repeats no part of the URL, as
// those of the API server would, to the author and in the audit log.
func urlWithCredentials(old, spec *brokerSpec) *denial {
	if spec.URL == old.URL || !strings.ContainsAny(spec.URL, "@?#") {
		return nil
	}
	return invalid("InvalidURL", "spec.url", "it holds a username, a password, a query or a fragment (an @, ? or #), and every user who may read the broker can read its URL").
		remedy("put credentials into a Secret with the keys username and password, or token, and name it in spec.authInfo")
}

// bundleUnreadable refuses a bundle of certificates by which no broker could be
// trusted. What stands beside the certificates is passed over, as TLS does.
func bundleUnreadable(old, spec *brokerSpec) *denial {
	const field, way = "spec.caBundle", `it takes certificates in PEM, in base64: base64 < ca.pem | tr -d '\n'`
	if len(spec.CABundle) == 0 || bytes.Equal(old.CABundle, spec.CABundle) {
		return nil
	}
	found := 0
	for block, rest := pem.Decode(spec.CABundle); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		found++
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return invalid("InvalidBundle", field, "its certificate %d cannot be read", found).remedy(way)
		}
	}
	if found == 0 {
		return invalid("InvalidBundle", field, "it holds no certificate").remedy(way)
	}
	return nil
}

// secretNotReadable refuses a write that decides where a broker's credentials are
// sent, by who may not read them. Whoever changes anything else is not asked.
func (h *brokers) secretNotReadable(ctx context.Context, req *admission.Request, old, spec *brokerSpec) (*denial, error) {
	secret, field := authSecret(spec.AuthInfo, req.Namespace)
	if field == "" || sendsAlike(old, spec) {
		return nil, nil
	}
	denied, err := h.access.secretNotReadable(ctx, req.UserInfo, secret, field)
	if denied != nil {
		denied.causes[0].Message += ", which this broker is sent: whoever changes authInfo, url, caBundle or insecureSkipTLSVerify must be allowed to"
	}
	return denied, err
}

// sendsAlike says that two specs send the same credentials to the same place.
func sendsAlike(a, b *brokerSpec) bool {
	return a.URL == b.URL && a.InsecureSkipTLSVerify == b.InsecureSkipTLSVerify && bytes.Equal(a.CABundle, b.CABundle) &&
		equality.Semantic.DeepEqual(a.AuthInfo, b.AuthInfo)
}

// authSecret is the Secret that a broker is sent, and the field that names it, ""
// if there is none. Of two, basic is used.
func authSecret(auth *v1beta1.ClusterServiceBrokerAuthInfo, namespace string) (secret types.NamespacedName, field string) {
	var ref *v1beta1.ObjectReference
	switch {
	case auth != nil && auth.Basic != nil && auth.Basic.SecretRef != nil:
		ref, field = auth.Basic.SecretRef, "spec.authInfo.basic.secretRef"
	case auth != nil && auth.Bearer != nil && auth.Bearer.SecretRef != nil:
		ref, field = auth.Bearer.SecretRef, "spec.authInfo.bearer.secretRef"
	default:
		return types.NamespacedName{}, ""
	}
	return types.NamespacedName{Namespace: orElse(namespace, ref.Namespace), Name: ref.Name}, field
}
