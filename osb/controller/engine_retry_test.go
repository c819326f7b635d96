package controller

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/failing"
	"github.com/defaultplan/defaultplan/osb/controller/queue"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A failingWorld has instances whose calls fail, and a clock of its own.
type failingWorld struct {
	*instanceWorld

	clock *clocktesting.FakePassiveClock
	// fault is how calls of a kind are answered.
	fault map[osbtest.Verb]osbtest.Fault
	logs  []string
}

var down = osbtest.Status(500, `{"description":"out of order"}`)

func newFailingWorld(t *testing.T, names ...string) *failingWorld {
	t.Helper()
	w := &failingWorld{
		instanceWorld: newInstanceWorld(t), clock: clocktesting.NewFakePassiveClock(time.Now()),
		fault: map[osbtest.Verb]osbtest.Fault{osbtest.Provision: down},
	}
	w.instances.engine.clock = w.clock
	w.broker.On(func(call osbtest.Call) osbtest.Fault { return w.fault[call.Verb] })
	for _, name := range names {
		w.creates(name)
	}
	return w
}

func (w *failingWorld) creates(name string) {
	w.Helper()
	i := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{
		Namespace: "n", Name: name, UID: types.UID("uid-" + name), Generation: 1, Finalizers: []string{v1beta1.FinalizerServiceCatalog},
		Annotations: map[string]string{v1beta1.AnnotationMintedExternalID: "id-" + name},
	}}
	i.Spec.ExternalID = "id-" + name
	i.Spec.ClusterServiceClassRef, i.Spec.ClusterServicePlanRef = &v1beta1.ClusterObjectReference{Name: "db"}, &v1beta1.ClusterObjectReference{Name: "small"}
	require.NoError(w, w.cache.Create(w.Context(), i))
}

func keyOf(name string) client.ObjectKey { return client.ObjectKey{Namespace: "n", Name: name} }

func (w *failingWorld) get(name string) *v1beta1.ServiceInstance {
	w.Helper()
	i := &v1beta1.ServiceInstance{}
	require.NoError(w, w.cache.Get(w.Context(), keyOf(name), i))
	return i
}

// passesOver makes passes over an instance until it waits for a time, and says for how long.
func (w *failingWorld) passesOver(name string) time.Duration {
	w.Helper()
	logger := funcr.New(func(_, text string) { w.logs = append(w.logs, text) }, funcr.Options{})
	ctx := log.IntoContext(w.Context(), logger)
	for range 6 {
		p, begun := w.reconciler.engine.brokers.Queues.Begin(queue.Item{Kind: "ServiceInstance", NamespacedName: keyOf(name)}, func(p *queue.Pass) { p.End(nil) })
		require.True(w, begun)
		before := w.version(name)
		result, err := w.instances.Reconcile(queue.NewContext(ctx, p), reconcile.Request{NamespacedName: keyOf(name)})
		p.End(nil)
		require.NoError(w, err)
		if w.version(name) == before { // no write brings another pass
			return result.RequeueAfter
		}
	}
	require.Fail(w, "it does not come to rest", name)
	return 0
}

func (w *failingWorld) version(name string) string {
	i := &v1beta1.ServiceInstance{}
	if w.cache.Get(w.Context(), keyOf(name), i) != nil {
		return "gone"
	}
	return i.ResourceVersion
}

// failsFor has instances fail until each waits for so long, and says for how long they do.
func (w *failingWorld) failsFor(least time.Duration, names ...string) map[string]time.Duration {
	w.Helper()
	for range 60 {
		waits, next, all := map[string]time.Duration{}, time.Hour, true
		for _, name := range names {
			waits[name] = w.passesOver(name)
			next, all = min(next, waits[name]), all && waits[name] >= least
		}
		if all {
			return waits
		}
		w.passesTime(next)
	}
	require.Fail(w, "their waits do not grow")
	return nil
}

func (w *failingWorld) passesTime(d time.Duration) { w.clock.SetTime(w.clock.Now().Add(d)) }

// attempts is how many calls of a kind there were so far.
func (w *failingWorld) attempts(verb osbtest.Verb) int { return len(w.broker.Calls(osbtest.Of(verb))) }

