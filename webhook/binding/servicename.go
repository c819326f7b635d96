package binding

import (
	"cmp"

	"github.com/defaultplan/defaultplan/webhook/review"
)

// serviceNames are the Services of bindings, if their endpoints have one. Without
// spec.serviceName the names are those of the bindings, and differ. Without this rule the faster
// broker would decide which binding gets the name.
var serviceNames = reservedName{
	field: "defaultplan/service-name",
	of:    func(spec *bindingSpec, name string) string { return cmp.Or(spec.ServiceName, name) },
	taken: func(namespace, name, owner string) *review.Denial {
		return review.Invalid("ServiceReserved", "spec.serviceName", "the Service %q is binding %q's", name, owner).
			Remedy("name another Service: spec.serviceName, or svcat bind --service-name").
			Remedy("to see whose it is: kubectl describe -n %s servicebinding %s", namespace, owner)
	},
}
