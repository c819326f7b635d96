package env

import (
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// Users of tests. Alice and Bob have the same rights in the namespace: those of
// GrantResources, and no others.
const (
	Alice = "alice"
	Bob   = "bob"
	// Admin is the user of the stack's own kubeconfig.
	Admin = "admin"
)

// GrantResources lets Alice and Bob write objects of our resources in the namespace,
// and waits until they may.
func (e *Env) GrantResources(resources ...string) {
	e.Helper()
	meta := metav1.ObjectMeta{Namespace: e.Namespace, Name: "writers-of-" + resources[0]}
	e.Create(&rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{api.GroupName}, Resources: resources,
		Verbs: []string{"get", "list", "watch", "create", "update", "patch", "delete"},
	}}}, &rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
		Subjects: []rbacv1.Subject{
			{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: Alice},
			{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: Bob},
		},
	})
	e.Eventually(func() (bool, error) {
		return e.As(Bob).MayDo(authorizationv1.ResourceAttributes{
			Namespace: e.Namespace, Verb: "patch", Group: api.GroupName, Resource: resources[len(resources)-1],
		})
	})
}

// MayDo asks whether the user of As has a right. The API server learns of rights by a
// watch.
func (e *Env) MayDo(right authorizationv1.ResourceAttributes) (bool, error) {
	e.Helper()
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &right}}
	err := e.Client().Create(e.Context(), review)
	return review.Status.Allowed, err
}

// GrantInstances lets Alice and Bob write instances in the namespace.
func (e *Env) GrantInstances() {
	e.Helper()
	e.GrantResources("serviceinstances")
}