// all says how many instances fail alike.
func (w *failingWorld) all(deleting bool) int32 {
	return w.instances.engine.failing.Share(failing.Object{ObjectKey: keyOf("")}, w.smallPlan(deleting), 5)
}

func (w *failingWorld) smallPlan(deleting bool) failing.Key {
	return failing.Key{Broker: queue.Broker{Name: "broker"}, Class: "db", Plan: "small", Deleting: deleting}
}

const patchInstance, patchBinding = "patch status ServiceInstance", "patch status ServiceBinding"

// writes are the requests since the last time that write.
func (w *failingWorld) writes() []string {
	return slices.DeleteFunc(w.took(), func(r string) bool { return strings.HasPrefix(r, "get ") || strings.HasPrefix(r, "list ") })
}

// An instance waits for an hour at most, and is noted; a new process notes it as well.
func TestFailingWaitsForAnHour(t *testing.T) {
	t.Parallel()
	w := newFailingWorld(t, "a")
	waits := w.failsFor(40*time.Minute, "a")["a"]
	assert.LessOrEqual(t, waits, time.Hour+time.Second)
	assert.EqualValues(t, 1, w.all(false))

	w.instances.engine.failing = failing.Set{}
	w.passesOver("a")
	assert.EqualValues(t, 1, w.all(false))

	require.NoError(t, w.cache.Delete(t.Context(), w.get("a")))
	w.passesOver("a")
	assert.Zero(t, w.all(false), "it is gone")
}

// Objects that fail alike share their attempts: the second of a new one comes as late as its share says.
func TestManyFailingShareTheirAttempts(t *testing.T) {
	t.Parallel()
	w := newFailingWorld(t, "a")
	const many = 400
	for i := range many {
		w.instances.engine.failing.Note(failing.Object{ObjectKey: keyOf(fmt.Sprint(i))}, failing.Wait{Key: w.smallPlan(false)}, time.Now())
	}
	first := w.passesOver("a")
	assert.LessOrEqual(t, first, 2*time.Second)
	w.passesTime(first)
	w.took()
	waits := w.passesOver("a")
	assert.Greater(t, waits, many*lifecycle.PausePerObject*3/4-time.Second)
	assert.LessOrEqual(t, waits, many*lifecycle.PausePerObject+time.Second)
	assert.Equal(t, []string{patchInstance, patchInstance, patchInstance, patchInstance}, w.writes(), "an attempt with its mitigation")

	w.took()
	for range 5 {
		assert.Positive(t, w.passesOver("a"))
	}
	assert.Empty(t, w.writes(), "a pass that waits writes nothing")
}

// A success of one wakes all that fail alike, and no success wakes one twice before its own time.
func TestSuccessWakesWhatFailsAlike(t *testing.T) {
	t.Parallel()
	w := newFailingWorld(t, "a", "b")
	waits := w.failsFor(10*time.Minute, "a", "b")
	succeeds := func(name string) {
		delete(w.fault, osbtest.Provision)
		w.creates(name)
		w.passesOver(name)
		require.Equal(t, v1beta1.Provisioned, w.get(name).Status.ProvisionStatus)
		w.fault[osbtest.Provision] = down
	}
	succeeds("good")
	before := w.attempts(osbtest.Provision)
	for name := range waits {
		assert.LessOrEqual(t, w.passesOver(name), time.Second)
	}
	assert.Equal(t, before, w.attempts(osbtest.Provision), "not all at once")
	w.passesTime(time.Second)
	for name, waited := range waits {
		before = w.attempts(osbtest.Provision)
		next := w.passesOver(name)
		assert.Equal(t, before+1, w.attempts(osbtest.Provision), name)
		assert.Greater(t, next, waited, "it failed again, and its waits go on to grow")
	}
	for i := range 4 { // a stream of successes
		succeeds(fmt.Sprint("good-", i))
		w.passesTime(time.Minute)
		before = w.attempts(osbtest.Provision)
		assert.LessOrEqual(t, w.passesOver("a"), 4*time.Minute, "the success is for its next attempt")
		assert.Equal(t, before, w.attempts(osbtest.Provision), "not before five minutes have passed")
	}
	w.passesTime(2 * time.Hour)
	before = w.attempts(osbtest.Provision)
	w.passesOver("a")
	require.Equal(t, before+1, w.attempts(osbtest.Provision))

	succeeds("at-last")
	delete(w.fault, osbtest.Provision)
	w.passesTime(time.Second)
	w.passesOver("a")
	assert.Equal(t, v1beta1.Provisioned, w.get("a").Status.ProvisionStatus)
	assert.EqualValues(t, 1, w.all(false), "b alone")
}

