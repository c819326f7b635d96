// Package env is the environment of one test on a stack: a namespace and names that no
// other test has, a client that records warnings, and helpers by subject. Its methods
// fail the test.
package env

import (
	"crypto/rand"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

// An Env is the environment of one test. Its parts share one test, one client and one
// namespace, so an Env is made by the functions and methods of this file and not changed: a
// copy of the struct has the parts of the original.
type Env struct {
	*testing.T
	*stack.Stack

	*Objects
	*Names
	*Manifests
	*Instances
	*Bindings
	*Brokers
	*Offerings
	*Rights
	*Commands
	*Observations
}

// New makes an environment on the stack that the package's tests share.
func New(t *testing.T) *Env {
	t.Helper()
	return On(t, suite.Shared(t))
}

// On makes an environment on a stack.
func On(t *testing.T, s *stack.Stack) *Env {
	t.Helper()
	// Without z, which the names of classes and plans escape.
	suffix := strings.ReplaceAll(strings.ToLower(rand.Text()[:8]), "z", "y")
	objects := connect(t, s, s.RESTConfig())
	return compose(s, objects, Names{Namespace: objects.AddNamespace(), Suffix: suffix})
}

// Offline is an environment for commands that reach no cluster: it has neither a client nor
// a namespace.
func Offline(t *testing.T, s *stack.Stack) *Env {
	t.Helper()
	return compose(s, &Objects{T: t}, Names{})
}

// compose makes an environment of its parts, with names of its own.
func compose(s *stack.Stack, objects *Objects, names Names) *Env {
	own := &names
	return &Env{
		T: objects.T, Stack: s, Objects: objects, Names: own,
		Manifests:    &Manifests{objects, own},
		Instances:    &Instances{objects, own},
		Bindings:     &Bindings{objects, own},
		Brokers:      &Brokers{objects, own},
		Offerings:    &Offerings{objects, own},
		Rights:       &Rights{objects, own, s},
		Commands:     &Commands{objects, own, s},
		Observations: &Observations{objects, own, s},
	}
}

// In is the same environment as seen by a subtest, with warnings of its own.
func (e *Env) In(t *testing.T) *Env {
	t.Helper()
	return compose(e.Stack, connect(t, e.Stack, rest.CopyConfig(e.config)), *e.Names)
}

// InNamespace is the same environment in another namespace.
func (e *Env) InNamespace(namespace string) *Env {
	return compose(e.Stack, e.Objects, Names{Namespace: namespace, Suffix: e.Suffix})
}

// OnStack is the same environment on another stack with the same data, as its
// administrator.
func (e *Env) OnStack(s *stack.Stack) *Env {
	e.Helper()
	return compose(s, connect(e.T, s, s.RESTConfig()), *e.Names)
}

// WithConfig is the same environment with a client of another configuration, such as
// one of RESTConfig that was changed.
func (e *Env) WithConfig(config *rest.Config) *Env {
	e.Helper()
	return compose(e.Stack, connect(e.T, e.Stack, config), *e.Names)
}

// As is the same environment with the client of a user, by impersonation: it has the
// rights that RBAC gives the user. Kubectl stays the administrator's.
func (e *Env) As(user string, groups ...string) *Env {
	e.Helper()
	return e.WithConfig(e.RESTConfigFor(user, groups...))
}

// Client is that of Objects, not the stack's: the administrator's, or that of the user of
// As.
func (e *Env) Client() client.WithWatch { return e.Objects.Client() }

// Name is that of Names, not the test's: it makes a name unique.
func (e *Env) Name(base string) string { return e.Names.Name(base) }

// Kubectl is that of Commands, not the stack's: it runs in the namespace and must succeed.
func (e *Env) Kubectl(stdin string, args ...string) string {
	e.Helper()
	return e.Commands.Kubectl(stdin, args...)
}
