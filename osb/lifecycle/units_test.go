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
		"Bound":        {"no longer than five minutes", 30, 0, 0, 5 * time.Minute},
		"Many":         {"no overflow", 1 << 30, 0, 0, 5 * time.Minute},
		"Wish":         {"the broker's wish is granted", 1, 0.5, time.Hour, time.Hour},
		"SmallerWish":  {"but nobody comes earlier for it", 10, 0, time.Second, 5 * time.Minute},
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
	a.thing.Deleting = true
	for range 12 {
		a.does(Remove).fails(osb.Error{Kind: osb.Concurrency, StatusCode: 422})
		require.LessOrEqual(t, a.outcome.After, concurrentRetry)
		a.now = a.now.Add(time.Minute)
	}
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
				a.thing.Deleting = true
				a.does(Remove)
				for range 12 {
					a.decided.MaxRetry = longest
					a.replies(Reply{Err: tc.err})
					a.now = a.now.Add(time.Hour)
					a.does(Remove)
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
	base := func() *Ask {
		a := ask("a")
		a.MaintenanceVersion = "1.0.0"
		return a
	}
	cases := map[string]struct {
		reason       string
		change       func(a *Ask, accepted *Sent)
		inProgress   func(s *Sent)
		want         Changes
		wantAnything bool
	}{
		"Nothing":           {reason: "the same", change: func(*Ask, *Sent) {}},
		"Plan":              {reason: "another plan", change: func(a *Ask, _ *Sent) { a.PlanExternalID = "b" }, want: Changes{Plan: true}, wantAnything: true},
		"PlanAndVersion":    {reason: "another plan has another version", change: func(a *Ask, _ *Sent) { a.PlanExternalID, a.MaintenanceVersion = "b", "7.0.0" }, want: Changes{Plan: true, Maintenance: true}, wantAnything: true},
		"Parameters":        {reason: "other parameters", change: func(a *Ask, _ *Sent) { a.ParameterChecksum = "b" }, want: Changes{Parameters: true}, wantAnything: true},
		"Context":           {reason: "another context", change: func(a *Ask, _ *Sent) { a.ContextChecksum = "d" }, want: Changes{Context: true}, wantAnything: true},
		"ContextNotAllowed": {reason: "the offering takes none", change: func(a *Ask, _ *Sent) { a.ContextChecksum, a.AllowContextUpdates = "d", false }},
		"ContextNotKnown":   {reason: "the retired catalog recorded none", change: func(_ *Ask, s *Sent) { s.ContextChecksum = "" }},
		"Version":           {reason: "nobody asked for it", change: func(a *Ask, _ *Sent) { a.MaintenanceVersion = "2.0.0" }},
		"VersionAskedFor":   {reason: "a user did", change: func(a *Ask, _ *Sent) { a.MaintenanceVersion, a.UpdateRequests = "2.0.0", 1 }, want: Changes{Maintenance: true}, wantAnything: true},
		"AskedForNothing":   {reason: "there is nothing new", change: func(a *Ask, _ *Sent) { a.UpdateRequests = 1 }},
		"NoVersion":         {reason: "the plan has none any more", change: func(a *Ask, _ *Sent) { a.MaintenanceVersion, a.UpdateRequests = "", 1 }},
		"Unknown":           {reason: "what may be there differs", change: func(*Ask, *Sent) {}, inProgress: func(s *Sent) { s.ParameterChecksum = "b" }, want: Changes{Parameters: true}, wantAnything: true},
		"UnknownAndSame":    {reason: "there and back: nobody knows", change: func(*Ask, *Sent) {}, inProgress: func(*Sent) {}, want: Changes{Plan: true, Parameters: true}, wantAnything: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked, accepted := base(), base().Sent
			tc.change(asked, &accepted)
			thing := Thing{Record: Record{Exists: true, Accepted: &accepted}}
			if tc.inProgress != nil {
				thing.Record.InProgress = new(base().Sent)
				tc.inProgress(thing.Record.InProgress)
			}
			got := thing.Changes(asked)
			assert.Equal(t, tc.want, got, tc.reason)
			assert.Equal(t, tc.wantAnything, got.Any(), tc.reason)
		})
	}
	assert.False(t, (&Thing{}).Changes(base()).Any(), "nothing is known of what is there")
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
		"Back":    {asked: "plan", step: Change},
		"Another": {asked: "third", step: Rest, ready: "PlanNotUpdatable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := ask("a")
			accepted, sent := asked.Sent, asked.Sent
			accepted.PlanExternalID, sent.PlanExternalID = "plan", "other"
			asked.PlanExternalID, asked.PlanUpdatable = tc.asked, false
			thing := Thing{Kind: Instance, Generation: 2, Record: Record{ID: "id", Exists: true, Accepted: &accepted, InProgress: &sent}}
			d := Next(thing, Facts{Now: epoch, Ask: asked})
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
	assert.Equal(t, "AuthFailed", words(Instance, Make).reason(&osb.Error{Kind: osb.Auth, StatusCode: 401}))
	assert.Equal(t, "ProvisionCallFailed", words(Instance, Make).reason(&osb.Error{StatusCode: 500}))
	assert.Equal(t, "ErrorCallingProvision", words(Instance, Make).reason(&osb.Error{}))
	for step, want := range []string{"rest", "make", "change", "remove", "mitigate", "poll", "fetch", "release"} {
		assert.Equal(t, want, Step(step).String())
	}
}

