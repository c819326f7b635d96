// Package env is the environment of one test on a stack: a namespace and names that no
// other test has, a client that records warnings, and helpers by subject. Its methods
// fail the test.
package env

import (
	"crypto/rand"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

// An Env is the environment of one test.
type Env struct {
	*testing.T
	*stack.Stack

	// Namespace exists. It is where objects are, unless something else is said.
	Namespace string
	// Suffix is part of the names that no other test has: a DNS label of letters and
	// digits.
	Suffix string
	// Warnings are those of the API server to requests of Client.
	Warnings *Warnings

	config *rest.Config
	client client.WithWatch
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
	e := &Env{T: t, Stack: s, Suffix: suffix}
	e.connect(s.RESTConfig())
	e.Namespace = e.AddNamespace()
	return e
}

// In is the same environment as seen by a subtest, with warnings of its own.
func (e *Env) In(t *testing.T) *Env {
	t.Helper()
	same := *e
	same.T = t
	same.connect(rest.CopyConfig(e.config))
	return &same
}

// InNamespace is the same environment in another namespace.
func (e *Env) InNamespace(namespace string) *Env {
	other := *e
	other.Namespace = namespace
	return &other
}

// WithConfig is the same environment with a client of another configuration, such as
// one of RESTConfig that was changed.
func (e *Env) WithConfig(config *rest.Config) *Env {
	e.Helper()
	other := *e
	other.connect(config)
	return &other
}

// Client is the administrator's, or that of the user of As. It reads from the API
// server, not from a cache.
func (e *Env) Client() client.WithWatch { return e.client }

// connect makes Client and Warnings.
func (e *Env) connect(config *rest.Config) {
	e.Helper()
	e.config, e.Warnings = config, &Warnings{}
	config.WarningHandlerWithContext = e.Warnings
	shared := e.Stack.Client()
	var err error
	e.client, err = client.NewWithWatch(config, client.Options{Scheme: shared.Scheme(), Mapper: shared.RESTMapper()})
	require.NoError(e, err)
}

// Name makes a name unique, for objects of the cluster and names at brokers.
func (e *Env) Name(base string) string { return base + "-" + e.Suffix }

// Meta is that of an object in the namespace.
func (e *Env) Meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: e.Namespace, Name: name}
}

// AddNamespace makes a further namespace.
func (e *Env) AddNamespace() string {
	e.Helper()
	// The name always has eleven characters, on which the tables of golden files depend.
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "tests-"}}
	e.Create(namespace)
	return namespace.Name
}

// Secret is one in the namespace, not read yet.
func (e *Env) Secret(name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: e.Meta(name)}
}

// ReadSecret is one in the namespace as it is stored.
func (e *Env) ReadSecret(name string) *corev1.Secret {
	e.Helper()
	secret := e.Secret(name)
	e.Get(secret)
	return secret
}
