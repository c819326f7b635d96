package lifecycle

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
)

func TestBackoff(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason   string
		failures int32
		jitter   float64
		wish     time.Duration
		want     time.Duration
	}{
		"First":        {"a second", 1, 0, 0, time.Second},
		"None":         {"as the first", 0, 0, 0, time.Second},
		"Doubles":      {"1, 2, 4, 8", 4, 0, 0, 8 * time.Second},
		"Jitter":       {"half of a quarter is taken away", 4, 0.5, 0, 7 * time.Second},
		"MostJitter":   {"less than a quarter", 4, 0.999, 0, 8*time.Second - 1998*time.Millisecond},
		"Bound":        {"no longer than an hour", 30, 0, 0, time.Hour},
		"Many":         {"no overflow", 1 << 30, 0, 0, time.Hour},
		"Wish":         {"the broker's wish is granted", 1, 0.5, time.Hour, time.Hour},
		"SmallerWish":  {"but the retry does not come earlier", 10, 0, time.Second, 512 * time.Second},
		"NegativeWish": {"nor for nonsense", 1, 0, -time.Hour, time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, (&Facts{Jitter: tc.jitter}).Backoff(tc.failures, tc.wish), tc.reason)
		})
	}
}

func TestBackoffIsBounded(t *testing.T) {
	t.Parallel()
	f := &Facts{MaxRetry: 3 * time.Second}
	assert.Equal(t, 2*time.Second, f.Backoff(2, 0))
	assert.Equal(t, 3*time.Second, f.Backoff(9, 0))
	assert.Equal(t, time.Minute, f.Backoff(9, time.Minute), "the broker's wish is granted all the same")
}

// Objects that fail alike share their attempts: 5,000 make fewer than 2.5 in a second.
func TestBackoffIsShared(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason   string
		facts    Facts
		failures int32
		wish     time.Duration
		want     time.Duration
	}{
		"First":      {reason: "one failure says little", facts: Facts{AlsoFailing: 5000}, failures: 1, want: time.Second},
		"Second":     {reason: "two a second", facts: Facts{AlsoFailing: 5000}, failures: 2, want: 2500 * time.Second},
		"Jitter":     {reason: "as ever", facts: Facts{AlsoFailing: 5000, Jitter: 0.5}, failures: 2, want: 2187500 * time.Millisecond},
		"Few":        {reason: "its own wait is longer", facts: Facts{AlsoFailing: 4}, failures: 3, want: 4 * time.Second},
		"Bound":      {reason: "no longer than an hour", facts: Facts{AlsoFailing: 1 << 30}, failures: 2, want: time.Hour},
		"GivenBound": {reason: "no longer than the flag says", facts: Facts{AlsoFailing: 5000, MaxRetry: time.Minute}, failures: 2, want: time.Minute},
		"Wish":       {reason: "the broker's wish is granted", facts: Facts{AlsoFailing: 5000}, failures: 2, wish: 2 * time.Hour, want: 2 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, tc.facts.Backoff(tc.failures, tc.wish), tc.reason)
		})
	}
	const objects = 5000
	var sum time.Duration
	for i := range objects {
		sum += (&Facts{AlsoFailing: objects, Jitter: float64(i) / objects}).Backoff(9, 0)
	}
	mean := sum.Seconds() / objects
	assert.Less(t, objects/mean, 2.5, "attempts in a second")
}