// What cannot be removed is woken by a removal, and not by what is made.
func TestRemovalWakesWhatCannotBeRemoved(t *testing.T) {
	t.Parallel()
	w := newFailingWorld(t, "a", "b", "c")
	clear(w.fault)
	for _, name := range []string{"a", "b"} {
		w.passesOver(name)
		require.NoError(t, w.cache.Delete(t.Context(), w.get(name)))
	}
	w.fault[osbtest.Deprovision] = down
	w.failsFor(time.Minute, "a")
	assert.EqualValues(t, 1, w.all(true))
	w.passesOver("c")
	assert.Greater(t, w.passesOver("a"), 30*time.Second)
	clear(w.fault)
	w.passesOver("b")
	assert.LessOrEqual(t, w.passesOver("a"), time.Second)
	w.passesTime(time.Second)
	w.passesOver("a")
	assert.Equal(t, "gone", w.version("a"))
	assert.Zero(t, w.all(true))
}

// The end of an asynchronous operation is a success, too.
func TestAsyncSuccessWakes(t *testing.T) {
	t.Parallel()
	w := newFailingWorld(t, "a", "good")
	w.failsFor(time.Minute, "a")
	clear(w.fault)
	w.broker.Async(osbtest.Provision, 1)
	for range 3 {
		w.passesTime(w.passesOver("good"))
	}
	require.Equal(t, v1beta1.Provisioned, w.get("good").Status.ProvisionStatus)
	w.passesTime(time.Second)
	w.passesOver("a")
	assert.True(t, w.get("a").Status.AsyncOpInProgress, "its next attempt")
}

// A plan that changed wakes what fails of it, and an edit or svcat touch does, also while what is left of an attempt, or
// the instance, cannot be removed.
func TestChangesWakeWhatFails(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		verb    osbtest.Verb
		deletes bool
		change  func(w *failingWorld)
	}{
		"Plan":               {verb: osbtest.Provision, change: func(w *failingWorld) { w.instances.engine.changed(keyOf("a"), time.Second) }},
		"PlanWhileDeleted":   {verb: osbtest.Deprovision, deletes: true, change: func(w *failingWorld) { w.instances.engine.changed(keyOf("a"), time.Second) }},
		"Broker":             {verb: osbtest.Provision, change: func(w *failingWorld) { w.instances.engine.failing.Broker(w.smallPlan(false).Broker, w.clock.Now()) }},
		"Touch":              {verb: osbtest.Provision, change: (*failingWorld).touches},
		"TouchWhileDeleted":  {verb: osbtest.Deprovision, deletes: true, change: (*failingWorld).touches},
		"TouchInAMitigation": {verb: osbtest.Deprovision, change: (*failingWorld).touches},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFailingWorld(t, "a")
			if tc.deletes {
				clear(w.fault)
				w.passesOver("a")
				require.NoError(t, w.cache.Delete(t.Context(), w.get("a")))
			}
			w.fault[tc.verb] = down
			waits := w.failsFor(10*time.Minute, "a")["a"]
			before := w.attempts(tc.verb)
			tc.change(w)
			w.passesTime(time.Second)
			next := w.passesOver("a")
			assert.Equal(t, before+1, w.attempts(tc.verb))
			if name != "Touch" { // an edit has the waits begin at a second
				assert.Greater(t, next, waits)
			}
			w.passesTime(time.Second)
			w.passesOver("a")
			if name != "Touch" {
				assert.Equal(t, before+1, w.attempts(tc.verb), "it is one attempt")
			}
		})
	}
}

