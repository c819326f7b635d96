package suggest

import (
	"fmt"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// Share lets another namespace bind to an instance, beside those that may.
func Share(namespace, name, with string) Ways {
	return Ways{
		Svcat: fmt.Sprintf("svcat share %s --with %s -n %s", Word(name), Word(with), Word(namespace)),
		// A patch of a list would take it from those that have it.
		Kubectl: fmt.Sprintf("kubectl edit -n %s serviceinstance %s, and add %s to spec.sharing.namespaces", Word(namespace), Word(name), Word(with)),
	}
}

// GrantBind lets a user bind to the instances of a namespace from others.
func GrantBind(namespace, user string) string {
	return fmt.Sprintf("kubectl create rolebinding servicecatalog-bind -n %s --clusterrole=%s --user=%s", Word(namespace), roleBind, Word(user))
}

// roleBind is the ClusterRole with the verb bind.
const roleBind = "servicecatalog-bind"

// MayBind asks whether a user may.
func MayBind(namespace, name, user string) string {
	return fmt.Sprintf("kubectl auth can-i bind serviceinstances.%s/%s -n %s --as %s", v1beta1.GroupName, Word(name), Word(namespace), Word(user))
}
