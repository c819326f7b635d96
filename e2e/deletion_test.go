package e2e_test

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
)

// keeper is whom the webhook's own process is to the API server.
const keeper = "system:serviceaccount:defaultplan-system:defaultplan-webhook"

// TestDeletionWithTheWebhookUp tells that deleting needs nothing of the webhook:
// it is not even asked.
func TestDeletionWithTheWebhookUp(t *testing.T) {
	t.Parallel()
	o := newOffer(newWorld(t), clusterScope)
	o.createInstance("db", ofType(o.kind))
	o.createInstance("waiting", ofPlan("absent", "absent"))
	o.createInstance("beside", ofType(o.kind))
	o.deletes("db")
	o.deletes("waiting")
	o.deletesNamespace()
	for i := range 2 {
		for _, line := range o.decisions(i) {
			if line.User == keeper {
				continue
			}
			assert.Equal(t, "CREATE", line.Operation, "the webhook is never called for the finalizer: %+v", line)
		}
	}
}

// TestDeletionWithTheWebhookKilled tells that all that is no decision goes on
// without it, that a decision is refused, and that all is well when it is back.
func TestDeletionWithTheWebhookKilled(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, startStack(t, nil))
	w.addPlans(class{name: "class", serviceType: "type"}, plan{name: "plan", isDefault: true})
	for _, name := range []string{"db", "beside", "stays"} {
		require.Equal(t, "plan", planOf(w.createInstance(name, ofType("type"))))
	}
	w.createInstance("waiting", ofPlan("absent", "absent"))
	require.NoError(t, w.StopWebhook(t.Context(), 0, syscall.SIGKILL))

	w.refusedFor("a create is refused", w.client.Create(t.Context(), w.instance("new", ofType("type"))))
	w.refusedFor("a change of spec is refused", w.send("stays", `{"spec":{"parameters":{"a":1}}}`))
	w.refusedFor("what is undecided cannot be decided", w.send("waiting", `{"metadata":{"labels":{"a":"b"}}}`))
	require.NoError(t, w.send("stays", `{"metadata":{"labels":{"a":"b"}}}`), "a label is no decision")
	require.NoError(t, w.client.Status().Patch(t.Context(), w.instance("waiting"),
		client.RawPatch(types.MergePatchType, []byte(`{"status":{"lastConditionState":"a"}}`))), "nor is status")
	w.deletes("db")
	w.deletes("waiting")

	other := *w
	other.namespace = w.namespace
	w.namespace = w.addNamespace()
	other.deletesNamespace()

	require.NoError(t, w.StartWebhook(t.Context(), 0))
	assert.Equal(t, "plan", planOf(w.createInstance("new", ofType("type"))), "it works again when it is back")
	require.NoError(t, w.send("new", `{"spec":{"parameters":{"a":1}}}`))
	w.deletes("new")
}

// TestDeletionWithTheWebhookNeverInstalled tells of a cluster with the
// definitions only, and of objects that the retired catalog left there.
func TestDeletionWithTheWebhookNeverInstalled(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, startStack(t, func(options *stack.Options) { options.Webhooks = 0 }))
	for _, name := range []string{"db", "beside"} {
		w.createInstance(name, ofPlan("class", "plan"), withFinalizer(api.FinalizerServiceCatalog))
	}
	w.deletes("db")
	w.deletesNamespace()
}

// send sends a merge patch to the instance of that name.
func (w *world) send(name, patch string) error {
	w.Helper()
	return w.client.Patch(w.Context(), w.instance(name), client.RawPatch(types.MergePatchType, []byte(patch)))
}

// refusedFor asserts that the API server refused because it cannot ask the
// webhook.
func (w *world) refusedFor(reason string, err error) {
	w.Helper()
	require.Error(w, err, reason)
	assert.True(w, apierrors.IsInternalError(err), "%s: %v", reason, err)
	assert.Contains(w, err.Error(), `failed calling webhook "mutate.serviceinstances.servicecatalog.k8s.io"`, reason)
}

// deletes deletes the instance and returns when it is gone.
func (w *world) deletes(name string) {
	w.Helper()
	instance := w.instance(name)
	require.NoError(w, w.client.Delete(w.Context(), instance))
	w.gone(instance)
}

// deletesNamespace deletes the world's namespace, with what is in it, and
// returns when all is gone.
func (w *world) deletesNamespace() {
	w.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
	require.NoError(w, w.client.Delete(w.Context(), namespace))
	w.gone(namespace)
}

// gone returns when the object is. A namespace takes its time: its controller
// looks again only after some seconds.
func (w *world) gone(object client.Object) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), 2*time.Minute)
	defer cancel()
	require.NoError(w, stack.Eventually(ctx, func() (bool, error) {
		err := w.client.Get(w.Context(), client.ObjectKeyFromObject(object), object)
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, err
	}))
}