// What the API server kept from being sent is told as that, whatever was to be sent, and is
// tried again.
func TestNotSentForTheAPIServersSake(t *testing.T) {
	t.Parallel()
	reply := Reply{Err: fmt.Errorf("cannot read Secret %q: %w", "n/s", &APIError{Text: "no answer", Err: errors.New("away")})}
	const says = `cannot read Secret "n/s": no answer`
	for name, tc := range map[string]struct {
		kind   Kind
		step   Step
		reason string
	}{
		"Provision":   {Instance, Make, "ErrorCallingAPIServer"},
		"Update":      {Instance, Change, "ErrorCallingAPIServer"},
		"Deprovision": {Instance, Remove, "ErrorCallingAPIServer"},
		"Look":        {Instance, Fetch, "ErrorCallingAPIServer"},
		"Bind":        {Binding, Make, "ErrorCallingAPIServer"},
		"Unbind":      {Binding, Remove, "ErrorCallingAPIServer"},
		"Mitigate":    {Binding, Mitigate, "ErrorCallingAPIServer"},
		"Fetch":       {Binding, Fetch, "ErrorCallingAPIServer"},
		"Poll":        {Binding, Poll, "Binding"}, // it still is
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := time.Now()
			record := Record{ID: "id", Operation: tc.step.operation(), Deadline: now.Add(time.Minute)}
			o := (&Thing{Kind: tc.kind}).Replied(Decision{Step: tc.step, Record: record}, reply, Facts{Now: now, MaxPolling: time.Hour, MaxRetry: time.Minute})
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
			a := newTale(t, anInstance)
			f := a.facts()
			f.Ask, f.Problem = nil, &tc.problem
			a.doesWith(Rest, f)
			r := &a.thing.Record
			c, _ := v1beta1.FindCondition(r.Conditions, v1beta1.ConditionReady)
			assert.Equal(t, tc.ready, c.Status, tc.reason)
			assert.EqualValues(t, 1, c.ObservedGeneration)
			assert.True(t, r.holds(tc.has))
			assert.False(t, r.holds(tc.hasnt))
			resolved, ok := v1beta1.FindCondition(r.Conditions, v1beta1.ConditionResolved)
			assert.Equal(t, tc.problem.Undecided, ok)
			assert.NotEqual(t, v1beta1.ConditionTrue, resolved.Status)
			a.does(Make).answers(osb.Response{Created: true})
			assert.True(t, a.thing.Record.holds(v1beta1.ConditionReady))
			f = a.facts()
			f.Ask.Rule = ""
			a.thing.Generation++
			a.doesWith(Rest, f)
			_, ok = v1beta1.FindCondition(a.thing.Record.Conditions, v1beta1.ConditionResolved)
			assert.False(t, ok, "no rule, no condition")
		})
	}
}

