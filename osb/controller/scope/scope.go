// Package scope says which part of a cluster a controller handles, and
// restricts its reads to that part.
package scope

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// A Scope is the part of a cluster that a controller handles. The zero scope is
// all that names no other controller.
type Scope struct {
	// Name is the controller's name in spec.controllerName of brokers; empty:
	// it handles brokers that name none.
	Name string
	// Namespaces are the namespaces that it handles; none: all, and
	// cluster-scoped objects.
	Namespaces []string
	// IgnoreQuotas says that a controller of some namespaces reads no policies.
	IgnoreQuotas bool
}

// Named derives a name for what belongs to one controller: for the controller
// without a name it is base.
func (s Scope) Named(base string) string {
	if s.Name == "" {
		return base
	}
	return base + "-" + s.Name
}

// Restricted says whether the scope is limited to some namespaces.
func (s Scope) Restricted() bool { return len(s.Namespaces) > 0 }

// Holds says whether a namespace is in the scope.
func (s Scope) Holds(namespace string) bool {
	return !s.Restricted() || slices.Contains(s.Namespaces, namespace)
}

// A BeyondError names what is outside of a controller's namespaces. The
// controller may continue with all else.
type BeyondError struct {
	What  string
	Scope Scope
}

func (e *BeyondError) Error() string {
	return fmt.Sprintf("the controller does not look at %s: it was started for the namespaces %s (--namespaces)",
		e.What, strings.Join(e.Scope.Namespaces, ", "))
}

// reasonBeyond is the reason of an object that needs something outside of the
// controller's namespaces.
const reasonBeyond = "BeyondNamespaces"

// IsBeyond says whether an error is a BeyondError.
func IsBeyond(err error) bool { return errors.As(err, new(*BeyondError)) }

// Problem is the problem of an object for a BeyondError; nil for all other
// errors, and for none.
func Problem(err error) *lifecycle.Problem {
	var found *BeyondError
	if !errors.As(err, &found) {
		return nil
	}
	return &lifecycle.Problem{Reason: reasonBeyond, Waits: true, Message: found.Error() +
		": use a class of a broker of this namespace, or have the object handled by a controller of the whole cluster"}
}

// Counts says whether an object is one that this controller counts: every object is
// counted by the controller that handled it last.
func (s Scope) Counts(o client.Object) bool {
	switch o := o.(type) {
	case *v1beta1.ServiceInstance:
		return o.Status.ControllerName == s.Name
	case *v1beta1.ServiceBinding:
		return o.Status.ControllerName == s.Name
	}
	return true
}