// What wakes an instance whose last attempt cannot be cleaned up is for the attempt that follows, too,
// also where the broker removes in the background.
func TestWokenMitigationGoesOn(t *testing.T) {
	t.Parallel()
	broker := func(w *failingWorld) { w.instances.engine.failing.Broker(w.smallPlan(false).Broker, w.clock.Now()) }
	for name, tc := range map[string]struct {
		removal osbtest.Fault
		wakes   func(*failingWorld)
	}{"Sync": {wakes: broker}, "Async": {osbtest.AsyncDone(1), broker}, "Touch": {wakes: (*failingWorld).touches}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFailingWorld(t)
			w.fault[osbtest.Provision], w.fault[osbtest.Deprovision] = down.Acting(), down // so there is something to remove
			w.creates("a")
			w.failsFor(10*time.Minute, "a")
			clear(w.fault)
			w.fault[osbtest.Deprovision] = tc.removal
			tc.wakes(w)
			for range 4 { // polls have pauses of their own
				w.passesTime(time.Minute)
				w.passesOver("a")
			}
			assert.Equal(t, v1beta1.Provisioned, w.get("a").Status.ProvisionStatus)
		})
	}
}

// What wakes a mitigation is still for the attempt that follows where the broker was not reached first.
func TestWokenMitigationIsNotSent(t *testing.T) {
	t.Parallel()
	w := newFailingWorld(t)
	w.fault[osbtest.Provision], w.fault[osbtest.Deprovision] = down.Acting(), down // so there is something to remove
	w.creates("a")
	w.failsFor(10*time.Minute, "a")
	clear(w.fault)
	broker := &v1beta1.ClusterServiceBroker{}
	require.NoError(t, w.cache.Get(t.Context(), client.ObjectKey{Name: "broker"}, broker))
	signsIn := func(with *v1beta1.ClusterServiceBrokerAuthInfo) {
		broker.Spec.AuthInfo = with
		broker.Generation++
		require.NoError(t, w.cache.Update(t.Context(), broker))
	}
	signsIn(&v1beta1.ClusterServiceBrokerAuthInfo{Basic: &v1beta1.ClusterBasicAuthConfig{SecretRef: &v1beta1.ObjectReference{Namespace: "n", Name: "absent"}}})
	w.instances.engine.failing.Broker(w.smallPlan(false).Broker, w.clock.Now())
	w.passesTime(time.Second)
	before := len(w.broker.Calls())
	wait := w.passesOver("a")
	require.Greater(t, wait, time.Minute, "it waits for longer than before")
	require.Len(t, w.broker.Calls(), before)

	signsIn(nil)
	w.passesTime(wait)
	w.passesOver("a")
	assert.Equal(t, v1beta1.Provisioned, w.get("a").Status.ProvisionStatus)
}

// One wake brings no more than two removals where they fail: after that they wait for their time.
func TestWokenMitigationThatFails(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason  string
		removal osbtest.Fault
		most    int
	}{
		"Refused":    {"the removal was the attempt", down, 1},
		"Later":      {"it was accepted, so the next call was woken, too", osbtest.AsyncFailed(1), 2},
		"Unbelieved": {"a 404 of an address whose catalog was not read", osbtest.Status(404, `{}`), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFailingWorld(t)
			w.fault[osbtest.Provision], w.fault[osbtest.Deprovision] = down.Acting(), down // so there is something to remove
			w.creates("a")
			w.failsFor(15*time.Minute, "a")
			w.fault[osbtest.Deprovision] = tc.removal
			before := w.attempts(osbtest.Deprovision)
			w.instances.engine.failing.Broker(w.smallPlan(false).Broker, w.clock.Now())
			for range 10 {
				w.passesTime(time.Minute)
				w.passesOver("a")
			}
			made := w.attempts(osbtest.Deprovision) - before
			assert.Positive(t, made, tc.reason)
			assert.LessOrEqual(t, made, tc.most, tc.reason)
		})
	}
}

