package osb_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// Whatever goes wrong with a third of all calls, in the end every instance and binding is
// Ready, or says truly that it is not; and all of it can be removed.
func TestFaults(t *testing.T) {
	t.Parallel()
	w := newShakyWorld(t, newOwnStack(t, faultFlags...))
	began := time.Now()
	w.ask()
	w.rest()
	w.truthful()
	w.nothingMadeTwice(w.broker)
	ready, failed := counted(w.instances)
	bound, refused := counted(w.bindings)
	t.Logf("%s: instances: %d Ready, %d Failed; bindings: %d Ready, %d Failed; %d calls",
		time.Since(began).Round(time.Second), ready, failed, bound, refused, len(w.broker.Calls()))
	assert.Greater(t, ready, len(w.instances)*3/4, "most become Ready")

	w.remove()
	w.nothingIsLeft()
	t.Logf("%s: all is gone; %d calls", time.Since(began).Round(time.Second), len(w.broker.Calls()))
}

// remove deletes all, bindings first. The broker fails until half of it is gone.
func (w *shakyWorld) remove() {
	w.Helper()
	all := len(w.instances) + len(w.bindings)
	for _, b := range w.bindings {
		require.NoError(w, w.client.Delete(w.Context(), b))
	}
	for _, i := range w.instances {
		require.NoError(w, w.client.Delete(w.Context(), i))
	}
	w.until(w.left(all / 2))
	w.broker.Sync()
	w.until(w.left(0))
}

// left says whether no more than so many instances and bindings are there.
func (w *shakyWorld) left(atMost int) func() (bool, error) {
	return func() (bool, error) {
		if err := w.read(); err != nil {
			return true, err
		}
		if left := len(w.instances) + len(w.bindings); left > atMost {
			return false, fmt.Errorf("%d are left: %s", left, w.oneOf())
		}
		return true, nil
	}
}

// nothingIsLeft says that nobody has anything of it any more, and that the broker was
// treated as it should be.
func (w *shakyWorld) nothingIsLeft() {
	w.Helper()
	var secrets corev1.SecretList
	require.NoError(w, w.client.List(w.Context(), &secrets, client.InNamespace(w.namespace)))
	assert.Empty(w, secrets.Items, "Secrets")
	assert.Empty(w, w.broker.Instances(), "instances at the broker")
	assert.Empty(w, w.broker.Bindings(), "bindings at the broker")
	assert.Empty(w, w.broker.Orphans(), "to be mitigated")
	w.nothingMadeTwice(w.broker)
	for _, violation := range w.broker.Violations() {
		if !w.excused(violation) {
			assert.Fail(w, violation.String())
		}
	}
}

// excused says that a call was right, or could not be helped: a bind just when the
// update of its instance begins, of which the controller's cache does not know yet (the
// broker refuses it, and it comes again), and a clean-up that no row of the table asks
// for, when the broker said that it made a binding and then refused its credentials.
func (w *shakyWorld) excused(v osbtest.Violation) bool {
	if v.Rule == "M12" && v.Call.Verb == osbtest.Bind {
		return true
	}
	made, refused := false, false
	for _, call := range w.broker.Calls(osbtest.About(v.Call.BindingID), osbtest.Of(osbtest.Bind)) {
		made = made || call.Status == http.StatusAccepted
		refused = refused || made && call.Status == http.StatusBadRequest
	}
	return refused && v.Rule == "M10" && v.Call.Verb == osbtest.Unbind
}

// oneOf is what one of those that are left says.
func (w *shakyWorld) oneOf() string {
	var objects []client.Object
	for _, i := range w.instances {
		objects = append(objects, i)
	}
	for _, b := range w.bindings {
		objects = append(objects, b)
	}
	for _, o := range objects {
		if _, told := api.FindCondition(stack.ConditionsOf(o), api.ConditionReady); told {
			return o.GetName() + ": " + stack.StatusOf(o)
		}
	}
	return "nothing to tell"
}