// What is not the broker's answer to the request is tried again within five minutes; what is, within an hour.
func TestOnlyAnswersAreWaitedOut(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason  string
		result  CallResult
		secrets bool
		want    time.Duration
	}{
		"Fault":       {reason: "it is of the plan", result: CallResult{Err: &osb.Error{Kind: osb.BrokerFault, StatusCode: 500}}, want: time.Hour},
		"Unavailable": {reason: "so is this", result: CallResult{Err: &osb.Error{Kind: osb.Unavailable, StatusCode: 503}}, want: time.Hour},
		"NotFound":    {reason: "and this", result: CallResult{Err: &osb.Error{Kind: osb.NotFound, StatusCode: 404}}, want: time.Hour},
		"Malformed":   {reason: "and this", result: CallResult{Err: &osb.Error{Kind: osb.BrokerFault, StatusCode: 201, Malformed: true}}, want: time.Hour},
		"Auth":        {reason: "a Secret is corrected, and no watch tells of it", result: CallResult{Err: &osb.Error{Kind: osb.Auth, StatusCode: 401}}, want: MaxOtherRetry},
		"Timeout":     {reason: "it did not answer", result: CallResult{Err: &osb.Error{Kind: osb.MaybeReceived}}, want: MaxOtherRetry},
		"APIServer":   {reason: "it was not asked", result: CallResult{Err: &APIError{Err: errors.New("away")}}, want: MaxOtherRetry},
		"NoSecret":    {reason: "it was not asked", result: CallResult{Err: errors.New("no Secret")}, want: MaxOtherRetry},
		"NotStored":   {reason: "it did all of it", result: CallResult{Response: &osb.Response{Created: true}, Credentials: NotStored, StoreProblem: "no"}, want: MaxOtherRetry},
		"Secrets":     {reason: "a Secret is corrected, and no watch tells of it", result: CallResult{Err: &osb.Error{Kind: osb.BrokerFault, StatusCode: 500}}, secrets: true, want: MaxOtherRetry},
		"Concurrency": {reason: "it is busy", result: CallResult{Err: &osb.Error{Kind: osb.Concurrency, StatusCode: 422}}, want: concurrentRetry},
		"NeverSent":   {reason: "the queue has pauses", result: CallResult{Err: &osb.Error{Kind: osb.NeverSent}}, want: unreachedRetry},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, minted := range []bool{true, false} { // with a mitigation, and without
				kind := Binding
				a := newSequence(t, scenario{kind: kind, minted: minted})
				a.resource.Record.Retries, a.resource.Record.ObservedGeneration = 20, a.resource.Generation
				f := a.facts()
				f.Jitter, f.FromSecrets = 0, tc.secrets
				a.doesWith(Provision, f).responds(tc.result)
				if a.resource.Record.Mitigating {
					f = a.later()
					a.now, f.Jitter, f.FromSecrets = f.Now, 0, tc.secrets
					a.doesWith(MitigateOrphan, f).answers(osb.Response{})
				}
				assert.Equal(t, tc.want, a.outcome.Record.NextRetry.Sub(a.now), "%s; minted: %t", tc.reason, minted)
			}
		})
	}
}

// What is woken does not wait for its time, unless something else is waited for than a better answer.
func TestWoken(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		goes   func(*sequence)
		want   Step
	}{
		"Provision": {"it is made", func(a *sequence) {
			a.does(Provision).fails(osb.Error{Kind: osb.NotFound, StatusCode: 404})
		}, Provision},
		"Update": {"it is changed", func(a *sequence) {
			a.does(Provision).answers(osb.Response{Created: true})
			a.edit()
			a.does(Update).fails(osb.Error{Kind: osb.Unavailable, StatusCode: 503})
		}, Update},
		"Deprovision": {"it is removed", func(a *sequence) {
			a.does(Provision).answers(osb.Response{Created: true})
			a.resource.Deleting = true
			a.does(Deprovision).fails(osb.Error{Kind: osb.BrokerFault, StatusCode: 500})
		}, Deprovision},
		"Mitigation": {"what is left is removed", func(a *sequence) {
			a.does(Provision).fails(osb.Error{Kind: osb.BrokerFault, StatusCode: 500})
			a.does(MitigateOrphan).fails(osb.Error{Kind: osb.BrokerFault, StatusCode: 500})
		}, MitigateOrphan},
		"Poll": {"a poll is made when the broker asked for it", func(a *sequence) {
			a.does(Provision).answers(osb.Response{Async: true, RetryAfter: time.Hour})
		}, Rest},
		"Deadline": {"an earlier request may still be acted on", func(a *sequence) {
			a.does(Provision).fails(osb.Error{Kind: osb.MaybeReceived})
			a.does(MitigateOrphan).fails(osb.Error{Kind: osb.Gone, StatusCode: 410})
		}, Rest},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newSequence(t, scenario{kind: Instance, minted: true})
			tc.goes(a)
			f := a.facts()
			require.Equal(t, Rest, Next(a.resource, f).Step)
			f.Woken = true
			assert.Equal(t, tc.want.String(), Next(a.resource, f).Step.String(), tc.reason)
		})
	}
}

func TestPollAfter(t *testing.T) {
	t.Parallel()
	assert.Equal(t, time.Second, PollAfter(0, 0))
	assert.Equal(t, 3*time.Second, PollAfter(time.Minute, 0), "a twentieth of the time that it took")
	assert.Equal(t, 30*time.Second, PollAfter(24*time.Hour, 0), "never the old 17 minutes")
	assert.Equal(t, time.Hour, PollAfter(time.Minute, time.Hour), "the broker's wish")
	assert.Equal(t, time.Second, PollAfter(-time.Hour, -time.Hour))
}

