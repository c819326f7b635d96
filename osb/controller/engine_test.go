package controller

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/queue"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

func TestEngineRest(t *testing.T) {
	t.Parallel()
	e, o := &engine{reread: time.Minute}, &v1beta1.ServiceBinding{}
	assert.Equal(t, time.Second, e.rest(o, time.Second, true), "the next step has its own time")
	assert.Zero(t, e.rest(o, 0, false), "a watch tells of all that can change")
	for range 100 {
		wait := e.rest(o, 0, true)
		assert.GreaterOrEqual(t, wait, time.Minute)
		assert.LessOrEqual(t, wait, 66*time.Second)
	}
}

// A process that is asked to stop brings its calls to their end: what the broker did is
// stored.
func TestEngineEndsWhatItBegan(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	held := w.broker.Hold(osbtest.Bind)
	done := make(chan error)
	go func() {
		_, err := w.reconciler.Reconcile(ctx, reconcile.Request{NamespacedName: w.at})
		done <- err
	}()
	<-held.Arrived
	cancel()
	held.Act()
	held.Answer()
	require.NoError(t, <-done)
	assert.NotNil(t, w.bindingHere().Status.Binding)
	assert.NotEmpty(t, w.secretHere("b").Data)
}

// What keeps a call from being made is no failure of the broker's, and nothing is left
// to be undone.
func TestEngineWithoutAClient(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t)
	var broker v1beta1.ClusterServiceBroker
	require.NoError(t, w.cache.Get(t.Context(), client.ObjectKey{Name: "broker"}, &broker))
	broker.Spec.AuthInfo = &v1beta1.ClusterServiceBrokerAuthInfo{Basic: &v1beta1.ClusterBasicAuthConfig{SecretRef: &v1beta1.ObjectReference{Namespace: "n", Name: "auth"}}}
	require.NoError(t, w.cache.Update(t.Context(), &broker))
	b, result := w.pass()
	ready, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionReady)
	assert.Contains(t, ready.Message, `"n/auth"`)
	assert.Positive(t, result.RequeueAfter)
	assert.Empty(t, w.broker.Calls())
	assert.Equal(t, v1beta1.UnbindNotRequired, b.Status.UnbindStatus, "nothing was sent")

	w.broker.SetAuth("user", "right-password", "")
	auth := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "auth"}, Data: map[string][]byte{"username": []byte("user"), "password": []byte("wrong-password")}}
	require.NoError(t, w.cache.Create(t.Context(), auth))
	b = w.retry()
	ready, _ = v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionReady)
	assert.Equal(t, "AuthFailed", ready.Reason)
	assert.NotContains(t, ready.Message, "wrong-password")
	auth.Data["password"] = []byte("right-password")
	require.NoError(t, w.cache.Update(t.Context(), auth))
	b = w.retry()
	assert.NotNil(t, b.Status.Binding, "they were read again, because they were refused")
}

// retry is a pass at the time of the next try.
func (w *bindingWorld) retry() *v1beta1.ServiceBinding {
	w.Helper()
	b := w.bindingHere()
	require.NotNil(w, b.Status.NextRetry)
	b.Status.NextRetry = nil
	require.NoError(w, w.cache.Status().Update(w.Context(), b))
	b, _ = w.pass()
	return b
}

// A poll is not made before its time, whatever else brings a pass.
func TestEnginePollsInTime(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t)
	w.broker.Async(osbtest.Bind, -1)
	_, result := w.pass()
	assert.Equal(t, time.Second, result.RequeueAfter)
	_, result = w.pass()
	assert.Positive(t, result.RequeueAfter)
	assert.LessOrEqual(t, result.RequeueAfter, time.Second)
	assert.Empty(t, w.broker.Calls(osbtest.Of(osbtest.PollBinding)))
}

