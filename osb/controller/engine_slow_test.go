package controller

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/requests"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// never is longer than any request to the API server may take.
const never = 24 * time.Hour

// requestsOf are the names of requests to the API server, in bindingWorld.
const (
	getInstance = "get ServiceInstance"
	getMetadata = "get PartialObjectMetadata"
	getSecret   = "get Secret"
)

// newSlowWorld is a world whose broker has three seconds for each call, and whose API
// server takes its time over some requests, in the time of a synctest bubble.
func newSlowWorld(t *testing.T, slow map[string]time.Duration) *bindingWorld {
	t.Helper()
	w := newBindingWorld(t)
	w.slow = slow
	w.reconciler.engine.timeout, w.reconciler.engine.brokers.Config.Timeout = 3*time.Second, 3*time.Second
	w.reconciler.engine.brokers.Config.Wrap = func(sends http.RoundTripper) http.RoundTripper { return lastRequest{sends} }
	return w
}

// A lastRequest ends each connection with its request: while one is open, the time of a
// bubble stands still.
type lastRequest struct{ http.RoundTripper }

func (l lastRequest) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Close = true
	return l.RoundTripper.RoundTrip(request)
}

// inBubble runs what has the fake time of a bubble.
func (w *bindingWorld) inBubble(run func()) {
	w.Helper()
	outside := w.T
	synctest.Test(outside, func(t *testing.T) {
		w.T = t
		defer func() { w.T = outside }()
		run()
	})
}

// withAuth has the broker want a password from a Secret.
func (w *bindingWorld) withAuth() {
	w.Helper()
	var broker v1beta1.ClusterServiceBroker
	require.NoError(w, w.cache.Get(w.Context(), client.ObjectKey{Name: "broker"}, &broker))
	broker.Spec.AuthInfo = &v1beta1.ClusterServiceBrokerAuthInfo{Basic: &v1beta1.ClusterBasicAuthConfig{SecretRef: &v1beta1.ObjectReference{Namespace: "n", Name: "auth"}}}
	require.NoError(w, w.cache.Update(w.Context(), &broker))
	require.NoError(w, w.cache.Create(w.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "auth"}, Data: map[string][]byte{"username": []byte("u"), "password": []byte("p")},
	}))
}

// An API server that takes longer over a request than a broker may over a call costs no
// call: the time of the call begins when it is sent.
func TestEngineCallsWithASlowAPIServer(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		slow   map[string]time.Duration
	}{
		"Instance": {"what is read after the intent", map[string]time.Duration{getInstance: 10 * time.Second}},
		"Intent":   {"the intent itself", map[string]time.Duration{patchStatus: 10 * time.Second}},
		"Secret":   {"whose Secret it is, when it is bound and unbound", map[string]time.Duration{getMetadata: 10 * time.Second}},
		"Auth":     {"the broker's credentials", map[string]time.Duration{getSecret: 10 * time.Second}},
		"All": {"one after another", map[string]time.Duration{
			getInstance: 29 * time.Second, patchStatus: 29 * time.Second, getMetadata: 29 * time.Second, getSecret: 29 * time.Second,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newSlowWorld(t, tc.slow)
			w.withAuth()
			w.inBubble(func() {
				b, _ := w.pass()
				require.NotNil(w, b.Status.Binding, tc.reason)
				require.NoError(w, w.cache.Delete(w.Context(), b))
				gone, _ := w.pass()
				assert.Nil(w, gone, tc.reason)
			})
			assert.Len(t, w.broker.Calls(osbtest.Of(osbtest.Bind)), 1, tc.reason)
			assert.Len(t, w.broker.Calls(osbtest.Of(osbtest.Unbind)), 1, tc.reason)
		})
	}
}

// An API server that does not answer is waited for so long and no longer, and the binding
// says what it did not answer. The broker is not asked, and nothing is held against it.
func TestEngineWithoutAnAPIServer(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, request, says string
		bound                 bool
	}{
		"Bind":   {reason: "the instance is read before it is bound to", request: getInstance, says: `cannot read instance "i"`},
		"Unbind": {reason: "the Secret goes first", request: getMetadata, bound: true, says: `cannot read Secret "b"`},
		"Auth":   {reason: "the broker's credentials are read first", request: getSecret, says: `cannot read the Secret "n/auth" with the broker's credentials`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newSlowWorld(t, map[string]time.Duration{})
			w.withAuth()
			w.inBubble(func() {
				if tc.bound {
					b, _ := w.pass()
					require.NoError(w, w.cache.Delete(w.Context(), b))
				}
				before := len(w.broker.Calls())
				w.slow[tc.request] = never
				began := time.Now()
				b, result := w.pass()
				assert.Equal(w, 30*time.Second, time.Since(began), tc.reason)
				assert.Len(w, w.broker.Calls(), before, "it is not asked")
				w.retriesUnasked(b, tc.says)
				assert.Positive(w, result.RequeueAfter)
				w.slow = nil
				w.retry()
				assert.Len(w, w.broker.Calls(), before+1, "it is tried again")
			})
		})
	}
}

// retriesUnasked checks that a binding tells what the API server did not answer, and that
// the next try has nothing to wait for but its time.
func (w *bindingWorld) retriesUnasked(b *v1beta1.ServiceBinding, says string) {
	w.Helper()
	ready, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionReady)
	assert.Equal(w, "ErrorCallingAPIServer", ready.Reason)
	assert.Equal(w, says+": the API server did not answer within 30s", ready.Message)
	assert.NotNil(w, b.Status.NextRetry)
	assert.Nil(w, b.Status.CallDeadline, "no call is on its way")
	assert.False(w, b.Status.OrphanMitigationInProgress)
	w.silent(theBroker.At(), 4)
	p := w.turn()
	assert.False(w, p.Held(theBroker.At()), "it is nothing that the broker did: five in a row would bring a pause")
	p.End(nil)
	w.reconciler.engine.brokers.Queues.Answered(theBroker.At())
}

