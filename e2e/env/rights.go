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
func (r *Rights) GrantResources(resources ...string) {
	r.Helper()
	meta := metav1.ObjectMeta{Namespace: r.Namespace, Name: "writers-of-" + resources[0]}
	r.Create(&rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{api.GroupName}, Resources: resources,
		Verbs: []string{"get", "list", "watch", "create", "update", "patch", "delete"},
	}}}, &rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
		Subjects: []rbacv1.Subject{
			{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: Alice},
			{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: Bob},
		},
	})
	bob := connect(r.T, r.stack, r.stack.RESTConfigFor(Bob))
	r.Eventually(func() (bool, error) {
		return bob.MayDo(authorizationv1.ResourceAttributes{
			Namespace: r.Namespace, Verb: "patch", Group: api.GroupName, Resource: resources[len(resources)-1],
		})
	})
}

// MayDo asks whether the user of Client has a right. The API server learns of rights by a
// watch.
func (o *Objects) MayDo(right authorizationv1.ResourceAttributes) (bool, error) {
	o.Helper()
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &right}}
	err := o.Client().Create(o.Context(), review)
	return review.Status.Allowed, err
}

// GrantInstances lets Alice and Bob write instances in the namespace.
func (r *Rights) GrantInstances() {
	r.Helper()
	r.GrantResources("serviceinstances")
}