// A cache that lags behind the end of an operation brings no further poll: it is made without a
// write before it, which would find out.
func TestEngineDoesNotPollWhatHasEnded(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason  string
		ends    osbtest.Verb
		last    osbtest.Fault
		deletes bool
		meets   func(w *bindingWorld)
	}{
		"Unbound": {reason: "410 ends a removal", ends: osbtest.Unbind, last: osbtest.Status(410, `{}`), deletes: true},
		"UnboundAndTouched": {
			reason: "so it does where the object is touched meanwhile", ends: osbtest.Unbind, last: osbtest.Status(410, `{}`), deletes: true,
			meets: func(w *bindingWorld) {
				b := w.bindingHere()
				b.Labels = map[string]string{"touched": "true"}
				require.NoError(w, w.cache.Update(w.Context(), b))
			},
		},
		"Failed": {reason: "the broker says so", ends: osbtest.Bind, last: osbtest.Status(200, `{"state": "failed"}`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newBindingWorld(t)
			if tc.deletes {
				b, _ := w.pass()
				require.NoError(t, w.cache.Delete(t.Context(), b))
			}
			w.broker.Async(tc.ends, -1)
			before, _ := w.pass()
			require.True(t, before.Status.AsyncOpInProgress)
			w.broker.Next(osbtest.PollBinding, tc.last)
			w.forgetsPoll()
			held := w.broker.Hold(osbtest.PollBinding)
			done := make(chan struct{})
			go func() { defer close(done); w.pass() }()
			<-held.Arrived
			if tc.meets != nil {
				tc.meets(w)
				before = w.bindingHere()
			}
			held.Act()
			held.Answer()
			<-done
			calls := len(w.broker.Calls())

			w.reconciler.reader = olderReader{Reader: w.cache, binding: before}
			_, result := w.pass()
			assert.Equal(t, queue.ConflictPause, result.RequeueAfter)
			assert.Equal(t, calls, len(w.broker.Calls()), tc.reason) //nolint:testifylint // its list of calls would be a page
			w.reconciler.reader = w.cache
			w.pass() // which mitigates what failed
			w.pass()
			assert.Equal(t, 1, len(w.broker.Calls(osbtest.Of(osbtest.PollBinding))), tc.reason) //nolint:testifylint // as above
			p := w.turn()
			assert.Nil(t, p.Memory(), "nothing is remembered any more than is needed")
			p.End(nil)
		})
	}
}

// forgetsPoll has the next pass poll at once.
func (w *bindingWorld) forgetsPoll() {
	w.Helper()
	p := w.turn()
	remember(queue.NewContext(w.Context(), p), w.bindingHere(), func(m *memory) { m.poll = time.Time{} })
	p.End(nil)
}

// A poll that fails is told by the condition and an event, in the broker's words, until one goes well.
func TestEngineTellsOfAFailedPoll(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t)
	w.broker.Async(osbtest.Bind, -1)
	w.pass()
	const says = "cannot poll: the broker answered 500: out of order, 1% is left; the operation is taken to go on, and is polled again"
	polls := func() v1beta1.Condition {
		_, err := w.reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: w.at}) // which does not wait for its time
		require.NoError(t, err)
		ready, _ := v1beta1.FindCondition(w.bindingHere().Status.Conditions, v1beta1.ConditionReady)
		return ready
	}
	fault := osbtest.Status(500, `{"description": "out of order, 1% is left"}`)
	w.broker.Next(osbtest.PollBinding, fault, fault)
	for range 2 {
		ready := polls()
		assert.Equal(t, []string{"Unknown", "ErrorPollingLastOperation", says}, []string{string(ready.Status), ready.Reason, ready.Message})
		require.NotEmpty(t, w.recorder.Events)
		assert.Equal(t, "Warning ErrorPollingLastOperation "+says, <-w.recorder.Events)
	}
	ready := polls()
	assert.Equal(t, []string{"Unknown", "Binding"}, []string{string(ready.Status), ready.Reason})
	assert.Empty(t, w.recorder.Events)
}

// Without the namespace nothing can be asked for; that is an error of this side.
func TestEngineGatherFails(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t)
	away := errors.New("away")
	w.fail["get PartialObjectMetadata"] = away
	_, err := w.reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: w.at})
	require.ErrorIs(t, err, away)
	assert.Empty(t, w.bindingHere().Status.Conditions, "nothing is said of it")
	assert.Empty(t, w.broker.Calls())
}

// An intent that could not be stored is no sign of life: a broker with a pause keeps it.
func TestEngineIntentIsNoSignOfLife(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t)
	w.silent(queue.Broker{Name: "broker"}, 4)
	w.fail[patchStatus] = apierrors.NewServiceUnavailable("away")
	p := w.turn()
	_, err := w.reconciler.Reconcile(queue.NewContext(t.Context(), p), reconcile.Request{NamespacedName: w.at})
	require.Error(t, err)
	p.End(nil)
	assert.Empty(t, w.broker.Calls())
	w.silent(queue.Broker{Name: "broker"}, 1)
	p = w.turn()
	assert.True(t, p.Held(queue.Broker{Name: "broker"}), "the fifth that stays without an answer")
	p.End(nil)
}

