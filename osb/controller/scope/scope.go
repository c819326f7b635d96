// Package scope says which part of a cluster a controller is for, and holds its reads to that
// part: what is beyond it is never asked for.
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

// A Scope is the part of a cluster that a controller is for. The zero scope is all that
// names no other.
type Scope struct {
	// Name is what brokers call the controller by, in spec.controllerName; empty: that of
	// the brokers that name none.
	Name string
	// Namespaces are those that it may look into; none: all, and what is in no namespace.
	Namespaces []string
	// IgnoreQuotas says that the controller of some namespaces reads no policies.
	IgnoreQuotas bool
}

// Named makes a name of what belongs to one controller: of the controller without a name,
// it is what it always was.
func (s Scope) Named(base string) string {
	if s.Name == "" {
		return base
	}
	return base + "-" + s.Name
}

// Restricted says that there is something beyond the scope's namespaces.
func (s Scope) Restricted() bool { return len(s.Namespaces) > 0 }

// Holds says whether a namespace is in the scope.
func (s Scope) Holds(namespace string) bool {
	return !s.Restricted() || slices.Contains(s.Namespaces, namespace)
}

// A BeyondError says what a controller of some namespaces does not look at. It may go on
// with all else.
type BeyondError struct {
	What  string
	Scope Scope
}

func (e *BeyondError) Error() string {
	return fmt.Sprintf("the controller does not look at %s: it was started for the namespaces %s (--namespaces)",
		e.What, strings.Join(e.Scope.Namespaces, ", "))
}

// reasonBeyond is of what needs something beyond the controller's namespaces.
const reasonBeyond = "BeyondNamespaces"

// IsBeyond says that an error is of what the controller does not look at.
func IsBeyond(err error) bool { return errors.As(err, new(*BeyondError)) }

// Problem is the problem of an object that needs something that its controller does not
// look at; nil of all other errors, and of none.
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
