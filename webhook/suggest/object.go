package suggest

import (
	"fmt"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// An Order is an instance or a binding, as commands name it.
type Order struct {
	// Kind is ServiceInstance or ServiceBinding.
	Kind      string
	Namespace string
	Name      string
}

// plurals are the kinds as the API server calls their resources.
var plurals = map[string]string{"ServiceInstance": "serviceinstances", "ServiceBinding": "servicebindings"}

// Explain shows how admission decides on the object now: svcat by the whole tree,
// kubectl by an empty patch, which it answers.
func (o Order) Explain() Ways {
	kind := "instance"
	if o.Kind == "ServiceBinding" {
		kind = "binding"
	}
	return Ways{
		Svcat:   fmt.Sprintf("svcat explain %s/%s -n %s", kind, o.Name, o.Namespace),
		Kubectl: fmt.Sprintf("kubectl patch %s.%s %s -n %s --type=merge -p '{}'", plurals[o.Kind], v1beta1.GroupName, o.Name, o.Namespace),
	}
}

// Abandon deletes the object, and leaves what it has at its broker.
func (o Order) Abandon() Ways {
	svcat, kind := "svcat deprovision "+o.Name, "serviceinstance"
	if o.Kind == "ServiceBinding" {
		svcat, kind = "svcat unbind --name "+o.Name, "servicebinding"
	}
	return Ways{
		Svcat: fmt.Sprintf("%s --abandon --yes -n %s", svcat, o.Namespace),
		Kubectl: fmt.Sprintf("kubectl annotate -n %[1]s %[2]s %[3]s %[4]s=true && kubectl delete -n %[1]s %[2]s %[3]s",
			o.Namespace, kind, o.Name, v1beta1.AnnotationAbandon),
	}
}
