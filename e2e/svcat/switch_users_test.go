package svcat_test

import (
	"context"

	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// userWith is the environment of a user who may read the catalog and has these rights.
func (s *stall) userWith(name string, rules ...rbacv1.PolicyRule) []string {
	s.Helper()
	user := s.Name(name)
	read := rbacv1.PolicyRule{APIGroups: []string{api.GroupName}, Resources: []string{"*"}, Verbs: []string{"get", "list", "watch"}}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: user}, Rules: append(rules, read)}
	require.NoError(s, s.Client().Create(s.Context(), role))
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: user},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	require.NoError(s, s.Client().Create(s.Context(), binding))
	s.Cleanup(func() {
		_ = s.Client().Delete(context.Background(), role)
	})
	s.Eventually(func() (bool, error) { // the API server's own authorizer learns of roles a little later
		for _, rule := range role.Rules {
			review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: user, ResourceAttributes: &authorizationv1.ResourceAttributes{
				Group: api.GroupName, Resource: rule.Resources[0], Verb: rule.Verbs[0], Namespace: s.at,
			}}}
			if err := s.Client().Create(s.Context(), review); err != nil || !review.Status.Allowed {
				return false, err
			}
		}
		return true, nil
	})
	kubeconfig, err := s.KubeconfigFor(s.Context(), user)
	require.NoError(s, err)
	return append(s.Environment(), "KUBECONFIG="+kubeconfig)
}
