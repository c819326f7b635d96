package controller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
)

const wellDone = "Ready=True/FetchedCatalog CatalogComplete=True/FetchedCatalog"

func inBothScopes(t *testing.T, test func(w *brokerWorld)) {
	t.Helper()
	for name, namespaced := range map[string]bool{"Cluster": false, "Namespace": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(newBrokerWorld(t, namespaced))
		})
	}
}

// A broker is relisted when it is new, when its spec changes, when it is asked for, and
// after its time; at no other pass anything is fetched or written.
func TestBrokerDue(t *testing.T) {
	t.Parallel()
	inBothScopes(t, func(w *brokerWorld) {
		result := w.pass(0)
		assert.Equal(w, wellDone, w.conditions())
		assert.Equal(w, "Normal FetchedCatalog", w.events())
		status := w.broker().status
		assert.Equal(w, []int64{1, 1}, []int64{status.ObservedGeneration, status.ReconciledGeneration})
		assert.Equal(w, "Ready", status.LastConditionState)
		assert.GreaterOrEqual(w, result.RequeueAfter, 24*time.Hour)
		assert.Less(w, result.RequeueAfter, 27*time.Hour)
		assert.Equal(w, 1, w.statuses)

		writes := w.writes
		w.pass(time.Hour)
		w.pass(23*time.Hour - time.Second)
		assert.Len(w, w.etags, 1)
		assert.Equal(w, writes, w.writes)
		w.pass(3 * time.Hour)
		assert.Len(w, w.etags, 2)
		assert.Equal(w, 2, w.statuses, "only when it was fetched")
		assert.Empty(w, w.events())

		w.respec(func(s *v1beta1.CommonServiceBrokerSpec) { s.RelistRequests++ })
		w.pass(time.Second)
		assert.Len(w, w.etags, 3)
		assert.Equal(w, int64(2), w.broker().status.ReconciledGeneration)
		w.reconciler.ask(keyOfBroker(w.broker().object))
		w.pass(time.Second)
		w.pass(time.Second)
		assert.Len(w, w.etags, 4, "once")

		w.respec(func(s *v1beta1.CommonServiceBrokerSpec) { s.RelistDuration = &metav1.Duration{Duration: time.Minute} })
		assert.Less(w, w.pass(time.Second).RequeueAfter, 67*time.Second)
		w.pass(67 * time.Second)
		assert.Len(w, w.etags, 6)
		w.respec(func(s *v1beta1.CommonServiceBrokerSpec) { s.RelistBehavior = v1beta1.RelistManual })
		assert.Zero(w, w.pass(time.Second).RequeueAfter)
		w.pass(1000 * time.Hour)
		assert.Len(w, w.etags, 7)
	})
}

// A broker that names another controller is left to that.
func TestBrokerOfAnother(t *testing.T) {
	t.Parallel()
	w := newBrokerWorld(t, false)
	w.respec(func(s *v1beta1.CommonServiceBrokerSpec) { s.ControllerName = "other" })
	assert.Zero(t, w.pass(0))
	assert.Empty(t, w.etags)
	assert.Zero(t, w.writes)
	w.at.Name = "absent"
	assert.Zero(t, w.pass(0))
}

// A broker without the finalizer gets it before anything is made of its catalog.
func TestBrokerHeld(t *testing.T) {
	t.Parallel()
	w := newBrokerWorld(t, false)
	b := w.broker()
	b.object.SetFinalizers([]string{"a/b"})
	require.NoError(t, w.client.Update(t.Context(), b.object))
	w.answer = func(string) (*osb.Catalog, error) {
		assert.Equal(t, []string{"a/b", v1beta1.FinalizerServiceCatalog}, w.broker().object.GetFinalizers())
		return &osb.Catalog{}, nil
	}
	w.pass(0)
	assert.Len(t, w.etags, 1)
}
