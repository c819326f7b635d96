package sharing_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// Consent that ends unbinds nobody: bindings say so, keep what they have, and say it no more once there is consent again.
func TestWithdrawnBindingsStay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.share(with(w.consumer))
	b := w.bound("creds")
	w.share(&api.Sharing{})
	said := w.HasCondition(b, api.ConditionShared, api.ConditionFalse, "")
	assert.Equal(t, "SharingWithdrawn", said.Reason)
	assert.Contains(t, said.Message, "stays")
	ready, _ := api.FindCondition(b.Status.Conditions, api.ConditionReady)
	assert.Equal(t, api.ConditionTrue, ready.Status)
	assert.NotEmpty(t, w.secret("creds").Data)
	w.Change(b, func() { b.Labels = map[string]string{"a": "b"} })
	w.there(b)
	assert.Len(t, w.broker.Bindings(), 1)
	w.share(with(w.consumer))
	w.unsaid(b)
	w.share(&api.Sharing{})
	w.HasCondition(b, api.ConditionShared, api.ConditionFalse, "")
	w.Delete(b)
	w.Gone(b)
	assert.Empty(t, w.broker.Bindings())
}

// Where the sharing says so in as many words, bindings of those who are not named any more go, and of nobody else.
func TestWithdrawnBindingsAreUnbound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.share(thenUnbind(with(w.consumer)))
	b := w.bound("creds")
	own := &api.ServiceBinding{}
	own.Namespace, own.Name, own.Spec.InstanceRef = w.owner, "own", &api.InstanceReference{Name: "mydb"}
	w.Create(own)
	w.Ready(own)
	w.share(thenUnbind(&api.Sharing{}))
	w.Gone(b)
	w.there(own)
	assert.Len(t, w.broker.Bindings(), 1)
	w.toldOf("creds", "SharingWithdrawn")
}

// What was withdrawn before it was bound is not bound.
func TestWithdrawnBeforeItWasBound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.broker.Async(osbtest.Provision, -1)
	later := w.database("later", with(w.consumer))
	w.Create(later)
	b := w.binding("creds", "later")
	w.Create(b)
	w.HasCondition(b, api.ConditionReady, api.ConditionUnknown, "")
	w.Change(later, func() { later.Spec.Sharing = &api.Sharing{} })
	w.HasCondition(b, api.ConditionShared, api.ConditionFalse, "")
	w.Eventually(func() (bool, error) { return len(w.broker.Running()) == 1, nil })
	require.True(t, w.broker.Finish(w.broker.Running()[0]))
	w.Ready(later)
	w.Change(b, func() { b.Labels = map[string]string{"a": "b"} })
	w.HasCondition(b, api.ConditionShared, api.ConditionFalse, "")
	assert.Empty(t, w.broker.Calls(osbtest.Of(osbtest.Bind)))
	w.Change(later, func() { later.Spec.Sharing = with(w.consumer) })
	w.Ready(b)
}

// The controller is killed after the withdrawal, and again while the broker is asked to unbind: all ends as it would have.
func TestKilledBetweenWithdrawalAndUnbind(t *testing.T) { //nolint:paralleltest // the controller is everybody's
	w := newWorld(t, nil, func(o *osbtest.Options) { o.Crashes = true })
	w.share(thenUnbind(with(w.consumer)))
	b, stays := w.bound("creds"), w.bound("stays")
	require.NoError(t, controller.Stop(t.Context(), syscall.SIGKILL))
	w.share(thenUnbind(&api.Sharing{}))
	held := w.broker.Hold(osbtest.Unbind)
	require.NoError(t, controller.Start(t.Context()))
	<-held.Arrived
	require.NoError(t, controller.Stop(t.Context(), syscall.SIGKILL))
	held.Act()
	held.Answer()
	require.NoError(t, controller.Start(t.Context()))
	w.Gone(b)
	w.Gone(stays)
	assert.Empty(t, w.broker.Bindings())
}

// The controller is away while consent ends and is given again: nobody is unbound.
func TestSharedAgainBeforeAnyoneLooked(t *testing.T) { //nolint:paralleltest // the controller is everybody's
	w := newWorld(t, nil, func(o *osbtest.Options) { o.Crashes = true })
	w.share(thenUnbind(with(w.consumer)))
	b := w.bound("creds")
	require.NoError(t, controller.Stop(t.Context(), syscall.SIGKILL))
	w.share(thenUnbind(&api.Sharing{}))
	w.share(thenUnbind(with(w.consumer)))
	require.NoError(t, controller.Start(t.Context()))
	later := w.bound("later")
	w.there(b)
	w.there(later)
	assert.Empty(t, w.broker.Calls(osbtest.Of(osbtest.Unbind)))
}

// Who is told what of whose: an instance that is to go waits for the bindings of others, and names them.
func TestDeletionWaitsForOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.share(with(w.consumer))
	b := w.bound("creds")
	w.Delete(w.instance)
	w.Eventually(func() (bool, error) {
		w.Get(w.instance)
		ready, _ := api.FindCondition(w.instance.Status.Conditions, api.ConditionReady)
		return strings.Contains(ready.Message, w.consumer+"/creds"), nil
	})
	w.Change(w.instance, func() { w.instance.Annotations[api.AnnotationCascade] = "true" })
	w.Eventually(func() (bool, error) {
		w.Get(w.instance)
		return w.instance.Annotations[api.AnnotationCascade] == "true", nil
	})
	w.there(b)
	w.Change(w.instance, func() { w.instance.Spec.Sharing = thenUnbind(with(w.consumer)) })
	w.Gone(w.instance)
	w.Gone(b)
	assert.Empty(t, w.broker.Bindings())
	assert.Empty(t, w.broker.Instances())
}

// A namespace that goes does not wait for others for ever.
func TestTheOwnersNamespaceGoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.share(with(w.consumer))
	b := w.bound("creds")
	w.Delete(namespace(w.owner))
	w.Gone(b)
	w.Gone(namespace(w.owner))
	w.toldOf("creds", "DeletedWithInstance")
	assert.Empty(t, w.broker.Bindings())
	assert.Empty(t, w.broker.Instances())
}

// Nor does that of a consumer, and the instance is none the worse.
func TestTheConsumersNamespaceGoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.share(with(w.consumer))
	w.bound("creds")
	w.Delete(namespace(w.consumer))
	w.Gone(namespace(w.consumer))
	assert.Empty(t, w.broker.Bindings())
	w.Ready(w.instance)
}
