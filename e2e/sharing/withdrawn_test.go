package sharing_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// Consent that ends unbinds nothing: bindings say so, keep what they have, and
// say it no more once there is consent again.
func TestWithdrawnBindingsStay(t *testing.T) {
	t.Parallel()
	p := newPair(t, nil)
	p.share(with(p.consumer))
	b := p.bound("creds")
	p.share(&api.Sharing{})
	said := p.HasCondition(b, api.ConditionShared, api.ConditionFalse, "")
	assert.Equal(t, "SharingWithdrawn", said.Reason)
	assert.Contains(t, said.Message, "stays")
	ready := env.ConditionOf(b, api.ConditionReady)
	assert.Equal(t, api.ConditionTrue, ready.Status)
	assert.NotEmpty(t, p.ReadSecret("creds").Data)
	p.Change(b, func() { b.Labels = map[string]string{"a": "b"} })
	p.there(b)
	assert.Len(t, p.broker.Bindings(), 1)
	p.share(with(p.consumer))
	p.unsaid(b)
	p.share(&api.Sharing{})
	p.HasCondition(b, api.ConditionShared, api.ConditionFalse, "")
	p.Delete(b)
	p.Gone(b)
	assert.Empty(t, p.broker.Bindings())
}

// Where the sharing says so in as many words, bindings of namespaces that are
// no longer named are deleted, and no others.
func TestWithdrawnBindingsAreUnbound(t *testing.T) {
	t.Parallel()
	p := newPair(t, nil)
	p.share(thenUnbind(with(p.consumer)))
	b := p.bound("creds")
	own := &api.ServiceBinding{}
	own.Namespace, own.Name, own.Spec.InstanceRef = p.owner, "own", &api.InstanceReference{Name: "mydb"}
	p.Create(own)
	p.Ready(own)
	p.share(thenUnbind(&api.Sharing{}))
	p.Gone(b)
	p.there(own)
	assert.Len(t, p.broker.Bindings(), 1)
	p.HasEvent(p.Binding("creds", ""), "SharingWithdrawn")
}

// What was withdrawn before it was bound is not bound.
func TestWithdrawnBeforeItWasBound(t *testing.T) {
	t.Parallel()
	p := newPair(t, nil)
	p.broker.Async(osbtest.Provision, -1)
	later := p.database("later", with(p.consumer))
	p.Create(later)
	b := p.binding("creds", "later")
	p.Create(b)
	p.HasCondition(b, api.ConditionReady, api.ConditionUnknown, "")
	p.Change(later, func() { later.Spec.Sharing = &api.Sharing{} })
	p.HasCondition(b, api.ConditionShared, api.ConditionFalse, "")
	p.Eventually(func() (bool, error) { return len(p.broker.Running()) == 1, nil })
	require.True(t, p.broker.Finish(p.broker.Running()[0]))
	p.Ready(later)
	p.Change(b, func() { b.Labels = map[string]string{"a": "b"} })
	p.HasCondition(b, api.ConditionShared, api.ConditionFalse, "")
	assert.Empty(t, p.broker.Calls(osbtest.Of(osbtest.Bind)))
	p.Change(later, func() { later.Spec.Sharing = with(p.consumer) })
	p.Ready(b)
}

// The controller is killed after the withdrawal, and again while the broker is asked to unbind: all ends as it would have.
func TestKilledBetweenWithdrawalAndUnbind(t *testing.T) { //nolint:paralleltest // the controller is everybody's
	p := newPair(t, nil, func(o *osbtest.Options) { o.Crashes = true })
	p.share(thenUnbind(with(p.consumer)))
	b, stays := p.bound("creds"), p.bound("stays")
	require.NoError(t, p.Controller().Stop(t.Context(), syscall.SIGKILL))
	p.share(thenUnbind(&api.Sharing{}))
	held := p.broker.Hold(osbtest.Unbind)
	require.NoError(t, p.Controller().Start(t.Context()))
	<-held.Arrived
	require.NoError(t, p.Controller().Stop(t.Context(), syscall.SIGKILL))
	held.Act()
	held.Answer()
	require.NoError(t, p.Controller().Start(t.Context()))
	p.Gone(b)
	p.Gone(stays)
	assert.Empty(t, p.broker.Bindings())
}

// The controller is away while consent ends and is given again: nothing is
// unbound.
func TestSharedAgainBeforeAnyoneLooked(t *testing.T) { //nolint:paralleltest // the controller is everybody's
	p := newPair(t, nil, func(o *osbtest.Options) { o.Crashes = true })
	p.share(thenUnbind(with(p.consumer)))
	b := p.bound("creds")
	require.NoError(t, p.Controller().Stop(t.Context(), syscall.SIGKILL))
	p.share(thenUnbind(&api.Sharing{}))
	p.share(thenUnbind(with(p.consumer)))
	require.NoError(t, p.Controller().Start(t.Context()))
	later := p.bound("later")
	p.there(b)
	p.there(later)
	assert.Empty(t, p.broker.Calls(osbtest.Of(osbtest.Unbind)))
}

// Who is told what of whose: an instance that is to go waits for the bindings of others, and names them.
func TestDeletionWaitsForOthers(t *testing.T) {
	t.Parallel()
	p := newPair(t, nil)
	p.share(with(p.consumer))
	b := p.bound("creds")
	p.Delete(p.instance)
	p.Eventually(func() (bool, error) {
		p.Get(p.instance)
		ready := env.ConditionOf(p.instance, api.ConditionReady)
		return strings.Contains(ready.Message, p.consumer+"/creds"), nil
	})
	p.Change(p.instance, func() { p.instance.Annotations[api.AnnotationCascade] = "true" })
	p.Eventually(func() (bool, error) {
		p.Get(p.instance)
		return p.instance.Annotations[api.AnnotationCascade] == "true", nil
	})
	p.there(b)
	p.Change(p.instance, func() { p.instance.Spec.Sharing = thenUnbind(with(p.consumer)) })
	p.Gone(p.instance)
	p.Gone(b)
	assert.Empty(t, p.broker.Bindings())
	assert.Empty(t, p.broker.Instances())
}

// A namespace that goes does not wait for others for ever.
func TestTheOwnersNamespaceGoes(t *testing.T) {
	t.Parallel()
	p := newPair(t, nil)
	p.share(with(p.consumer))
	b := p.bound("creds")
	p.Delete(namespace(p.owner))
	p.Gone(b)
	p.Gone(namespace(p.owner))
	p.HasEvent(p.Binding("creds", ""), "DeletedWithInstance")
	assert.Empty(t, p.broker.Bindings())
	assert.Empty(t, p.broker.Instances())
}

// Nor does that of a consumer, and the instance is none the worse.
func TestTheConsumersNamespaceGoes(t *testing.T) {
	t.Parallel()
	p := newPair(t, nil)
	p.share(with(p.consumer))
	p.bound("creds")
	p.Delete(namespace(p.consumer))
	p.Gone(namespace(p.consumer))
	assert.Empty(t, p.broker.Bindings())
	p.Ready(p.instance)
}
