package osb_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// cacheLag is how much later than the broker the controller's cache knows of an update.
const cacheLag = 2 * time.Second

// Whatever goes wrong with a third of all calls, in the end every instance and binding is
// Ready, or says truly that it is not; and all of it can be removed.
func TestFaults(t *testing.T) {
	t.Parallel()
	e := newShakyEnv(t, newOwnStack(t, faultFlags...))
	began := time.Now()
	e.ask()
	e.rest()
	e.truthful()
	e.nothingMadeTwice(e.broker)
	ready, failed := counted(e.instances)
	bound, refused := counted(e.bindings)
	t.Logf("%s: instances: %d Ready, %d Failed; bindings: %d Ready, %d Failed; %d calls",
		time.Since(began).Round(time.Second), ready, failed, bound, refused, len(e.broker.Calls()))
	assert.Greater(t, ready, len(e.instances)*3/4, "most become Ready")

	e.remove()
	e.nothingIsLeft()
	t.Logf("%s: all is gone; %d calls", time.Since(began).Round(time.Second), len(e.broker.Calls()))
}

// remove deletes all, bindings first. The broker fails until half of it is gone.
func (e *shakyEnv) remove() {
	e.Helper()
	all := len(e.instances) + len(e.bindings)
	for _, b := range e.bindings {
		require.NoError(e, e.Client().Delete(e.Context(), b))
	}
	for _, i := range e.instances {
		require.NoError(e, e.Client().Delete(e.Context(), i))
	}
	e.until(e.left(all / 2))
	e.broker.Sync()
	e.until(e.left(0))
}

// left says whether no more than so many instances and bindings are there.
func (e *shakyEnv) left(atMost int) func() (bool, error) {
	return func() (bool, error) {
		if err := e.read(); err != nil {
			return true, err
		}
		if left := len(e.instances) + len(e.bindings); left > atMost {
			return false, fmt.Errorf("%d are left: %s", left, e.oneOf())
		}
		return true, nil
	}
}

// nothingIsLeft says that nothing of it is left anywhere, and that the broker
// was treated as it should be.
func (e *shakyEnv) nothingIsLeft() {
	e.Helper()
	var secrets corev1.SecretList
	require.NoError(e, e.Client().List(e.Context(), &secrets, client.InNamespace(e.Namespace)))
	assert.Empty(e, secrets.Items, "Secrets")
	assert.Empty(e, e.broker.Instances(), "instances at the broker")
	assert.Empty(e, e.broker.Bindings(), "bindings at the broker")
	assert.Empty(e, e.broker.Orphans(), "to be mitigated")
	e.nothingMadeTwice(e.broker)
	for _, violation := range e.broker.Violations() {
		if !e.excused(violation) {
			assert.Fail(e, violation.String())
		}
	}
}

// excused says that a call was right, or could not be helped: a bind or an unbind just after
// the update of its instance began, of which the controller's cache does not know yet (the
// broker refuses it, and it comes again), and a clean-up that no row of the table asks
// for, when the broker said that it made a binding and then refused its credentials.
func (e *shakyEnv) excused(v osbtest.Violation) bool {
	if v.Rule == "M12" && (v.Call.Verb == osbtest.Bind || v.Call.Verb == osbtest.Unbind) {
		updates := e.broker.Calls(osbtest.About(v.Call.InstanceID), osbtest.Of(osbtest.Update))
		return slices.ContainsFunc(updates, func(update osbtest.Call) bool {
			ago := v.Call.Began.Sub(update.Began)
			return ago >= 0 && ago < wait.Patience(cacheLag)
		})
	}
	made, refused := false, false
	for _, call := range e.broker.Calls(osbtest.About(v.Call.BindingID), osbtest.Of(osbtest.Bind)) {
		made = made || call.Status == http.StatusAccepted
		refused = refused || made && call.Status == http.StatusBadRequest
	}
	return refused && v.Rule == "M10" && v.Call.Verb == osbtest.Unbind
}

// oneOf is what one of those that are left says.
func (e *shakyEnv) oneOf() string {
	var objects []client.Object
	for _, i := range e.instances {
		objects = append(objects, i)
	}
	for _, b := range e.bindings {
		objects = append(objects, b)
	}
	for _, o := range objects {
		if _, told := api.FindCondition(env.ConditionsOf(o), api.ConditionReady); told {
			return o.GetName() + ": " + env.StatusOf(o)
		}
	}
	return "nothing to tell"
}