// A slowCaller is a resource that takes some time until its call can be sent, and notes until
// when the call may take.
type slowCaller struct {
	resource

	takes       time.Duration
	sent, until time.Time
}

func (c *slowCaller) prepare(context.Context, *lifecycle.Decision) (lifecycle.CallResult, bool) {
	<-time.After(c.takes)
	return lifecycle.CallResult{}, false
}

func (c *slowCaller) call(ctx context.Context, _ *osb.Client, _ *lifecycle.Decision) lifecycle.CallResult {
	c.sent = time.Now()
	c.until, _ = ctx.Deadline()
	return lifecycle.CallResult{}
}

// A controller that finds an intent waits until its Deadline, and a broker may act a while after it was
// left. The call has all of its time and ends half of that before the Deadline, also where it
// took long until it was sent: then the Deadline is written again.
func TestEngineCallsEndBeforeTheDeadline(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		step   lifecycle.Step
		takes  time.Duration
		writes int
	}{
		"AtOnce": {reason: "the Deadline leaves that much", step: lifecycle.Provision, takes: headStart, writes: 0},
		"Slow":   {reason: "longer than that", step: lifecycle.Provision, takes: headStart + time.Millisecond, writes: 1},
		"Later":  {reason: "the Deadline has passed", step: lifecycle.Deprovision, takes: time.Hour, writes: 1},
		"Poll":   {reason: "a poll has no intent", step: lifecycle.Poll, takes: time.Hour, writes: 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newSlowWorld(t, map[string]time.Duration{patchStatus: requests.Timeout - time.Millisecond})
			w.inBubble(func() {
				e := w.reconciler.engine
				s := &slowCaller{resource: w.reconciler.resourceOf(w.bindingHere()), takes: tc.takes}
				d := &lifecycle.Decision{Step: tc.step, Record: lifecycle.Record{ID: "binding-id", Operation: lifecycle.Provisioning, Deadline: e.deadline(headStart)}}
				intended := d.Record.Deadline
				e.call(w.Context(), s, nil, &attempt{decision: d, stored: s.object()})
				assert.Len(w, w.took(), tc.writes, tc.reason)
				assert.GreaterOrEqual(w, s.until.Sub(s.sent), e.timeout, "it has all of its time")
				if tc.step == lifecycle.Poll {
					return
				}
				if tc.writes > 0 {
					require.NotNil(w, w.bindingHere().Status.CallDeadline)
					intended = w.bindingHere().Status.CallDeadline.Time
				}
				assert.Equal(w, e.timeout/2, intended.Sub(s.until))
				assert.Equal(w, s.sent.Add(e.timeout+e.timeout/2), d.Record.Deadline, "it is known now when it was sent")
			})
		})
	}
}

// A controller that finds an intent after a crash waits for no longer than the API server was slow: not
// for as long as a request to it may take.
func TestEngineWritesNoDeadlineTooLate(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason       string
		takes, write time.Duration
		most         time.Duration
		writes       int
	}{
		"ALittle": {"the head start was just too short", 1100 * time.Millisecond, 100 * time.Millisecond, 2100 * time.Millisecond, 1},
		"Slow":    {"the write is as slow as what was before", 8 * time.Second, 8 * time.Second, 8 * time.Second, 1},
		"Slower":  {"what comes next takes longer than all before", 2 * time.Second, 20 * time.Second, 24 * time.Second, 2},
		"Longest": {"no request takes longer than its time", time.Hour, requests.Timeout - time.Millisecond, time.Millisecond, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newSlowWorld(t, map[string]time.Duration{patchStatus: tc.write})
			w.inBubble(func() {
				e := w.reconciler.engine
				s := &slowCaller{resource: w.reconciler.resourceOf(w.bindingHere()), takes: tc.takes}
				d := &lifecycle.Decision{Step: lifecycle.Provision, Record: lifecycle.Record{ID: "binding-id", Operation: lifecycle.Provisioning, Deadline: e.deadline(headStart)}}
				e.call(w.Context(), s, nil, &attempt{decision: d, stored: s.object(), facts: lifecycle.Facts{Now: time.Now()}})
				assert.Len(w, w.took(), tc.writes, tc.reason)
				require.NotNil(w, w.bindingHere().Status.CallDeadline)
				stored := w.bindingHere().Status.CallDeadline.Time
				assert.LessOrEqual(w, stored.Sub(s.sent)-e.timeout-e.timeout/2, tc.most, tc.reason)
				assert.GreaterOrEqual(w, s.until.Sub(s.sent), e.timeout, "it has all of its time")
			})
		})
	}
}

// A binding that is changed while its call is prepared is looked at again: nothing is sent.
func TestEngineLeavesWhatWasChangedMeanwhile(t *testing.T) {
	t.Parallel()
	w := newSlowWorld(t, map[string]time.Duration{getInstance: 10 * time.Second})
	w.inBubble(func() {
		go func() {
			<-time.After(5 * time.Second)
			b := w.bindingHere()
			b.Labels = map[string]string{"changed": "meanwhile"}
			assert.NoError(w, w.cache.Update(w.Context(), b))
		}()
		b, _ := w.pass()
		assert.Empty(w, w.broker.Calls())
		assert.Empty(w, b.Status.CurrentOperation)
		assert.Nil(w, b.Status.CallDeadline)
		ready, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionReady)
		assert.Equal(w, "ErrorCallingAPIServer", ready.Reason)
		w.slow = nil
		assert.NotNil(w, w.retry().Status.Binding)
	})
}
