package offering

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"encoding/pem"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/access"
	"github.com/defaultplan/defaultplan/webhook/decision"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// A brokerSpec is the spec of a broker of either scope: a namespaced one names its
// Secret without a namespace.
type brokerSpec = v1beta1.ClusterServiceBrokerSpec

// Brokers admits ClusterServiceBrokers and ServiceBrokers.
type Brokers struct{ access access.Rights }

// NewBrokers returns the admission of brokers.
func NewBrokers(shared *decision.Tools) *Brokers { return &Brokers{shared.Access} }

// Mutate is the mutating phase.
func (*Brokers) Mutate(_ context.Context, req *admission.Request) (review.Result, error) {
	decided := review.Result{Rule: review.RuleNone}
	write, wrong := review.Decode[brokerSpec, struct{}](req)
	if wrong != nil || write.New.Specless {
		// The schema of the CRD, which is checked next, says best what is wrong.
		return decided, nil
	}
	spec, old := write.New.Spec, write.Before()
	if denied := urlWithCredentials(old, spec); denied != nil {
		decided.Deny(denied) // before the schema, which would repeat it
		return decided, nil
	}
	if write.Old != nil && equality.Semantic.DeepEqual(write.Old.Spec, spec) {
		return decided, nil
	}
	if spec.RelistBehavior == "" {
		decided.Patch.Add(v1beta1.RelistDuration, "spec", "relistBehavior")
	}
	if spec.RelistRequests == 0 && old.RelistRequests != 0 {
		decided.Patch.Add(old.RelistRequests, "spec", "relistRequests")
	}
	if write.Old == nil || write.New.Metadata.DropsFinalizer(&write.Old.Metadata) {
		decided.Patch.AddFinalizer(write.New.Metadata.Finalizers)
	}
	return decided, nil
}

// Validate is the validating phase.
func (h *Brokers) Validate(ctx context.Context, req *admission.Request) (review.Result, error) {
	decided := review.Result{Rule: review.RuleNone}
	write, wrong := review.Decode[brokerSpec, struct{}](req)
	if wrong != nil {
		decided.Deny(wrong.Denial(req.Resource.Resource))
		return decided, nil
	}
	old, spec := write.Before(), write.New.Spec
	decided.Deny(urlWithCredentials(old, spec))
	decided.Deny(bundleUnreadable(old, spec))
	decided.Deny(restrictionsUnknown(old, spec, req.Namespace))
	denied, err := h.secretNotReadable(ctx, req, old, spec)
	if err != nil {
		return review.Result{Rule: review.RuleNone}, err
	}
	decided.Deny(denied)
	return decided, nil
}

// urlWithCredentials refuses a URL with an @, a question mark or a number sign: before or
// after these people write usernames, passwords and tokens, also such that hold a slash,
// and every user who may read the broker can read its URL. No call takes a query or a
// fragment, and in a path an @ is written %40. The denial repeats no part of the URL, as
// those of the API server would, to the author and in the audit log.
func urlWithCredentials(old, spec *brokerSpec) *review.Denial {
	if spec.URL == old.URL || !strings.ContainsAny(spec.URL, "@?#") {
		return nil
	}
	return review.Invalid("InvalidURL", "spec.url", "it holds a username, a password, a query or a fragment (an @, ? or #), and every user who may read the broker can read its URL").
		Remedy("put credentials into a Secret with the keys username and password, or token, and name it in spec.authInfo")
}

// bundleUnreadable refuses a bundle of certificates by which no broker could be
// trusted. What stands beside the certificates is passed over, as TLS does.
func bundleUnreadable(old, spec *brokerSpec) *review.Denial {
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
			return review.Invalid("InvalidBundle", field, "its certificate %d cannot be read", found).Remedy(way)
		}
	}
	if found == 0 {
		return review.Invalid("InvalidBundle", field, "it holds no certificate").Remedy(way)
	}
	return nil
}

// secretNotReadable denies a write that changes where a broker's credentials
// are sent by a user who may not read them. A change of anything else needs no such
// permission.
func (h *Brokers) secretNotReadable(ctx context.Context, req *admission.Request, old, spec *brokerSpec) (*review.Denial, error) {
	secret, field := authSecret(spec.AuthInfo, req.Namespace)
	if field == "" || sendsAlike(old, spec) {
		return nil, nil
	}
	denied, err := h.access.SecretNotReadable(ctx, req.UserInfo, secret, field)
	if denied != nil {
		denied.Causes[0].Message += ", which is sent to this broker: changing authInfo, url, caBundle or insecureSkipTLSVerify requires permission to get it"
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
	return types.NamespacedName{Namespace: cmp.Or(namespace, ref.Namespace), Name: ref.Name}, field
}
