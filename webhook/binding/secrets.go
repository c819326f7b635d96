package binding

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/access"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// A transformReview asks whether a user may read the Secrets that a binding's
// transforms name: readers of the binding's Secret read their keys.
type transformReview struct {
	access access.Rights
	plans  *catalog.Catalog
	// namespace is the binding's.
	namespace string
	user      authenticationv1.UserInfo
	// before are the transforms whose Secrets were checked when they were
	// written.
	before, now []v1beta1.SecretTransform
	// plan is that of the binding's instance, empty if it is not known. The
	// binding's own references do not count, because any user may write them.
	plan resolve.Ref
}

// refuse denies transforms that add the keys of a Secret that the user
// may not read. For transforms of a cluster-scoped plan or class, its writer's
// permission was checked at that write. For those of a namespaced one the
// user's is checked here, because a user who writes plans in a namespace may not read
// every Secret.
func (t *transformReview) refuse(ctx context.Context) (*review.Denial, error) {
	vouched := sync.OnceValues(func() ([]v1beta1.SecretTransform, error) { return givenByCluster(ctx, t.plans, t.plan) })
	var denied *review.Denial
	for i, transform := range t.now {
		if transform.AddKeysFrom == nil || transform.AddKeysFrom.SecretRef == nil || containsTransform(t.before, transform) {
			continue
		}
		given, err := vouched()
		if err != nil {
			return nil, err
		}
		if containsTransform(given, transform) {
			continue
		}
		ref := transform.AddKeysFrom.SecretRef
		secret := types.NamespacedName{Namespace: cmp.Or(ref.Namespace, t.namespace), Name: ref.Name}
		refused, err := t.access.SecretNotReadable(ctx, t.user, secret, fmt.Sprintf("spec.secretTransforms[%d].addKeysFrom.secretRef", i))
		if err != nil {
			return nil, err
		}
		denied = denied.Also(refused)
	}
	return denied, nil
}

// givenByCluster are the transforms that a cluster-scoped plan and its class give,
// as the API server has them now.
func givenByCluster(ctx context.Context, plans *catalog.Catalog, plan resolve.Ref) ([]v1beta1.SecretTransform, error) {
	if plan.Name == "" || plan.Namespaced() {
		return nil, nil
	}
	defined, err := plans.DefineLive(ctx, plan)
	if err != nil || defined == nil {
		return nil, err
	}
	return slices.Concat(defined.ClassSpec.DefaultSecretTransforms, defined.PlanSpec.DefaultSecretTransforms), nil
}

func containsTransform(list []v1beta1.SecretTransform, transform v1beta1.SecretTransform) bool {
	return slices.ContainsFunc(list, func(one v1beta1.SecretTransform) bool { return reflect.DeepEqual(one, transform) })
}

// writerOf is the user who wrote a stored binding, empty if the hooks never saw
// the binding: then its userInfo is not trusted.
func writerOf(old *binding) authenticationv1.UserInfo {
	if unseen(old) {
		return authenticationv1.UserInfo{}
	}
	return review.UserOf(old.Spec.UserInfo)
}

// askedBefore are the transforms of a stored binding for which its writer's
// permission was checked.
func askedBefore(old *binding) []v1beta1.SecretTransform {
	if unseen(old) {
		return nil
	}
	return old.Spec.SecretTransforms
}

// unseen says whether a stored binding never went through admission, which sets
// an ID on each.
func unseen(old *binding) bool { return old.Spec.ExternalID == "" }
