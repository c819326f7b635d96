package controller

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/scope"
)

// A narrowReader looks at no instances and no brokers.
type narrowReader struct{ client.Reader }

func (r narrowReader) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	switch o.(type) {
	case *v1beta1.ServiceInstance:
		return &scope.BeyondError{What: "ServiceInstance " + key.String(), Scope: scope.Scope{Namespaces: []string{"a", "b"}}}
	case *v1beta1.ClusterServiceBroker:
		return &scope.BeyondError{What: "ClusterServiceBroker " + key.Name, Scope: scope.Scope{Namespaces: []string{"a", "b"}}}
	}
	return r.Reader.Get(ctx, key, o, options...)
}

// A binding whose instance's namespace was taken from its controller is told so at its
// deletion: its broker is known, and it need not be abandoned.
func TestBindingBeyondIsToldSoAtDeletion(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t)
	b, _ := w.pass()
	require.NotNil(t, b.Status.Binding)
	w.reconciler.reader = narrowReader{w.cache}
	w.reconciler.engine.brokers.Reader = w.reconciler.reader
	require.NoError(t, w.cache.Delete(t.Context(), b))
	b, _ = w.pass()
	require.NotNil(t, b)
	ready, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionReady)
	assert.Contains(t, ready.Message, "the controller does not look at ClusterServiceBroker")
	assert.NotContains(t, ready.Message, v1beta1.AnnotationAbandon)
	assert.Len(t, w.broker.Bindings(), 1)
}
