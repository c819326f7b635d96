package controller

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/queue"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// What a binding is made from is read at its turn.
func TestBindingReadsAtItsTurn(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t, func(b *v1beta1.ServiceBinding) {
		b.Spec.ParametersFrom = []v1beta1.ParametersFromSource{{SecretKeyRef: &v1beta1.SecretKeyReference{Name: "given", Key: "p"}}}
	})
	given := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "given"}, Data: map[string][]byte{"p": []byte(`{"a":1}`)}}
	require.NoError(t, w.cache.Create(t.Context(), given))
	waits := func() {
		t.Helper()
		free := (&instanceWorld{bindingWorld: w}).busy()
		defer free()
		w.took()
		for range 3 {
			p := w.turn()
			_, err := w.reconciler.Reconcile(queue.NewContext(t.Context(), p), reconcile.Request{NamespacedName: w.at})
			require.NotNil(t, queue.AwaitedBy(err), err)
			p.End(nil)
		}
		require.Empty(t, w.took())
	}
	waits()
	b, _ := w.pass()
	require.NotNil(t, b.Status.Binding)
	calls := w.broker.Calls(osbtest.Of(osbtest.Bind))
	require.Len(t, calls, 1)
	assert.Equal(t, map[string]any{"a": 1.0}, plainOf(t, calls[0].Body["parameters"]))

	require.NoError(t, w.cache.Delete(t.Context(), b))
	waits()
	b, _ = w.pass()
	assert.Nil(t, b)
	assert.Len(t, w.broker.Calls(osbtest.Of(osbtest.Unbind)), 1)
}
