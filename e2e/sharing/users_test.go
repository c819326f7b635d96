package sharing_test

import (
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// A user has a unique name, and no permissions but those that are granted.
type user struct {
	*pair

	name   string
	client client.Client
}

// user is a user who may write bindings in the consumer's namespace, and nothing else.
func (p *pair) user(base string) *user {
	p.Helper()
	u := &user{pair: p, name: p.Name(base), client: p.As(p.Name(base)).Client()}
	u.may(p.consumer, []string{"servicebindings"}, "get", "list", "watch", "create", "update", "patch", "delete")
	return u
}

// may gives the user rights to our kinds in a namespace.
func (u *user) may(namespace string, resources []string, verbs ...string) {
	u.Helper()
	u.InNamespace(namespace).Grant(u.name, rbacv1.PolicyRule{APIGroups: []string{api.GroupName}, Resources: resources, Verbs: verbs})
}

// mayRead gives the user the Secrets of a namespace.
func (u *user) mayRead(namespace string) {
	u.Helper()
	u.InNamespace(namespace).Grant(u.name, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}})
}

// mayBind gives the user the shipped role in the owner's namespace.
func (u *user) mayBind() {
	u.Helper()
	u.InNamespace(u.owner).GrantRole(u.name, "servicecatalog-bind")
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
