package sharing_test

import (
	"strings"

	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// A user of a world has a name that nobody has elsewhere, and no rights but those that
// are given.
type user struct {
	*world

	name   string
	client client.Client
}

// user is a user who may write bindings in the consumer's namespace, and nothing else.
func (w *world) user(base string) *user {
	w.Helper()
	u := &user{world: w, name: w.name(base)}
	var err error
	u.client, err = client.New(w.RESTConfigFor(u.name), client.Options{Scheme: w.client.Scheme(), Mapper: w.client.RESTMapper()})
	require.NoError(w, err)
	u.may(w.consumer, []string{"servicebindings"}, "get", "list", "watch", "create", "update", "patch", "delete")
	return u
}

// may gives the user rights to our kinds in a namespace.
func (u *user) may(namespace string, resources []string, verbs ...string) {
	u.Helper()
	u.given(namespace, api.GroupName, resources, verbs...)
}

// mayRead gives the user the Secrets of a namespace.
func (u *user) mayRead(namespace string) {
	u.Helper()
	u.given(namespace, "", []string{"secrets"}, "get")
}

func (u *user) given(namespace, group string, resources []string, verbs ...string) {
	u.Helper()
	meta := metav1.ObjectMeta{Namespace: namespace, Name: u.name + "-" + resources[0] + "-" + verbs[0]}
	u.Create(&rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{APIGroups: []string{group}, Resources: resources, Verbs: verbs}}})
	u.bindRole(meta, rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name})
	u.learnt(namespace, group, resources[0], verbs[0])
}

func (u *user) bindRole(meta metav1.ObjectMeta, role rbacv1.RoleRef) {
	u.Helper()
	u.Create(&rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: role, Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: u.name}}})
}

// mayBind gives the user the shipped role in the owner's namespace.
func (u *user) mayBind() {
	u.Helper()
	u.bindRole(metav1.ObjectMeta{Namespace: u.owner, Name: u.name + "-bind"}, rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "servicecatalog-bind"})
	u.learnt(u.owner, api.GroupName, "serviceinstances", "bind")
}

// learnt waits until the API server knows of a right: it learns by a watch.
func (u *user) learnt(namespace, group, resource, verb string) {
	u.Helper()
	u.Eventually(func() (bool, error) {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: verb, Group: group, Resource: resource},
		}}
		err := u.client.Create(u.Context(), review)
		return review.Status.Allowed, err
	})
}

// try creates an object as the user, and takes it away again.
func (u *user) try(object client.Object) error {
	u.Helper()
	err := u.client.Create(u.Context(), object, client.DryRunAll)
	object.SetResourceVersion("")
	return err
}

// refused is the label of the refusal of an object that the user creates, which says
// it in a word of the text; empty: it was let through, in a dry run.
func (u *user) refused(object client.Object) string {
	u.Helper()
	return labelOf(u.try(object.DeepCopyObject().(client.Object)))
}

// labelOf is the refusal of which an error is.
func labelOf(err error) string {
	if err == nil {
		return ""
	}
	for label, words := range map[string]string{
		"NotShared": "it is not there, it is not shared", "SharedNotReady": "does not wait", "PolicyDenied": "does not let namespace",
		"SecretForbidden": "may not get Secret", "SecretReserved": "writes its credentials to Secret", "Immutable": "cannot change",
	} {
		if strings.Contains(err.Error(), words) {
			return label
		}
	}
	return err.Error()
}