func TestConcurrencyIsTriedSoon(t *testing.T) {
	t.Parallel()
	a := ready(t, anInstance)
	a.resource.Deleting = true
	for range 12 {
		a.does(Deprovision).fails(osb.Error{Kind: osb.Concurrency, StatusCode: 422})
		require.LessOrEqual(t, a.outcome.After, concurrentRetry)
		a.now = a.now.Add(time.Minute)
	}
	beside := &call{facts: &Facts{AlsoFailing: 5000}, record: Record{Retries: 12}}
	assert.LessOrEqual(t, beside.backoff(&osb.Error{Kind: osb.Concurrency}), concurrentRetry, "others have other instances")
}

// What could not be sent to a broker is tried again soon after the broker is back, however
// long it was away. What was kept from being sent on this side is nothing that a broker's
// pause spares anyone.
func TestUnreachedIsTriedSoon(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		err    error
		longer bool
	}{
		"NeverSent":     {reason: "the broker's queue has the pauses", err: &osb.Error{Kind: osb.NeverSent}},
		"Wrapped":       {reason: "also within another error", err: fmt.Errorf("cannot bind: %w", &osb.Error{Kind: osb.NeverSent})},
		"MaybeReceived": {reason: "the broker may work on it", err: &osb.Error{Kind: osb.MaybeReceived}, longer: true},
		"Unavailable":   {reason: "it answered", err: &osb.Error{Kind: osb.Unavailable, StatusCode: 503}, longer: true},
		"Secret":        {reason: "the broker was not asked: each try reads a Secret", err: errors.New("no Secret"), longer: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, longest := range []time.Duration{0, 2 * time.Second, time.Minute} {
				a := ready(t, anInstance)
				a.resource.Deleting = true
				a.does(Deprovision)
				for range 12 {
					a.decided.MaxRetry = longest
					a.responds(CallResult{Err: tc.err})
					a.now = a.now.Add(time.Hour)
					a.does(Deprovision)
				}
				wait := a.outcome.After
				assert.Equal(t, tc.longer && longest != 2*time.Second, wait > unreachedRetry, tc.reason)
				assert.Greater(t, wait, time.Second, "not at once")
				if longest > 0 {
					assert.LessOrEqual(t, wait, longest)
				}
			}
		})
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	base := func() *Desired {
		a := desired("a")
		a.MaintenanceVersion = "1.0.0"
		return a
	}
	cases := map[string]struct {
		reason       string
		change       func(a *Desired, applied *Request)
		inProgress   func(s *Request)
		want         Changes
		wantAnything bool
	}{
		"Nothing":           {reason: "the same", change: func(*Desired, *Request) {}},
		"Plan":              {reason: "another plan", change: func(a *Desired, _ *Request) { a.PlanExternalID = "b" }, want: Changes{Plan: true}, wantAnything: true},
		"PlanAndVersion":    {reason: "another plan has another version", change: func(a *Desired, _ *Request) { a.PlanExternalID, a.MaintenanceVersion = "b", "7.0.0" }, want: Changes{Plan: true, Maintenance: true}, wantAnything: true},
		"Parameters":        {reason: "other parameters", change: func(a *Desired, _ *Request) { a.ParameterChecksum = "b" }, want: Changes{Parameters: true}, wantAnything: true},
		"Context":           {reason: "another context", change: func(a *Desired, _ *Request) { a.ContextChecksum = "d" }, want: Changes{Context: true}, wantAnything: true},
		"ContextNotAllowed": {reason: "the offering takes none", change: func(a *Desired, _ *Request) { a.ContextChecksum, a.AllowContextUpdates = "d", false }},
		"ContextNotKnown":   {reason: "the retired catalog recorded none", change: func(_ *Desired, s *Request) { s.ContextChecksum = "" }},
		"Version":           {reason: "it was not requested", change: func(a *Desired, _ *Request) { a.MaintenanceVersion = "2.0.0" }},
		"VersionAskedFor":   {reason: "a user did", change: func(a *Desired, _ *Request) { a.MaintenanceVersion, a.UpdateRequests = "2.0.0", 1 }, want: Changes{Maintenance: true}, wantAnything: true},
		"AskedForNothing":   {reason: "there is nothing new", change: func(a *Desired, _ *Request) { a.UpdateRequests = 1 }},
		"NoVersion":         {reason: "the plan has none any more", change: func(a *Desired, _ *Request) { a.MaintenanceVersion, a.UpdateRequests = "", 1 }},
		"Unknown":           {reason: "what may be there differs", change: func(*Desired, *Request) {}, inProgress: func(s *Request) { s.ParameterChecksum = "b" }, want: Changes{Parameters: true}, wantAnything: true},
		"UnknownAndSame":    {reason: "there and back: the outcome is unknown", change: func(*Desired, *Request) {}, inProgress: func(*Request) {}, want: Changes{Plan: true, Parameters: true}, wantAnything: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked, applied := base(), base().Request
			tc.change(asked, &applied)
			resource := Resource{Record: Record{Exists: true, Applied: &applied}}
			if tc.inProgress != nil {
				resource.Record.InProgress = new(base().Request)
				tc.inProgress(resource.Record.InProgress)
			}
			got := resource.Changes(asked)
			assert.Equal(t, tc.want, got, tc.reason)
			assert.Equal(t, tc.wantAnything, got.Any(), tc.reason)
		})
	}
	assert.False(t, (&Resource{}).Changes(base()).Any(), "nothing is known of what is there")
}

