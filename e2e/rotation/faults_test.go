package rotation_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// Whatever goes wrong on the way to new credentials, the binding stays Ready with those
// that it has, it is tried again, and nothing is left behind.
func TestRotationSurvivesFaults(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		edits  []func(*setting)
		verb   osbtest.Verb
		faults []osbtest.Fault
		async  bool
	}{
		"Fault":         {reason: "what it may have made is removed", verb: osbtest.Bind, faults: []osbtest.Fault{osbtest.Status(500, "{}"), osbtest.Status(500, "{}").Acting()}},
		"LostReply":     {reason: "so is what was made without an answer", verb: osbtest.Bind, faults: []osbtest.Fault{osbtest.CutAfter()}},
		"Hang":          {reason: "no answer in time", verb: osbtest.Bind, faults: []osbtest.Fault{osbtest.Hang()}},
		"Malformed":     {reason: "credentials that cannot be read", verb: osbtest.Bind, faults: []osbtest.Fault{osbtest.Malformed()}},
		"Refused":       {reason: "what is refused for good is asked again all the same", verb: osbtest.Bind, faults: []osbtest.Fault{osbtest.Status(400, "{}"), osbtest.Status(400, "{}")}},
		"Busy":          {reason: "another operation is under way", verb: osbtest.Bind, faults: []osbtest.Fault{osbtest.Status(422, `{"error":"ConcurrencyError"}`)}},
		"PlainFault":    {reason: "as with a plan that rotates", edits: []func(*setting){plain}, verb: osbtest.Bind, faults: []osbtest.Fault{osbtest.CutAfter(), osbtest.Status(503, "{}")}},
		"FetchFails":    {reason: "the credentials come later", edits: []func(*setting){fetchable}, verb: osbtest.FetchBinding, faults: []osbtest.Fault{osbtest.Status(500, "{}"), osbtest.CutBefore()}, async: true},
		"UnbindFails":   {reason: "the former ones are removed in the end", verb: osbtest.Unbind, faults: []osbtest.Fault{osbtest.Status(500, "{}"), osbtest.Status(400, "{}"), osbtest.CutBefore()}},
		"UnbindLost":    {reason: "they were removed, and the answer was lost", verb: osbtest.Unbind, faults: []osbtest.Fault{osbtest.CutAfter()}},
		"OneShotIsLost": {reason: "credentials that were given once, and got lost, are of no use", edits: []func(*setting){oneShot}, verb: osbtest.Bind, faults: []osbtest.Fault{osbtest.CutMiddle()}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t, tc.edits...)
			b := e.bound()
			former := b.Status.ExternalID
			reads, unready := e.reads(b), e.watchesReady(b)
			if tc.async {
				e.broker.Async(osbtest.Bind, 1)
			}
			e.broker.Next(tc.verb, tc.faults...)
			e.request(b)
			e.rotated(b, former)
			assert.Equal(t, 2, reads.seen(), tc.reason)
			reads.stop()
			assert.Empty(t, unready(), tc.reason)
			e.unbound(b)
		})
	}
}

// watchesReady watches a binding; the function says what it was when it was not Ready.
func (e *testEnv) watchesReady(b *api.ServiceBinding) func() []string {
	e.Helper()
	watcher, err := e.Client().Watch(e.Context(), &api.ServiceBindingList{}, client.InNamespace(b.Namespace))
	require.NoError(e, err)
	var wrong []string
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range watcher.ResultChan() {
			seen, is := event.Object.(*api.ServiceBinding)
			if !is {
				continue
			}
			if ready, _ := api.FindCondition(seen.Status.Conditions, api.ConditionReady); ready.Status != api.ConditionTrue {
				wrong = append(wrong, ready.Reason+": "+ready.Message)
			}
		}
	}()
	stop := func() []string {
		watcher.Stop()
		<-done
		return slices.Compact(wrong)
	}
	e.Cleanup(func() { stop() })
	return stop
}

