package env

import (
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Service accounts of the installation.
const (
	ControllerUser = "system:serviceaccount:defaultplan-system:defaultplan-controller"
	WebhookUser    = "system:serviceaccount:defaultplan-system:defaultplan-webhook"
	KeeperUser     = "system:serviceaccount:defaultplan-system:defaultplan-keeper"
)

// As is the same environment with the client of a user, by impersonation: it has the
// rights that RBAC gives the user. Kubectl stays the administrator's.
func (e *Env) As(user string, groups ...string) *Env {
	e.Helper()
	theirs := *e
	theirs.connect(e.RESTConfigFor(user, groups...))
	return &theirs
}

// Grant gives a user rights in the namespace, and waits until they hold.
func (e *Env) Grant(user string, rules ...rbacv1.PolicyRule) {
	e.Helper()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: e.Namespace, GenerateName: "test-"}, Rules: rules}
	e.Create(role)
	e.bind(user, rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name})
	e.Allowed(user, rules[0])
}

// GrantRole gives a user in the namespace the rights of a role of the cluster, and waits
// until they hold.
func (e *Env) GrantRole(user, clusterRole string) {
	e.Helper()
	e.bind(user, rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: clusterRole})
	e.allowedBy(user, clusterRole)
}

// GrantClusterRole gives a user in the whole cluster the rights of a role, and waits until
// they hold.
func (e *Env) GrantClusterRole(user, clusterRole string) {
	e.Helper()
	e.Create(&rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}, Subjects: userSubjects(user),
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: clusterRole},
	})
	e.allowedBy(user, clusterRole)
}

// allowedBy waits until a user has the first right of a role.
func (e *Env) allowedBy(user, clusterRole string) {
	e.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: clusterRole}}
	e.Get(role)
	for _, rule := range role.Rules {
		if len(rule.Resources) > 0 {
			e.Allowed(user, rule)
			return
		}
		if len(rule.NonResourceURLs) > 0 {
			e.allowed(&authorizationv1.SubjectAccessReviewSpec{User: user, NonResourceAttributes: &authorizationv1.NonResourceAttributes{
				Path: rule.NonResourceURLs[0], Verb: rule.Verbs[0],
			}})
			return
		}
	}
}

// Allowed waits until a user has the first right of a rule in the namespace: the API
// server learns of roles by a watch.
func (e *Env) Allowed(user string, rule rbacv1.PolicyRule) {
	e.Helper()
	resource, subresource, _ := strings.Cut(rule.Resources[0], "/")
	asked := &authorizationv1.ResourceAttributes{
		Namespace: e.Namespace, Verb: rule.Verbs[0], Group: rule.APIGroups[0], Resource: resource, Subresource: subresource,
	}
	if len(rule.ResourceNames) > 0 {
		asked.Name = rule.ResourceNames[0]
	}
	e.allowed(&authorizationv1.SubjectAccessReviewSpec{User: user, ResourceAttributes: asked})
}

// allowed waits until the API server says that a user may do what is asked.
func (e *Env) allowed(asked *authorizationv1.SubjectAccessReviewSpec) {
	e.Helper()
	e.Eventually(func() (bool, error) {
		review := &authorizationv1.SubjectAccessReview{Spec: *asked}
		if err := e.Client().Create(e.Context(), review); err != nil {
			return true, err
		}
		if review.Status.Allowed {
			return true, nil
		}
		return false, fmt.Errorf("%s has not the right %v: %s", asked.User, asked, review.Status.Reason)
	})
}

func (e *Env) bind(user string, role rbacv1.RoleRef) {
	e.Helper()
	e.Create(&rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: e.Namespace, GenerateName: "test-"}, RoleRef: role, Subjects: userSubjects(user),
	})
}

func userSubjects(user string) []rbacv1.Subject {
	return []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}}
}