// The way back to the plan in force is open, also where the catalog has closed it since and an
// update of unknown outcome may have left the plan.
func TestWayBackToThePlanInForce(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		asked string
		step  Step
		ready string
	}{
		"Back":    {asked: "plan", step: Update},
		"Another": {asked: "third", step: Rest, ready: "PlanNotUpdatable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := desired("a")
			applied, request := asked.Request, asked.Request
			applied.PlanExternalID, request.PlanExternalID = "plan", "other"
			asked.PlanExternalID, asked.PlanUpdatable = tc.asked, false
			resource := Resource{Kind: Instance, Generation: 2, Record: Record{ID: "id", Exists: true, Applied: &applied, InProgress: &request}}
			d := Next(resource, Facts{Now: epoch, Desired: asked})
			assert.Equal(t, tc.step, d.Step)
			if tc.ready != "" {
				ready, _ := v1beta1.FindCondition(d.Record.Conditions, v1beta1.ConditionReady)
				assert.Equal(t, tc.ready, ready.Reason)
			}
		})
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "ClassDefault", camel("class-default"))
	assert.Equal(t, "TheOnlyOne", camel("the only_one"))
	assert.Empty(t, camel("- -"))
	names := strings.Split("a b c d e f g h i j k l", " ")
	assert.Equal(t, "All associated ServiceBindings must be removed before this ServiceInstance can be deleted: a, b", blockedByBindings(names[:2]))
	assert.True(t, strings.HasSuffix(blockedByBindings(names), ": a, b, c, d, e, f, g, h, i, j and 2 more"))
	assert.Equal(t, "AuthFailed", words(Instance, Provision).reason(&osb.Error{Kind: osb.Auth, StatusCode: 401}))
	assert.Equal(t, "ProvisionCallFailed", words(Instance, Provision).reason(&osb.Error{StatusCode: 500}))
	assert.Equal(t, "ErrorCallingProvision", words(Instance, Provision).reason(&osb.Error{}))
	for step, want := range []string{"rest", "make", "change", "remove", "mitigate", "poll", "fetch", "release"} {
		assert.Equal(t, want, Step(step).String())
	}
}