// A broker that does not give other credentials is asked again and again, ever more
// seldom; the condition says so, and the binding is Ready.
func TestRotationThatFails(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	b := e.bound()
	former := b.Status.ExternalID
	e.broker.On(func(call osbtest.Call) osbtest.Fault {
		if call.Verb == osbtest.Bind {
			return osbtest.Status(400, `{"description":"no more of them"}`)
		}
		return osbtest.Fault{}
	})
	e.request(b)
	found := e.HasCondition(b, api.ConditionCredentialsCurrent, api.ConditionFalse, "RotationFailed")
	assert.Contains(t, found.Message, "no more of them")
	e.Ready(b)
	assert.Equal(t, former, b.Status.ExternalID)
	e.broker.Sync()
	e.rotated(b, former)
	_, has := api.FindCondition(b.Status.Conditions, api.ConditionCredentialsCurrent)
	assert.False(t, has, "they do not expire: there is nothing to say")
	e.unbound(b)
}

// While the instance is changed there are no new credentials: it is said, and done then.
func TestRotationWaitsForTheInstance(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	b := e.bound()
	former := b.Status.ExternalID
	e.broker.Async(osbtest.Update, -1)
	e.Change(e.instance, func() { e.instance.Spec.UpdateRequests++; e.instance.Spec.Parameters = env.RawJSON(`{"size":2}`) })
	e.Becomes(e.instance, func() bool { return e.instance.Status.AsyncOpInProgress })
	e.request(b)
	found := e.HasCondition(b, api.ConditionCredentialsCurrent, api.ConditionUnknown, "RotationWaiting")
	assert.Contains(t, found.Message, "is being changed")
	e.Ready(b)
	e.broker.Finish(e.instance.Spec.ExternalID)
	e.rotated(b, former)
	e.unbound(b)
}

// A deletion in the middle of a rotation leaves nothing, and the instance waits for both
// bindings; wherever it comes.
func TestDeletionDuringRotation(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		// middle brings a rotation to a point, and returns what goes on from there.
		middle func(e *testEnv, b *api.ServiceBinding, former string) func()
	}{
		"Async": {reason: "the successor is in the making", middle: func(e *testEnv, b *api.ServiceBinding, _ string) func() {
			e.broker.Async(osbtest.Bind, -1)
			e.request(b)
			e.Becomes(b, func() bool { return b.Status.Rotation != nil && b.Status.Rotation.AsyncOpInProgress })
			return func() {}
		}},
		"InFlight": {reason: "the call for it is under way", middle: func(e *testEnv, b *api.ServiceBinding, _ string) func() {
			held := e.broker.Hold(osbtest.Bind)
			e.request(b)
			<-held.Arrived
			return func() { held.Act(); held.Answer() }
		}},
		"Overlap": {reason: "the former one is still valid", middle: func(e *testEnv, b *api.ServiceBinding, former string) func() {
			e.Change(b, func() { b.Spec.Rotation = &api.Rotation{Overlap: &metav1.Duration{Duration: time.Hour}} })
			e.request(b)
			e.Becomes(b, func() bool { return b.Status.ExternalID != former })
			return func() {}
		}},
		"Failing": {reason: "the successor could not be made", middle: func(e *testEnv, b *api.ServiceBinding, _ string) func() {
			e.broker.Next(osbtest.Bind, osbtest.Status(400, "{}"))
			e.request(b)
			e.Becomes(b, func() bool { return b.Status.Rotation != nil && b.Status.Rotation.Retries > 0 })
			return func() {}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			b := e.bound()
			secret := e.SecretOf(b)
			goOn := tc.middle(e, b, b.Status.ExternalID)
			e.Delete(e.instance)
			e.Delete(b)
			goOn()
			e.Gone(b)
			e.Gone(e.instance)
			e.Gone(secret)
			assert.Empty(t, e.broker.Bindings(), tc.reason)
			assert.Empty(t, e.broker.Instances())
		})
	}
}
