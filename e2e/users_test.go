package e2e_test

import (
	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Users. Alice and bob have the same rights, and no others than to instances in
// their namespace.
const (
	alice = "alice"
	bob   = "bob"
	// admin is whom the stack's own kubeconfig is for.
	admin = "admin"
)

// grant lets alice and bob write instances in the world's namespace.
func (w *world) grant() {
	w.Helper()
	meta := metav1.ObjectMeta{Namespace: w.namespace, Name: "instances"}
	w.create(&rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{"servicecatalog.k8s.io"}, Resources: []string{"serviceinstances"},
		Verbs: []string{"get", "list", "watch", "create", "update", "patch", "delete"},
	}}}, &rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
		Subjects: []rbacv1.Subject{
			{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: alice},
			{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: bob},
		},
	})
	// The API server learns of the rights by a watch.
	w.eventually(func() (bool, error) {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: w.namespace, Verb: "patch", Group: "servicecatalog.k8s.io", Resource: "serviceinstances",
			},
		}}
		err := w.as(bob).client.Create(w.Context(), review)
		return review.Status.Allowed, err
	})
}

// as is the same world with the client of a user, by impersonation: it has the
// rights that RBAC gives the user.
func (w *world) as(user string) *world {
	w.Helper()
	theirs := *w
	theirs.client, theirs.warnings = w.clientFor(w.RESTConfigFor(user))
	require.NotNil(w, theirs.client)
	return &theirs
}