// What the API server kept from being sent is told as that, whatever was to be sent, and is
// tried again.
func TestNotSentForTheAPIServersSake(t *testing.T) {
	t.Parallel()
	result := CallResult{Err: fmt.Errorf("cannot read Secret %q: %w", "n/s", &APIError{Text: "no answer", Err: errors.New("away")})}
	const says = `cannot read Secret "n/s": no answer`
	for name, tc := range map[string]struct {
		kind   Kind
		step   Step
		reason string
	}{
		"Provision":   {Instance, Provision, "ErrorCallingAPIServer"},
		"Update":      {Instance, Update, "ErrorCallingAPIServer"},
		"Deprovision": {Instance, Deprovision, "ErrorCallingAPIServer"},
		"Look":        {Instance, Fetch, "ErrorCallingAPIServer"},
		"Bind":        {Binding, Provision, "ErrorCallingAPIServer"},
		"Unbind":      {Binding, Deprovision, "ErrorCallingAPIServer"},
		"Mitigate":    {Binding, MitigateOrphan, "ErrorCallingAPIServer"},
		"Fetch":       {Binding, Fetch, "ErrorCallingAPIServer"},
		"Poll":        {Binding, Poll, "ErrorCallingAPIServer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := time.Now()
			record := Record{ID: "id", Operation: tc.step.operation(), Deadline: now.Add(time.Minute)}
			o := (&Resource{Kind: tc.kind}).HandleResult(Decision{Step: tc.step, Record: record}, result, Facts{Now: now, MaxPolling: time.Hour, MaxRetry: time.Minute})
			ready, _ := v1beta1.FindCondition(o.Record.Conditions, v1beta1.ConditionReady)
			working, _ := v1beta1.FindCondition(o.Record.Conditions, v1beta1.ConditionReconciling)
			assert.Equal(t, tc.reason, ready.Reason)
			assert.Contains(t, ready.Message+working.Message, says)
			assert.NotContains(t, ready.Message, "call the broker")
			assert.Positive(t, o.After, "it is tried again")
			assert.False(t, o.Record.Mitigating, "nothing is to be undone")
			assert.Zero(t, o.Record.Deadline, "nothing is on its way")
		})
	}
	assert.Equal(t, "away", (&APIError{Err: errors.New("away")}).Error())
}

func TestProblems(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason     string
		problem    Problem
		ready      v1beta1.ConditionStatus
		has, hasnt string
	}{
		"Waits":     {"it may go away", Problem{Reason: "A", Message: "b", Waits: true}, v1beta1.ConditionUnknown, v1beta1.ConditionReconciling, v1beta1.ConditionStalled},
		"Stuck":     {"someone must act", Problem{Reason: "A", Message: "b"}, v1beta1.ConditionFalse, v1beta1.ConditionStalled, v1beta1.ConditionReconciling},
		"Undecided": {"there is no plan", Problem{Reason: "A", Message: "b", Waits: true, Undecided: true}, v1beta1.ConditionUnknown, v1beta1.ConditionReconciling, v1beta1.ConditionStalled},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newSequence(t, anInstance)
			f := a.facts()
			f.Desired, f.Problem = nil, &tc.problem
			a.doesWith(Rest, f)
			r := &a.resource.Record
			c, _ := v1beta1.FindCondition(r.Conditions, v1beta1.ConditionReady)
			assert.Equal(t, tc.ready, c.Status, tc.reason)
			assert.EqualValues(t, 1, c.ObservedGeneration)
			assert.True(t, r.holds(tc.has))
			assert.False(t, r.holds(tc.hasnt))
			resolved, ok := v1beta1.FindCondition(r.Conditions, v1beta1.ConditionResolved)
			assert.Equal(t, tc.problem.Undecided, ok)
			assert.NotEqual(t, v1beta1.ConditionTrue, resolved.Status)
			a.does(Provision).answers(osb.Response{Created: true})
			assert.True(t, a.resource.Record.holds(v1beta1.ConditionReady))
			f = a.facts()
			f.Desired.Rule = ""
			a.resource.Generation++
			a.doesWith(Rest, f)
			_, ok = v1beta1.FindCondition(a.resource.Record.Conditions, v1beta1.ConditionResolved)
			assert.False(t, ok, "no rule, no condition")
		})
	}
}

// A change of plan is told by the rule of the new decision, also while it is under way.
func TestResolvedAfterAPlanChange(t *testing.T) {
	t.Parallel()
	a := ready(t, anInstance)
	by := func(r *Record) string {
		resolved, _ := v1beta1.FindCondition(r.Conditions, v1beta1.ConditionResolved)
		return resolved.Reason
	}
	require.Equal(t, "ClassDefault", by(&a.resource.Record))
	a.resource.Generation++
	f := a.facts()
	f.Desired.PlanExternalID, f.Desired.Rule = "other", "named"
	a.doesWith(Update, f)
	assert.Equal(t, "Named", by(&a.decision.Record))
	a.answers(osb.Response{})
	assert.Equal(t, "Named", by(&a.resource.Record))
}

func TestHolders(t *testing.T) {
	t.Parallel()
	a := ready(t, anInstance)
	a.resource.Deleting = true
	f := a.facts()
	f.Holders = []string{"one"}
	a.doesWith(Rest, f)
	c, _ := v1beta1.FindCondition(a.resource.Record.Conditions, v1beta1.ConditionReady)
	assert.Equal(t, reasonBlocked, c.Reason)
	a.does(Deprovision)
}