// An instance whose plan was gone for some time does not wait for its time afterwards, and one whose plan
// comes and goes makes no attempt each time, also after its plan was gone for longer than its wait.
func TestPlanThatReturnsWakes(t *testing.T) {
	t.Parallel()
	for name, gone := range map[string]time.Duration{"Soon": time.Second, "Later": 2 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFailingWorld(t, "a")
			w.failsFor(10*time.Minute, "a")
			plan := &v1beta1.ClusterServicePlan{}
			require.NoError(t, w.cache.Get(t.Context(), client.ObjectKey{Name: "small"}, plan))
			before := w.attempts(osbtest.Provision)
			for range 30 {
				require.NoError(t, w.cache.Delete(t.Context(), plan))
				w.passesTime(gone)
				w.passesOver("a")
				plan.ResourceVersion = ""
				require.NoError(t, w.cache.Create(t.Context(), plan))
				gone = time.Second
				w.passesTime(time.Second)
				w.passesOver("a")
			}
			made := w.attempts(osbtest.Provision) - before
			assert.Positive(t, made)
			assert.LessOrEqual(t, made, 8, "in a minute")
		})
	}
}

// What woke a call is for the next one where its outcome was not stored, unless its intent was: then
// the next one does not wait.
func TestWakeIsKeptWithoutAnOutcome(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		step  lifecycle.Step
		woken bool
		kept  bool
	}{
		"Fetch":     {lifecycle.Fetch, true, true},
		"NotWoken":  {lifecycle.Fetch, false, false},
		"Provision": {lifecycle.Provision, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newBindingWorld(t)
			e, s := w.reconciler.engine, w.reconciler.resourceOf(w.bindingHere())
			thing := s.thing()
			e.failing.Note(failingOf(s, &thing), failing.Wait{Generation: 1}, e.clock.Now())
			ctx := queue.NewContext(t.Context(), w.turn())
			w.fail[patchBinding] = apierrors.NewInvalid(schema.GroupKind{Kind: "ServiceBinding"}, "b", nil) // which is not tried again
			made := &attempt{thing: &thing, decision: &lifecycle.Decision{Step: tc.step}, stored: s.object(), woken: tc.woken}
			_, err := e.conclude(ctx, s, made, lifecycle.Outcome{Record: lifecycle.Record{Retries: 1}})
			require.Error(t, err)
			assert.Equal(t, tc.kept, !e.failing.Wakes(failingOf(s, &thing), 1, e.clock.Now()).IsZero())
		})
	}
}

// A change that comes while a mitigation is due is for the attempt that follows.
func TestChangeBeforeADueMitigation(t *testing.T) {
	t.Parallel()
	w := newFailingWorld(t)
	w.fault[osbtest.Provision], w.fault[osbtest.Deprovision] = down.Acting(), down // so there is something to remove
	w.creates("a")
	waits := w.failsFor(10*time.Minute, "a")["a"]
	clear(w.fault)
	w.passesTime(waits - time.Second/2)
	w.instances.engine.changed(keyOf("a"), time.Second)
	w.passesTime(time.Second / 2)
	w.passesOver("a")
	assert.Equal(t, v1beta1.Provisioned, w.get("a").Status.ProvisionStatus)
}

// touches does what svcat touch does.
func (w *failingWorld) touches() {
	w.Helper()
	i := w.get("a")
	i.Spec.UpdateRequests++
	i.Generation++
	require.NoError(w, w.cache.Update(w.Context(), i))
}

// The edit of a binding ends its wait.
func TestEditWakesABinding(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t)
	clock := clocktesting.NewFakePassiveClock(time.Now())
	e := w.reconciler.engine
	e.clock = clock
	w.broker.On(func(call osbtest.Call) osbtest.Fault {
		return map[osbtest.Verb]osbtest.Fault{osbtest.Bind: down}[call.Verb]
	})
	var result reconcile.Result
	for range 100 {
		if _, result = w.pass(); result.RequeueAfter > time.Minute {
			break
		}
		clock.SetTime(clock.Now().Add(result.RequeueAfter))
	}
	require.Greater(t, result.RequeueAfter, time.Minute)
	calls := len(w.broker.Calls(osbtest.Of(osbtest.Bind)))
	w.pass()
	require.Len(t, w.broker.Calls(osbtest.Of(osbtest.Bind)), calls, "it waits")
	b := w.bindingHere()
	b.Generation++
	require.NoError(t, w.cache.Update(t.Context(), b))
	w.pass()
	assert.Len(t, w.broker.Calls(osbtest.Of(osbtest.Bind)), calls+1)
}

