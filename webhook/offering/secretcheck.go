package offering

import (
	"cmp"
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/access"
	"github.com/defaultplan/defaultplan/webhook/options"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// A secretCheck denies writes that newly add keys of a Secret to credentials, by a user who may not get it.
type secretCheck struct {
	access  access.Rights
	options *options.Options
	req     *admission.Request
}

// refuse checks that the writer may read those Secrets. It does so with the feature gate off,
// too, because the gate may be on when the transforms are used.
func (s *secretCheck) refuse(ctx context.Context, old, transforms []v1beta1.SecretTransform) (*review.Denial, error) {
	checked := map[v1beta1.ObjectReference]bool{}
	for i := range old {
		if ref := addedSecret(&old[i]); ref != nil {
			checked[*ref] = true
		}
	}
	var denied *review.Denial
	for i := range transforms {
		ref := addedSecret(&transforms[i])
		if ref == nil || checked[*ref] {
			continue
		}
		checked[*ref] = true
		one, err := s.refuseSecret(ctx, ref, fmt.Sprintf("spec.defaultSecretTransforms[%d].addKeysFrom.secretRef", i))
		if denied = denied.Also(one); err != nil {
			return denied, err
		}
	}
	return denied, nil
}

// refuseSecret denies one Secret, which a field names.
func (s *secretCheck) refuseSecret(ctx context.Context, ref *v1beta1.ObjectReference, field string) (*review.Denial, error) {
	if denied := s.refuseOfCatalog(ref, field).Also(s.refuseElsewhere(ref, field)); denied != nil {
		return denied, nil
	}
	return s.access.SecretNotReadable(ctx, s.req.UserInfo, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, field)
}

// addedSecret is the Secret whose keys a transform adds, nil for any other.
func addedSecret(transform *v1beta1.SecretTransform) *v1beta1.ObjectReference {
	if transform.AddKeysFrom == nil {
		return nil
	}
	return transform.AddKeysFrom.SecretRef
}

// refuseOfCatalog denies a Secret that a broker's catalog names: the
// controller, which writes catalogs into objects, may read every Secret, but
// the broker may not.
func (s *secretCheck) refuseOfCatalog(ref *v1beta1.ObjectReference, field string) *review.Denial {
	if !s.options.IsController(s.req.UserInfo.Username) {
		return nil
	}
	return review.Forbidden("SecretOfCatalog", field, "a broker's catalog may not name Secret %q: its keys would reach every user who binds", cmp.Or(ref.Namespace, s.req.Namespace)+"/"+ref.Name).
		Remedy("someone who may get the Secret writes the transform into the class or plan")
}

// refuseElsewhere denies a Secret without a namespace, and in a namespaced
// offering a Secret of another namespace: permission to read a Secret is no
// permission to pass it on.
func (s *secretCheck) refuseElsewhere(ref *v1beta1.ObjectReference, field string) *review.Denial {
	own := s.req.Namespace
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
