package offering

import (
	"cmp"
	"context"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/types"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// validateTransforms checks that the writer may read the Secrets whose keys the
// write newly adds to credentials. It does so with the feature gate off, too,
// because the gate may be on when the transforms are used.
func (v *offeringValidation) validateTransforms(ctx context.Context) error {
	validated := map[v1beta1.ObjectReference]bool{}
	for i := range v.old.defaults.DefaultSecretTransforms {
		if ref := addedSecret(&v.old.defaults.DefaultSecretTransforms[i]); ref != nil {
			validated[*ref] = true
		}
	}
	for i := range v.new.defaults.DefaultSecretTransforms {
		ref := addedSecret(&v.new.defaults.DefaultSecretTransforms[i])
		if ref == nil || validated[*ref] {
			continue
		}
		validated[*ref] = true
		field := fmt.Sprintf("spec.defaultSecretTransforms[%d].addKeysFrom.secretRef", i)
		if denied := v.secretOfCatalog(ref, field).Also(v.secretElsewhere(ref, field)); denied != nil {
			v.Deny(denied)
			continue
		}
		denied, err := v.Access.SecretNotReadable(ctx, v.req.UserInfo, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, field)
		if err != nil {
			return err
		}
		v.Deny(denied)
	}
	return nil
}

// addedSecret is the Secret whose keys a transform adds, nil for any other.
func addedSecret(transform *v1beta1.SecretTransform) *v1beta1.ObjectReference {
	if transform.AddKeysFrom == nil {
		return nil
	}
	return transform.AddKeysFrom.SecretRef
}

// secretOfCatalog denies a Secret that a broker's catalog names: the
// controller, which writes catalogs into objects, may read every Secret, but
// the broker may not.
func (v *offeringValidation) secretOfCatalog(ref *v1beta1.ObjectReference, field string) *review.Denial {
	if !v.Options.IsController(v.req.UserInfo.Username) {
		return nil
	}
	return review.Forbidden("SecretOfCatalog", field, "a broker's catalog may not name Secret %q: its keys would reach every user who binds", cmp.Or(ref.Namespace, v.req.Namespace)+"/"+ref.Name).
		Remedy("someone who may get the Secret writes the transform into the class or plan")
}

// secretElsewhere denies a Secret without a namespace, and in a namespaced
// offering a Secret of another namespace: permission to read a Secret is no
// permission to pass it on.
func (v *offeringValidation) secretElsewhere(ref *v1beta1.ObjectReference, field string) *review.Denial {
	own := v.req.Namespace
	switch {
	case own == "" && ref.Namespace == "":
		return review.Invalid("SecretElsewhere", field+".namespace", "it must name the namespace of Secret %q", ref.Name).
			Remedy("find it: kubectl get secrets -A --field-selector metadata.name=%s", ref.Name)
	case own != "" && ref.Namespace != own:
		return review.Invalid("SecretElsewhere", field+".namespace", "it must be %q: within a namespace, only Secrets of that namespace can be named", own).
			Remedy("a cluster-wide class or plan may name others, if its writer may read them")
	}
	return nil
}

// validateBroker checks that the writer of a namespaced offering may use the
// ClusterServiceBroker at which its instances would be provisioned: the
// external ID decides what the broker provisions, whatever the name of this
// offering.
func (v *offeringValidation) validateBroker(ctx context.Context) error {
	if v.req.Namespace == "" {
		return nil
	}
	field := v.toldApartBy()
	if field == "" {
		return nil
	}
	broker, err := v.brokerToUse(ctx)
	if err != nil || broker == "" {
		return err
	}
	denied, err := v.Access.BrokerNotUsable(ctx, v.req.UserInfo, broker, field)
	v.Deny(denied)
	return err
}

// toldApartBy is the first changed field that decides what a broker provisions,
// or which policies and limits apply; empty if there is none.
func (v *offeringValidation) toldApartBy() string {
	changes := func(label string) bool { return v.new.fields[label] != v.old.fields[label] }
	switch {
	case v.created, v.new.clusterBroker() != v.old.clusterBroker():
		return "spec.clusterServiceBrokerName"
	case v.new.className() != v.old.className():
		return "spec.serviceClassRef"
	case changes(v1beta1.LabelExternalID):
		return "spec.externalID"
	case changes(v1beta1.LabelExternalName):
		return "spec.externalName"
	case v.new.serviceType != v.old.serviceType:
		return "spec.serviceType"
	case !maps.Equal(v.new.ownLabels(), v.old.ownLabels()):
		return "metadata.labels"
	}
	return ""
}

// brokerToUse is the cluster's broker that a namespace's offering names, or named before
// the write, or, of a plan that names none at all, its class; empty if there is none.
func (v *offeringValidation) brokerToUse(ctx context.Context) (string, error) {
	named := cmp.Or(v.new.clusterBroker(), v.old.clusterBroker())
	if named != "" || v.new.plan == nil || v.new.fields[v1beta1.LabelServiceBrokerName] != "" {
		return named, nil
	}
	class := &v1beta1.ServiceClass{}
	_, err := catalog.Scope{Reader: v.Resolver.Catalog.Live, Namespace: v.req.Namespace}.Read(ctx, v.new.className(), class)
	return class.Spec.ClusterServiceBrokerName, err
}