func TestHolders(t *testing.T) {
	t.Parallel()
	a := ready(t, anInstance)
	a.thing.Deleting = true
	f := a.facts()
	f.Holders = []string{"one"}
	a.doesWith(Rest, f)
	c, _ := v1beta1.FindCondition(a.thing.Record.Conditions, v1beta1.ConditionReady)
	assert.Equal(t, reasonBlocked, c.Reason)
	a.does(Remove)
}

// Status holds all of a record, but for parts of a second.
func TestStatusRoundTrip(t *testing.T) {
	t.Parallel()
	sent := func() *Sent {
		return &Sent{
			BrokerTarget:      v1beta1.BrokerTarget{ServiceBrokerName: "b", ClassExternalID: "c", PlanExternalID: "p"},
			Parameters:        &runtime.RawExtension{Raw: []byte(`{}`)},
			ParameterChecksum: "f", User: &v1beta1.UserInfo{Username: "ann"},
		}
	}
	whole := epoch.Add(time.Hour)
	for _, operation := range []Operation{NoOperation, Making, Changing, Removing} {
		for _, owed := range []Owed{NotOwed, IsOwed, WasPaid} {
			record := Record{
				Operation: operation, Async: true, Key: new("key"), Mitigating: true, Started: whole, Deadline: whole.Add(time.Microsecond),
				Retries: 3, NextRetry: whole, ID: "id", Exists: true, Owed: owed, FetchRequired: true, InProgress: sent(), Accepted: sent(),
				Conditions:         v1beta1.SetCondition(nil, v1beta1.NotReady("A", "b"), 3, metav1.Time{Time: whole}),
				ObservedGeneration: 3, ReconciledGeneration: 2,
			}
			instance, binding := record, record
			for _, s := range []*Sent{instance.InProgress, instance.Accepted} {
				s.PlanName, s.ContextChecksum, s.MaintenanceVersion, s.UpdateRequests = "plan", "c", "1.0.0", 4
			}
			instance.Unusable, instance.DashboardURL = true, new("https://d")
			binding.SecretName, binding.InProgress, binding.Accepted = "secret", sent(), sent()
			binding.Accepted.InstanceID = "instance"
			thing := Thing{Kind: Instance, SpecID: "id"}
			assert.Equal(t, instance, thing.stored(&instance).Record)
			assert.Equal(t, "A", instance.InstanceStatus(v1beta1.ServiceInstanceStatus{}).LastConditionState)
			instance.Exists, instance.Absent = false, true
			assert.Equal(t, instance, thing.stored(&instance).Record)
			if operation != Changing {
				thing.Kind = Binding
				assert.Equal(t, binding, thing.stored(&binding).Record)
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
	thing := OfInstance(&v1beta1.ServiceInstance{
		Spec: v1beta1.ServiceInstanceSpec{ExternalID: "old"},
		Status: v1beta1.ServiceInstanceStatus{
			ProvisionStatus: v1beta1.Provisioned, DeprovisionStatus: v1beta1.DeprovisionFailed,
			ExternalProperties: &v1beta1.ServiceInstancePropertiesState{ClusterServicePlanExternalID: "plan", ClusterServicePlanExternalName: "small"},
		},
	})
	assert.True(t, thing.owes(), "what it gave up is tried again")
	assert.False(t, thing.own())
	assert.Equal(t, "plan", thing.Record.Target().PlanExternalID)
	assert.Equal(t, "small", thing.Record.Target().PlanName)
	// An operation of which nobody wrote when it began has all its time from now on.
	thing.Record.Async, thing.Record.Operation = true, Changing
	f := Facts{Now: epoch, MaxPolling: time.Hour}
	o := thing.Replied(Next(thing, f), Reply{Poll: &osb.LastOperation{State: osb.InProgress}}, f)
	assert.True(t, o.Record.Async)
	assert.Equal(t, epoch, o.Record.Started)
	binding := OfBinding(&v1beta1.ServiceBinding{Status: v1beta1.ServiceBindingStatus{UnbindStatus: v1beta1.UnbindFailed}})
	assert.True(t, binding.owes())
}