// What waits for a sign of life of its broker does not wait for the API server as well: the
// outcome of the call that gave one may take long to be stored.
func TestEngineTellsOfACallAtOnce(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t)
	at := queue.Broker{Name: "broker"}
	w.silent(at, 4)
	other := func() *queue.Pass {
		p, begun := w.reconciler.engine.brokers.Queues.Begin(queue.Item{Kind: "ServiceBinding", NamespacedName: types.NamespacedName{Namespace: "n", Name: "other"}}, nil)
		require.True(w, begun)
		return p
	}
	var held []bool
	w.sees = func(request string) {
		if request != patchStatus || len(w.broker.Calls(osbtest.Of(osbtest.Bind))) == 0 {
			return
		}
		p := other()
		require.True(w, p.Enter(at))
		p.Called(&osb.Error{Kind: osb.NeverSent})
		p.End(nil)
		p = other()
		held = append(held, p.Held(at))
		p.End(nil)
	}
	b, _ := w.pass()
	require.NotNil(t, b.Status.Binding)
	assert.Equal(t, []bool{false}, held, "the broker answered after the first four that failed")
}

// What waits for a broker with a pause says so, and not until when.
func TestEngineSaysThatItWaits(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t)
	at := queue.Broker{Name: "broker"}
	w.silent(at, 5)
	p := w.turn()
	_, err := w.reconciler.Reconcile(queue.NewContext(t.Context(), p), reconcile.Request{NamespacedName: w.at})
	assert.Equal(t, &at, queue.AwaitedBy(err))
	p.End(nil)
	b := w.bindingHere()
	ready, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionReady)
	assert.Contains(t, ready.Message, "the broker does not answer")
	assert.Nil(t, b.Status.NextRetry)
	assert.Empty(t, w.broker.Calls())
	w.reconciler.engine.brokers.Queues.Answered(at)
	b, _ = w.pass()
	assert.NotNil(t, b.Status.Binding)
}

// What waits because its plan is refused says so, and not until when. It waits for its own kind
// of request only: what is to be removed is removed.
func TestEngineSaysThatThePlanIsRefused(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t)
	at, bind := queue.Broker{Name: "broker"}, queue.Operation{Class: "db", Plan: "small", Name: "bind"}
	w.unavailable(at, queue.Operation{Class: "db", Plan: "large", Name: "bind"})
	w.unavailable(at, queue.Operation{Class: "db", Plan: "small", Name: "unbind"})
	b, _ := w.pass()
	require.NotNil(t, b.Status.Binding, "nothing is said of its plan's bindings")

	w = newBindingWorld(t)
	w.unavailable(at, bind)
	p := w.turn()
	_, err := w.reconciler.Reconcile(queue.NewContext(t.Context(), p), reconcile.Request{NamespacedName: w.at})
	assert.Equal(t, &at, queue.AwaitedBy(err))
	p.End(nil)
	b = w.bindingHere()
	ready, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionReady)
	assert.Equal(t, "BrokerUnavailable", ready.Reason)
	assert.Contains(t, ready.Message, "429 or 503")
	assert.Nil(t, b.Status.NextRetry)
	assert.Empty(t, w.broker.Calls())
	w.reconciler.engine.brokers.Queues.Gone(at)
	b, _ = w.pass()
	require.NotNil(t, b.Status.Binding)

	w.unavailable(at, bind)
	require.NoError(t, w.cache.Delete(t.Context(), b))
	b, _ = w.pass()
	assert.Nil(t, b, "it is unbound")
}

// unavailable has calls for an operation be answered with 503 until it has a pause.
func (w *bindingWorld) unavailable(at queue.Broker, operation queue.Operation) {
	w.Helper()
	for range 5 {
		p := w.turn()
		p.For(operation)
		require.True(w, p.Enter(at))
		p.Called(&osb.Error{Kind: osb.Unavailable})
		p.End(nil)
	}
	p := w.turn()
	p.For(operation)
	require.True(w, p.Refused(at))
	p.End(nil)
}

// turn is a pass over the binding.
func (w *bindingWorld) turn() *queue.Pass {
	w.Helper()
	p, begun := w.reconciler.engine.brokers.Queues.Begin(queue.Item{Kind: "ServiceBinding", NamespacedName: w.at}, func(p *queue.Pass) { p.End(nil) })
	require.True(w, begun)
	return p
}

// silent has so many calls to a broker stay without an answer.
func (w *bindingWorld) silent(at queue.Broker, times int) {
	w.Helper()
	for range times {
		p := w.turn()
		require.True(w, p.Enter(at))
		p.Called(&osb.Error{Kind: osb.NeverSent})
		p.End(nil)
	}
}

// A caller is a resource whose call comes to nothing.
type caller struct{ resource }

func (c *caller) object() client.Object { return &v1beta1.ServiceInstance{} }

func (c *caller) prepare(context.Context, *lifecycle.Decision) (lifecycle.CallResult, bool) {
	return lifecycle.CallResult{}, false
}

func (c *caller) call(context.Context, *osb.Client, *lifecycle.Decision) lifecycle.CallResult {
	return lifecycle.CallResult{}
}
