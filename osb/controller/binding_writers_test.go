package controller

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/expose"
	"github.com/defaultplan/defaultplan/osb/controller/queue"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// newTwoWritersWorld is a binding that is bound, whose Service is there, and which is to be
// rotated.
func newTwoWritersWorld(t *testing.T) *bindingWorld {
	t.Helper()
	w := newRotationWorld(t)
	w.broker.SetEndpoints(func(osbtest.Binding) []map[string]any {
		return []map[string]any{{"host": "10.1.2.3", "ports": []string{"5432"}}}
	})
	w.request()
	w.pass()
	b := w.exposes()
	require.Equal(t, "b", b.Status.Service)
	b.Status.Rotation = nil
	require.NoError(t, w.cache.Status().Update(t.Context(), b))
	w.took()
	return w
}

// refusesDuring has an operator refuse where the Service leads, and the reconciler of
// Services write that, while a pass makes a request.
func (w *bindingWorld) refusesDuring(request string) {
	done := false
	w.sees = func(made string) {
		if made != request || done {
			return
		}
		done = true
		w.exposer.Services.Rules.Reread = 0
		require.NoError(w, w.exposer.Services.Rules.Given.Within([]string{"10.0.0.0/8"}))
		w.exposes()
	}
}

// What becomes of a Service between a call and its outcome costs the outcome nothing: both
// are in status, and the broker is asked once.
func TestOutcomeBesideAnotherWriter(t *testing.T) {
	t.Parallel()
	w := newTwoWritersWorld(t)
	binds := len(w.broker.Calls(osbtest.Of(osbtest.Bind)))
	w.request()
	w.refusesDuring("update Secret")
	b, _ := w.pass()
	assert.Len(t, w.broker.Calls(osbtest.Of(osbtest.Bind)), binds+1)
	require.NotNil(t, b.Status.Rotation)
	assert.Equal(t, v1beta1.RotationPredecessor, b.Status.Rotation.Role, "the outcome is stored")
	assert.Len(t, b.Status.Endpoints, 1)
	_, because := ofEndpoints(&b.Status)
	assert.Equal(t, expose.ReasonRefused, because, "and so is what the other writer said")
	assert.Empty(t, b.Status.Service)
	assert.Nil(t, (&endpointWorld{bindingWorld: w}).serviceHere("b"))
	w.sees = nil
	w.pass()
	assert.Len(t, w.broker.Calls(osbtest.Of(osbtest.Bind)), binds+1)
}

// An intent is written on the condition that nothing changed, the Service included: then no
// call is made on what was read.
func TestIntentBesideAnotherWriter(t *testing.T) {
	t.Parallel()
	w := newTwoWritersWorld(t)
	w.request()
	binds := len(w.broker.Calls(osbtest.Of(osbtest.Bind)))
	w.refusesDuring("get PartialObjectMetadata")
	_, result := w.pass()
	assert.Equal(t, queue.ConflictPause, result.RequeueAfter)
	assert.Len(t, w.broker.Calls(osbtest.Of(osbtest.Bind)), binds)
	w.sees = nil
	b, _ := w.pass()
	assert.Len(t, w.broker.Calls(osbtest.Of(osbtest.Bind)), binds+1)
	_, because := ofEndpoints(&b.Status)
	assert.Equal(t, expose.ReasonRefused, because)
}

// A binding without endpoints has no Service: what was there goes, and is told no more. What
// the reconciler of bindings said of a refusal stays.
func TestEndpointsThatAreGone(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, because, given string
	}{
		"None":    {reason: "the broker gives none any more"},
		"Refused": {reason: "or none that can be", because: expose.ReasonUnlawful, given: "a b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newEndpointWorld(t, byClusterBroker)
			status := w.deposited(at(byAddress))
			require.Equal(t, "b", status.Service)
			next := givenText("a", "b")
			if tc.given != "" {
				next = at(osb.Endpoint{Host: tc.given, Ports: []string{"1"}})
			}
			status = w.deposited(next)
			_, because := ofEndpoints(&status)
			assert.Equal(t, tc.because, because, tc.reason)
			assert.Empty(t, status.Service)
			assert.Empty(t, status.Endpoints)
			assert.Nil(t, w.serviceHere("b"))
			assert.Empty(t, w.slicesHere())
			version := w.bindingHere().ResourceVersion
			assert.Equal(t, version, w.exposes().ResourceVersion, "nothing is left to do")
		})
	}
}