// What the broker asks for is granted, whatever happens meanwhile.
func TestRetryAfterIsGrantedToTheWoken(t *testing.T) {
	t.Parallel()
	w := newFailingWorld(t, "a")
	w.fault[osbtest.Provision] = osbtest.Status(429, `{}`).WithRetryAfter("3600")
	waits := w.failsFor(time.Minute, "a")["a"]
	assert.GreaterOrEqual(t, waits, time.Hour)
	w.instances.engine.failing.Success(w.smallPlan(false), w.clock.Now())
	w.passesTime(30 * time.Minute)
	before := w.attempts(osbtest.Provision)
	assert.Greater(t, w.passesOver("a"), 25*time.Minute)
	assert.Equal(t, before, w.attempts(osbtest.Provision))
}

// TestRetryAfterOfEachCall: the wish of a poll that ends its operation counts, that of another poll does
// not, and each binding of a rotation has its own.
func TestRetryAfterOfEachCall(t *testing.T) {
	t.Parallel()
	asks := &osb.Error{Kind: osb.Unavailable, RetryAfter: time.Hour}
	polled := func(state osb.OperationState) lifecycle.CallResult {
		return lifecycle.CallResult{Poll: &osb.LastOperation{State: state, RetryAfter: time.Hour}}
	}
	for name, tc := range map[string]struct {
		reason   string
		step     lifecycle.Step
		rotating bool
		reply    lifecycle.CallResult
		granted  bool
	}{
		"Call":           {reason: "it was asked for", step: lifecycle.Provision, reply: lifecycle.CallResult{Err: asks}, granted: true},
		"CallWithout":    {reason: "nothing was", step: lifecycle.Provision, reply: lifecycle.CallResult{Err: &osb.Error{Kind: osb.BrokerFault}}},
		"FailedPoll":     {reason: "the next request is one of the operation", step: lifecycle.Poll, reply: polled(osb.Failed), granted: true},
		"PollInProgress": {reason: "it is about the next poll", step: lifecycle.Poll, reply: polled(osb.InProgress)},
		"PollThatFailed": {reason: "as that is", step: lifecycle.Poll, reply: lifecycle.CallResult{Err: asks}},
		"OtherBinding":   {reason: "it is another request", step: lifecycle.Provision, rotating: true, reply: lifecycle.CallResult{Err: asks}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newBindingWorld(t)
			ctx := queue.NewContext(t.Context(), w.turn())
			e, s := w.reconciler.engine, w.reconciler.resourceOf(w.bindingHere())
			thing := s.thing()
			thing.Rotating = tc.rotating
			now := e.clock.Now()
			e.noteRetryAfter(ctx, s, &attempt{thing: &thing, decision: &lifecycle.Decision{Step: tc.step}}, &tc.reply)
			assert.Equal(t, tc.granted, recall(ctx, s.object()).retryAfter[0].After(now), tc.reason)
			assert.Equal(t, tc.rotating, recall(ctx, s.object()).retryAfter[1].After(now), tc.reason)
		})
	}
}

// A failure is logged when it begins and when it changes; so are its events, once they do not join a series.
func TestFailuresAreReportedOnce(t *testing.T) {
	t.Parallel()
	w := newFailingWorld(t, "a")
	w.failsFor(10*time.Minute, "a")
	assert.Len(t, w.failures(), 1, "%v", w.logs)
	events := len(w.recorder.Events)
	for range 5 {
		w.passesTime(w.passesOver("a"))
	}
	assert.Len(t, w.failures(), 1)
	assert.Len(t, w.recorder.Events, events, "each would be a new Event")

	w.fault[osbtest.Deprovision] = osbtest.Status(500, `{"description":"nor that"}`)
	w.passesTime(w.passesOver("a"))
	w.passesTime(w.passesOver("a"))
	assert.Len(t, w.failures(), 2, "that the mitigation fails is another failure")
	delete(w.fault, osbtest.Deprovision)
	for range 3 {
		w.passesTime(w.passesOver("a"))
	}
	assert.Len(t, w.failures(), 2, "the failure of before is no new one")

	events = len(w.recorder.Events)
	w.fault[osbtest.Provision] = osbtest.Status(500, `{"description":"full"}`)
	w.passesTime(w.passesOver("a"))
	w.passesOver("a")
	require.Len(t, w.failures(), 3)
	assert.Contains(t, w.failures()[2], "full")
	assert.Greater(t, len(w.recorder.Events), events, "it is another event")

	clear(w.fault)
	w.passesTime(time.Hour)
	w.passesOver("a")
	require.Equal(t, v1beta1.Provisioned, w.get("a").Status.ProvisionStatus)
	require.NoError(t, w.cache.Delete(t.Context(), w.get("a")))
	w.fault[osbtest.Deprovision] = osbtest.Status(500, `{"description":"nor that"}`)
	w.passesOver("a")
	assert.Len(t, w.failures(), 4, "after a success it is a new failure")
}