// Status holds all of a record, but for parts of a second.
func TestStatusRoundTrip(t *testing.T) {
	t.Parallel()
	sent := func() *Request {
		return &Request{
			BrokerTarget:      v1beta1.BrokerTarget{ServiceBrokerName: "b", ClassExternalID: "c", PlanExternalID: "p"},
			Parameters:        &runtime.RawExtension{Raw: []byte(`{}`)},
			ParameterChecksum: "f", User: &v1beta1.UserInfo{Username: "ann"},
		}
	}
	whole := epoch.Add(time.Hour)
	for _, operation := range []Operation{NoOperation, Provisioning, Updating, Deprovisioning} {
		for _, owed := range []DeprovisionStatus{DeprovisionNotRequired, DeprovisionRequired, DeprovisionSucceeded} {
			record := Record{
				Operation: operation, Async: true, Key: new("key"), Mitigating: true, Started: whole, Deadline: whole.Add(time.Microsecond),
				Retries: 3, NextRetry: whole, ID: "id", Exists: true, DeprovisionStatus: owed, FetchRequired: true, InProgress: sent(), Applied: sent(),
				Conditions:         v1beta1.SetCondition(nil, v1beta1.NotReady("A", "b"), 3, metav1.Time{Time: whole}),
				ObservedGeneration: 3, ReconciledGeneration: 2,
			}
			instance, binding := record, record
			for _, s := range []*Request{instance.InProgress, instance.Applied} {
				s.PlanName, s.ContextChecksum, s.MaintenanceVersion, s.UpdateRequests = "plan", "c", "1.0.0", 4
			}
			instance.Unusable, instance.DashboardURL = true, new("https://d")
			binding.SecretName, binding.InProgress, binding.Applied = "secret", sent(), sent()
			binding.Applied.InstanceID = "instance"
			resource := Resource{Kind: Instance, SpecID: "id"}
			assert.Equal(t, instance, resource.stored(&instance).Record)
			assert.Equal(t, "A", instance.InstanceStatus(v1beta1.ServiceInstanceStatus{}).LastConditionState)
			instance.Exists, instance.Absent = false, true
			assert.Equal(t, instance, resource.stored(&instance).Record)
			if operation != Updating {
				resource.Kind = Binding
				assert.Equal(t, binding, resource.stored(&binding).Record)
			}
		}
	}
	assert.Equal(t, whole.Add(time.Second), storedTime(whole.Add(time.Millisecond)).Time, "never earlier than it is")
	over := v1beta1.ServiceInstanceStatus{UserSpecifiedPlanName: "small"}
	assert.Equal(t, "small", (&Record{}).InstanceStatus(over).UserSpecifiedPlanName, "what is none of its business stays")
}

// What the retired catalog stored is understood.
func TestRetiredStatus(t *testing.T) {
	t.Parallel()
	resource := OfInstance(&v1beta1.ServiceInstance{
		Spec: v1beta1.ServiceInstanceSpec{ExternalID: "old"},
		Status: v1beta1.ServiceInstanceStatus{
			ProvisionStatus: v1beta1.Provisioned, DeprovisionStatus: v1beta1.DeprovisionFailed,
			ExternalProperties: &v1beta1.ServiceInstancePropertiesState{ClusterServicePlanExternalID: "plan", ClusterServicePlanExternalName: "small"},
		},
	})
	assert.True(t, resource.mustDeprovision(), "what it gave up is tried again")
	assert.False(t, resource.own())
	assert.Equal(t, "plan", resource.Record.Target().PlanExternalID)
	assert.Equal(t, "small", resource.Record.Target().PlanName)
	// An operation without a recorded start has its full time from now on.
	resource.Record.Async, resource.Record.Operation = true, Updating
	f := Facts{Now: epoch, MaxPolling: time.Hour}
	o := resource.HandleResult(Next(resource, f), CallResult{Poll: &osb.LastOperation{State: osb.InProgress}}, f)
	assert.True(t, o.Record.Async)
	assert.Equal(t, epoch, o.Record.Started)
	binding := OfBinding(&v1beta1.ServiceBinding{Status: v1beta1.ServiceBindingStatus{UnbindStatus: v1beta1.UnbindFailed}})
	assert.True(t, binding.mustDeprovision())
}
