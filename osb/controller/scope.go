package controller

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// A scope is the part of a cluster that a controller is for. The zero scope is all that
// names no other.
type scope struct {
	// name is what brokers call the controller by, in spec.controllerName; empty: that of
	// the brokers that name none.
	name string
	// namespaces are those that it may look into; none: all, and what is in no namespace.
	namespaces []string
	// ignoreQuotas says that the controller of some namespaces reads no policies.
	ignoreQuotas bool
}

func (o *Options) scope() scope {
	return scope{name: o.ControllerName, namespaces: o.Namespaces, ignoreQuotas: o.IgnoreQuotas}
}

// named makes a name of what belongs to one controller: of the controller without a name,
// it is what it always was.
func (s scope) named(base string) string {
	if s.name == "" {
		return base
	}
	return base + "-" + s.name
}

// restricted says that there is something beyond the scope's namespaces.
func (s scope) restricted() bool { return len(s.namespaces) > 0 }

// holds says whether a namespace is in the scope.
func (s scope) holds(namespace string) bool {
	return !s.restricted() || slices.Contains(s.namespaces, namespace)
}

// A beyondError says what a controller of some namespaces does not look at. It may go on
// with all else.
type beyondError struct {
	what  string
	scope scope
}

func (e *beyondError) Error() string {
	return fmt.Sprintf("the controller does not look at %s: it was started for the namespaces %s (--namespaces)",
		e.what, strings.Join(e.scope.namespaces, ", "))
}

// reasonBeyond is of what needs something beyond the controller's namespaces.
const reasonBeyond = "BeyondNamespaces"

// beyond is the problem of an object that needs something that its controller does not
// look at; nil of all other errors, and of none.
func beyond(err error) *lifecycle.Problem {
	var found *beyondError
	if !errors.As(err, &found) {
		return nil
	}
	return &lifecycle.Problem{Reason: reasonBeyond, Waits: true, Message: found.Error() +
		": use a class of a broker of this namespace, or have the object handled by a controller of the whole cluster"}
}

// CacheNamespaces is what the cache is to hold; nil: all namespaces.
func (o *Options) CacheNamespaces() map[string]cache.Config {
	if len(o.Namespaces) == 0 {
		return nil
	}
	held := map[string]cache.Config{}
	for _, namespace := range o.Namespaces {
		held[namespace] = cache.Config{}
	}
	return held
}

// validateScope says which flag of the scope has what wrong.
func (o *Options) validateScope() error {
	var errs []error
	if o.ControllerName != "" {
		for _, wrong := range validation.IsDNS1123Label(o.ControllerName) {
			errs = append(errs, fmt.Errorf("--controller-name is %q: %s", o.ControllerName, wrong))
		}
	}
	for _, namespace := range o.Namespaces {
		for _, wrong := range validation.IsDNS1123Label(namespace) {
			errs = append(errs, fmt.Errorf("--namespaces has %q: %s", namespace, wrong))
		}
	}
	if len(o.Namespaces) > 0 && o.ClusterID == "" {
		errs = append(errs, errors.New("--namespaces goes with --cluster-id: what the cluster is known by is in a namespace that the controller does not look into"))
	}
	if o.IgnoreQuotas && len(o.Namespaces) == 0 {
		errs = append(errs, errors.New("--ignore-quotas goes with --namespaces only: a controller of the whole cluster reads policies, and keeps to them"))
	}
	return errors.Join(errs...)
}
