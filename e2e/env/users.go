package env

import (
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

// Service accounts of the installation.
const (
	ControllerUser = "system:serviceaccount:defaultplan-system:defaultplan-controller"
	WebhookUser    = "system:serviceaccount:defaultplan-system:defaultplan-webhook"
	KeeperUser     = "system:serviceaccount:defaultplan-system:defaultplan-keeper"
)

// Rights gives users rights, in the namespace where nothing else is said.
type Rights struct {
	*Objects
	*Names
	stack *stack.Stack
}

// Grant gives a user rights in the namespace, and waits until they hold.
func (r *Rights) Grant(user string, rules ...rbacv1.PolicyRule) {
	r.Helper()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, GenerateName: "test-"}, Rules: rules}
	r.Create(role)
	r.bind(user, rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name})
	r.Allowed(user, rules[0])
}

// GrantRole gives a user in the namespace the rights of a role of the cluster, and waits
// until they hold.
func (r *Rights) GrantRole(user, clusterRole string) {
	r.Helper()
	r.bind(user, rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: clusterRole})
	r.allowedBy(user, clusterRole)
}

// GrantClusterRole gives a user in the whole cluster the rights of a role, and waits until
// they hold.
func (r *Rights) GrantClusterRole(user, clusterRole string) {
	r.Helper()
	r.Create(&rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}, Subjects: userSubjects(user),
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: clusterRole},
	})
	r.allowedBy(user, clusterRole)
}

// allowedBy waits until a user has the first right of a role.
func (r *Rights) allowedBy(user, clusterRole string) {
	r.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: clusterRole}}
	r.Get(role)
	for _, rule := range role.Rules {
		if len(rule.Resources) > 0 {
			r.Allowed(user, rule)
			return
		}
		if len(rule.NonResourceURLs) > 0 {
			r.allowed(&authorizationv1.SubjectAccessReviewSpec{User: user, NonResourceAttributes: &authorizationv1.NonResourceAttributes{
				Path: rule.NonResourceURLs[0], Verb: rule.Verbs[0],
			}})
			return
		}
	}
}

// Allowed waits until a user has the first right of a rule in the namespace: the API
// server learns of roles by a watch.
func (r *Rights) Allowed(user string, rule rbacv1.PolicyRule) {
	r.Helper()
	resource, subresource, _ := strings.Cut(rule.Resources[0], "/")
	asked := &authorizationv1.ResourceAttributes{
		Namespace: r.Namespace, Verb: rule.Verbs[0], Group: rule.APIGroups[0], Resource: resource, Subresource: subresource,
	}
	if len(rule.ResourceNames) > 0 {
		asked.Name = rule.ResourceNames[0]
	}
	r.allowed(&authorizationv1.SubjectAccessReviewSpec{User: user, ResourceAttributes: asked})
}

// allowed waits until the API server says that a user may do what is asked.
func (r *Rights) allowed(asked *authorizationv1.SubjectAccessReviewSpec) {
	r.Helper()
	r.Eventually(func() (bool, error) {
		review := &authorizationv1.SubjectAccessReview{Spec: *asked}
		if err := r.Client().Create(r.Context(), review); err != nil {
			return true, err
		}
		if review.Status.Allowed {
			return true, nil
		}
		return false, fmt.Errorf("%s has not the right %v: %s", asked.User, asked, review.Status.Reason)
	})
}

func (r *Rights) bind(user string, role rbacv1.RoleRef) {
	r.Helper()
	r.Create(&rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, GenerateName: "test-"}, RoleRef: role, Subjects: userSubjects(user),
	})
}

func userSubjects(user string) []rbacv1.Subject {
	return []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}}
}
