package controller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/queue"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

const patchStatus = "patch status ServiceBinding"

// during takes a pass whose call to the broker is under way while something happens.
func (w *bindingWorld) during(happens func()) (reconcile.Result, error) {
	w.Helper()
	held := w.broker.Hold(osbtest.Bind)
	type Outcome struct {
		result reconcile.Result
		err    error
	}
	done := make(chan Outcome)
	go func() {
		result, err := w.reconciler.Reconcile(w.Context(), reconcile.Request{NamespacedName: w.at})
		done <- Outcome{result, err}
	}()
	<-held.Arrived
	happens()
	held.Act()
	held.Answer()
	ended := <-done
	return ended.result, ended.err
}

// What a broker did is stored over whatever happened meanwhile, but for another intent.
func TestStoreOutcome(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		happens func(w *bindingWorld)
		stored  bool
		gone    bool
	}{
		"Nothing": {reason: "it is written", happens: func(*bindingWorld) {}, stored: true},
		"Edited": {reason: "another client's edit is kept", stored: true, happens: func(w *bindingWorld) {
			b := w.bindingHere()
			b.Labels = map[string]string{"edited": "true"}
			require.NoError(w, w.cache.Update(w.Context(), b))
		}},
		"ServerAway": {reason: "it is tried again", stored: true, happens: func(w *bindingWorld) {
			w.fail[patchStatus] = apierrors.NewServiceUnavailable("away")
		}},
		"Deleted": {reason: "deletion goes on from what came of it", stored: true, happens: func(w *bindingWorld) {
			require.NoError(w, w.cache.Delete(w.Context(), w.bindingHere()))
		}},
		"OtherIntent": {reason: "another process has it by now", happens: func(w *bindingWorld) {
			b := w.bindingHere()
			b.Status.CallDeadline = new(metav1.NewMicroTime(time.Now().Add(time.Hour).Truncate(time.Microsecond)))
			require.NoError(w, w.cache.Status().Update(w.Context(), b))
		}},
		"OtherStatus": {reason: "the call was decided on another state, as a lagging cache had it", happens: func(w *bindingWorld) {
			b := w.bindingHere()
			b.Status.Retries = 7
			require.NoError(w, w.cache.Status().Update(w.Context(), b))
		}},
		"Gone": {reason: "there is nothing to write to", gone: true, happens: func(w *bindingWorld) {
			b := w.bindingHere()
			b.Finalizers = nil
			require.NoError(w, w.cache.Update(w.Context(), b))
			require.NoError(w, w.cache.Delete(w.Context(), b))
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newBindingWorld(t)
			result, err := w.during(func() { tc.happens(w) })
			require.NoError(t, err)
			if tc.gone {
				return
			}
			b := w.bindingHere()
			assert.Equal(t, tc.stored, b.Status.Binding != nil)
			assert.Equal(t, tc.stored, b.Status.ReconciledGeneration == b.Generation)
			if !tc.stored {
				assert.Equal(t, queue.ConflictPause, result.RequeueAfter, "it is looked at again")
				assert.Empty(t, w.recorder.Events, "nothing is told that is not stored")
				return
			}
			assert.Len(t, w.recorder.Events, 1)
			if name == "Edited" {
				assert.Equal(t, "true", b.Labels["edited"])
			}
		})
	}
}

// Nothing is sent that is not known to have been about to be sent.
func TestStoreIntentBeforeTheCall(t *testing.T) {
	t.Parallel()
	refusals := map[string]error{
		"Conflict":  apierrors.NewConflict(schema.GroupResource{Resource: "servicebindings"}, "b", nil),
		"Forbidden": apierrors.NewForbidden(schema.GroupResource{Resource: "servicebindings"}, "b", nil),
		"Away":      apierrors.NewServiceUnavailable("away"),
	}
	for name, refusal := range refusals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newBindingWorld(t)
			w.fail[patchStatus] = refusal
			_, err := w.reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: w.at})
			if name == "Conflict" {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, refusal)
			}
			assert.Empty(t, w.broker.Calls())
			assert.Empty(t, w.recorder.Events)
		})
	}
	t.Run("Holds", func(t *testing.T) {
		t.Parallel()
		w := newBindingWorld(t)
		_, err := w.during(func() {
			b := w.bindingHere()
			assert.Equal(t, v1beta1.BindingBind, b.Status.CurrentOperation)
			assert.Equal(t, "binding-id", b.Status.ExternalID)
			assert.Equal(t, v1beta1.UnbindRequired, b.Status.UnbindStatus)
			assert.Equal(t, "instance-id", b.Status.InProgressProperties.InstanceExternalID)
			require.NotNil(t, b.Status.CallDeadline)
			assert.True(t, b.Status.CallDeadline.After(time.Now()))
		})
		require.NoError(t, err)
	})
}