// failures are the lines of the log of calls that failed.
func (w *failingWorld) failures() []string {
	return slices.DeleteFunc(slices.Clone(w.logs), func(line string) bool { return !strings.Contains(line, "the call to the broker failed") })
}

// Each operation that ends is logged once, with the ID of its last request, and so is what is removed
// after each of many attempts.
func TestOperationsAreLogged(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		run  func(w *failingWorld)
		verb osbtest.Verb
		want []string
	}{
		"Provision": {func(w *failingWorld) {
			w.broker.On(func(osbtest.Call) osbtest.Fault {
				w.passesTime(time.Second)
				return osbtest.Fault{}
			})
		}, osbtest.Provision, []string{
			`"the operation ended" "operation"="provision" "outcome"="ProvisionedSuccessfully"`, `"externalID"="id-a"`, `"took"="1s"`, `"uid"="uid-a"`,
		}},
		"NoAnswerToPolls": {func(w *failingWorld) {
			w.broker.Async(osbtest.Provision, -1)
			w.fault[osbtest.PollInstance] = osbtest.Status(500, `{}`)
			w.passesTime(w.passesOver("a"))
			w.passesOver("a")
			w.passesTime(10 * 24 * time.Hour)
		}, osbtest.PollInstance, []string{`"the operation failed" "operation"="poll_instance" "outcome"="AsyncOperationTimeout"`}},
		"Async": {func(w *failingWorld) { w.broker.Async(osbtest.Provision, 1) }, osbtest.PollInstance, []string{
			`"the operation ended" "operation"="poll_instance" "outcome"="ProvisionedSuccessfully"`, `"externalID"="id-a"`, `"took"="1.`,
		}},
		"AsyncFails": {func(w *failingWorld) { w.fault[osbtest.Provision] = osbtest.AsyncFailed(1) }, osbtest.PollInstance, []string{
			`"the operation failed" "operation"="poll_instance" "outcome"="ProvisionCallFailed"`, `"why"=`, `"took"="1.`,
		}},
		"Gone": {func(w *failingWorld) {
			w.passesOver("a")
			require.NoError(w, w.cache.Delete(w.Context(), w.get("a")))
			w.fault[osbtest.Deprovision] = osbtest.Status(410, `{}`)
		}, osbtest.Deprovision, []string{`"the operation ended" "operation"="deprovision" "outcome"="DeprovisionedSuccessfully"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFailingWorld(t, "a")
			clear(w.fault)
			tc.run(w)
			w.logs = nil
			for range 3 {
				if w.version("a") != "gone" && len(w.logs) == 0 {
					w.passesTime(w.passesOver("a"))
				}
			}
			lines := 1
			if strings.Contains(tc.want[0], "failed") {
				lines++ // its mitigation
			}
			require.Len(t, w.logs, lines, "%v", w.logs)
			for _, want := range tc.want {
				assert.Contains(t, w.logs[0], want)
			}
			calls := w.broker.Calls(osbtest.Of(tc.verb))
			require.NotEmpty(t, calls)
			assert.Contains(t, w.logs[0], `"requestID"="`+calls[len(calls)-1].RequestID+`"`)
		})
	}
	w := newFailingWorld(t, "a")
	w.failsFor(10*time.Minute, "a")
	assert.Len(t, w.logs, 2, "%v", w.logs)
}
