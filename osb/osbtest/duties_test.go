package osbtest_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// step is one request, what is done before it, and whether it may go wrong.
type step struct {
	script func(p *platform)
	call   *request
}

func steps(calls ...*request) []step {
	var list []step
	for _, call := range calls {
		list = append(list, step{call: call})
	}
	return list
}

func next(verb osbtest.Verb, fault osbtest.Fault) func(*platform) {
	return func(p *platform) { p.broker.Next(verb, fault) }
}

func without(key string) func(*request) {
	return func(r *request) { delete(r.body, key); r.query.Del(key) }
}

func header(key, value string) func(*request) {
	return func(r *request) { r.header.Set(key, value) }
}

func field(key string, value any) func(*request) {
	return func(r *request) { r.body[key] = value }
}

// TestDuties has each duty broken once and kept once: broken are the rules that a sequence
// breaks with its last call, none where it keeps them.
func TestDuties(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		steps  []step
		broken []string
	}{
		"AllKept": {reason: "a whole life, lawfully", steps: steps(getCatalog(), provision("i"), fetch("i"), update("i"), bind("i", "b"), fetch("i/service_bindings/b"),
			unbind("i", "b"), deprovision("i"))},
		"M1NoVersion":   {reason: "P01", steps: steps(getCatalog().with(func(r *request) { r.header.Del("X-Broker-Api-Version") })), broken: []string{"M1"}},
		"M1NoRequestID": {reason: "P05", steps: steps(getCatalog().with(func(r *request) { r.header.Del("X-Broker-Api-Request-Identity") })), broken: []string{"M1"}},
		"M1ContentType": {reason: "P07", steps: steps(provision("i").with(header("Content-Type", "text/plain"))), broken: []string{"M1"}},
		"M2NoIdentity":  {reason: "P02", steps: steps(provision("i").mitigates()), broken: []string{"M2"}},
		"M2Catalog":     {reason: "P06", steps: steps(getCatalog().user()), broken: []string{"M2"}},
		"M2PollMay":     {reason: "P06 leaves it open", steps: []step{{call: provision("i")}, {call: poll("i", nil).user()}}},
		"M2NotBase64":   {reason: "P03", steps: steps(provision("i").with(header("X-Broker-Api-Originating-Identity", "kubernetes ???"))), broken: []string{"M2"}},
		"M2KeyAbsent": {reason: "P03: {\"username\":\"a\"} alone", steps: steps(provision("i").with(header("X-Broker-Api-Originating-Identity", "kubernetes eyJ1c2VybmFtZSI6ImEifQ=="))),
			broken: []string{"M2"}},
		"M2Platform": {reason: "P02: the context's platform", steps: steps(provision("i").with(func(r *request) {
			r.header.Set("X-Broker-Api-Originating-Identity", "other"+userHeader()[len("kubernetes"):])
		})), broken: []string{"M2"}},
		"M3NoPlan":          {reason: "P31", steps: steps(provision("i").with(without("plan_id"))), broken: []string{"M3"}},
		"M3NoSpace":         {reason: "P40", steps: steps(provision("i").with(field("space_guid", ""))), broken: []string{"M3"}},
		"M3DeleteNoPlan":    {reason: "P70", steps: steps(deprovision("i").with(without("plan_id"))), broken: []string{"M3"}},
		"M3UnknownService":  {reason: "P30", steps: steps(provision("i").with(field("service_id", "other"))), broken: []string{"M3"}},
		"M3UnknownPlan":     {reason: "P30", steps: steps(provision("i").with(field("plan_id", "other"))), broken: []string{"M3"}},
		"M3Context":         {reason: "profile", steps: steps(provision("i").with(field("context", object{"platform": "kubernetes", "namespace": "dev", "clusterid": "c"}))), broken: []string{"M3"}},
		"M3NoApp":           {reason: "P80", steps: steps(provision("i"), bind("i", "b").with(without("app_guid")).with(without("bind_resource"))), broken: []string{"M3"}},
		"M3NullParameters":  {reason: "P42", steps: steps(provision("i").with(field("parameters", nil))), broken: []string{"M3"}},
		"M3EmptyInfo":       {reason: "P42", steps: steps(provision("i").with(field("maintenance_info", object{}))), broken: []string{"M3"}},
		"M3EmptyID":         {reason: "P20", steps: steps(provision("")), broken: []string{"M3"}},
		"M3PollNoService":   {reason: "P100", steps: []step{{call: provision("i")}, {call: poll("i", nil).with(without("service_id"))}}, broken: []string{"M3"}},
		"M4NotAsync":        {reason: "P41", steps: steps(provision("i").with(without("accepts_incomplete"))), broken: []string{"M4"}},
		"M5Other":           {reason: "P100", steps: []step{{script: async(osbtest.Provision), call: provision("i")}, {call: poll("i", "other")}}, broken: []string{"M5"}},
		"M5None":            {reason: "P100", steps: []step{{script: async(osbtest.Provision), call: provision("i")}, {call: poll("i", nil)}}, broken: []string{"M5"}},
		"M6PollNewPlan":     {reason: "P100", steps: []step{{call: provision("i")}, {script: async(osbtest.Update), call: toLarge()}, {call: echo("i").set("plan_id", "large")}}, broken: []string{"M6"}},
		"M6PollOldPlan":     {reason: "P100", steps: []step{{call: provision("i")}, {script: async(osbtest.Update), call: toLarge()}, {call: echo("i")}}},
		"M6DeleteOtherPlan": {reason: "P70", steps: steps(provision("i"), toLarge(), deprovision("i")), broken: []string{"M6"}},
		"M6DeleteItsPlan":   {reason: "P70", steps: steps(provision("i"), toLarge(), deprovision("i").set("plan_id", "large"))},
		"M6Unbind":          {reason: "P70", steps: steps(provision("i"), bind("i", "b"), unbind("i", "b").set("plan_id", "large")), broken: []string{"M6"}},
		"M6Previous":        {reason: "P62", steps: steps(provision("i"), update("i").with(field("previous_values", object{"plan_id": ""}))), broken: []string{"M6"}},
		"M7SamePlan":        {reason: "P61", steps: steps(provision("i"), update("i").with(field("plan_id", "small"))), broken: []string{"M7"}},
		"M7SameParameters":  {reason: "P61", steps: steps(provision("i"), update("i").with(field("parameters", object{"size": 3}))), broken: []string{"M7"}},
		"M7Uncertain":       {reason: "the platform cannot know that it was done", steps: []step{{call: provision("i")}, {script: next(osbtest.Update, osbtest.CutAfter()), call: update("i")}, {call: update("i")}}},
		"M8Bind":            {reason: "P80", steps: steps(provision("i").with(box), bind("i", "b").with(box)), broken: []string{"M8"}},
		"M8Plan":            {reason: "P60", steps: steps(provision("i").with(box), update("i").with(box).with(field("plan_id", "other")).with(without("previous_values"))), broken: []string{"M8"}},
		"M8Fetch":           {reason: "P50", steps: steps(provision("i").with(box), fetch("i")), broken: []string{"M8"}},
		"M8FetchBinding":    {reason: "P95", steps: steps(provision("i").with(box), fetch("i/service_bindings/b")), broken: []string{"M8"}},
		"M8Rotation": {reason: "P90", steps: steps(provision("i").with(field("plan_id", "large")), bind("i", "b").with(field("plan_id", "large")),
			bind("i", "c").with(field("plan_id", "large")).with(field("predecessor_binding_id", "b"))), broken: []string{"M8"}},
		"M8Rotates":     {reason: "P90", steps: steps(provision("i"), bind("i", "b"), bind("i", "c").with(field("predecessor_binding_id", "b")))},
		"M8Context":     {reason: "P63", steps: steps(provision("i").with(box), update("i").with(box).with(without("plan_id")).with(without("parameters")).with(without("previous_values"))), broken: []string{"M8"}},
		"M8ContextMay":  {reason: "P63", steps: steps(provision("i"), update("i").with(without("parameters")))},
		"M9Bound":       {reason: "P70", steps: steps(provision("i"), bind("i", "b"), deprovision("i")), broken: []string{"M9"}},
		"M10Stray":      {reason: "table: 201, no", steps: steps(provision("i"), deprovision("i").mitigates()), broken: []string{"M10"}},
		"M10Rejected":   {reason: "table: 4xx, no", steps: []step{{script: next(osbtest.Provision, osbtest.Status(400, "{}")), call: provision("i")}, {call: deprovision("i").mitigates()}}, broken: []string{"M10"}},
		"M10Repeated":   {reason: "table: 5xx, yes", steps: []step{{script: next(osbtest.Provision, osbtest.Status(500, "{}")), call: provision("i")}, {call: provision("i")}}, broken: []string{"M10"}},
		"M10Mitigated":  {reason: "table: 5xx, yes", steps: []step{{script: next(osbtest.Provision, osbtest.Status(500, "{}")), call: provision("i")}, {call: deprovision("i").mitigates()}}},
		"M10ByUser":     {reason: "the user deletes what is due", steps: []step{{script: next(osbtest.Provision, osbtest.Status(500, "{}")), call: provision("i")}, {call: deprovision("i")}}},
		"M10GaveUp":     {reason: "P104: too long a creation", steps: []step{{script: async(osbtest.Provision), call: provision("i")}, {script: later(66 * time.Second), call: deprovision("i").mitigates()}}},
		"M10TooEarly":   {reason: "P104: not yet", steps: []step{{script: async(osbtest.Provision), call: provision("i")}, {script: later(6 * time.Second), call: deprovision("i").mitigates()}}, broken: []string{"M10"}},
		"M10Oversized":  {reason: "platforms differ in what is too much", steps: []step{{script: next(osbtest.Provision, osbtest.Oversized(9)), call: provision("i")}, {call: deprovision("i").mitigates()}}},
		"M11Early":      {reason: "P103", steps: []step{{script: next(osbtest.Provision, osbtest.AsyncDone(-1).WithRetryAfter("5")), call: provision("i")}, {script: later(4 * time.Second), call: echo("i")}}, broken: []string{"M11"}},
		"M11Patient":    {reason: "P103", steps: []step{{script: next(osbtest.Provision, osbtest.AsyncDone(-1).WithRetryAfter("5")), call: provision("i")}, {script: later(5 * time.Second), call: echo("i")}}},
		"M11Date":       {reason: "P103", steps: []step{{script: next(osbtest.Provision, osbtest.AsyncDone(-1).WithRetryAfter("Fri, 02 Jan 2026 03:04:15 GMT")), call: provision("i")}, {call: echo("i")}}, broken: []string{"M11"}},
		"M11Retried":    {reason: "P103", steps: []step{{script: next(osbtest.GetCatalog, osbtest.RetryAfter("5")), call: getCatalog()}, {call: getCatalog()}}, broken: []string{"M11"}},
		"M11Endless":    {reason: "P104", steps: []step{{script: async(osbtest.Provision), call: provision("i")}, {script: later(66 * time.Second), call: echo("i")}}, broken: []string{"M11"}},
		"M12Operation":  {reason: "1.14", steps: []step{{script: async(osbtest.Provision), call: provision("i")}, {call: update("i")}}, broken: []string{"M12"}},
		"M12Bind":       {reason: "1.14", steps: []step{{script: async(osbtest.Provision), call: provision("i")}, {call: bind("i", "b")}}, broken: []string{"M12"}},
		"M12Halt":       {reason: "P71: a creation may be halted", steps: []step{{script: async(osbtest.Provision), call: provision("i")}, {call: deprovision("i")}}},
		"M12Repeat":     {reason: "P43: and sent again", steps: []step{{script: async(osbtest.Provision), call: provision("i")}, {call: provision("i")}}},
		"M13ShutOut":    {reason: "P11: access was refused", steps: []step{{script: next(osbtest.Provision, osbtest.Status(401, "{}")), call: provision("i")}, {call: deprovision("i").mitigates()}}, broken: []string{"M13"}},
		"M13TriedAgain": {reason: "P11: but it may be tried again", steps: []step{{script: next(osbtest.Provision, osbtest.Status(403, "{}")), call: provision("i")}, {call: provision("i")}}},
		"M14Reused":     {reason: "P20", steps: steps(provision("i"), deprovision("i"), provision("i")), broken: []string{"M14"}},
		"M14Mitigated":  {reason: "P20: also what never was", steps: []step{{script: next(osbtest.Provision, osbtest.Status(500, "{}")), call: provision("i")}, {call: deprovision("i").mitigates()}, {call: provision("i")}}, broken: []string{"M14"}},
		"M14Freed":      {reason: "decision 17: all was answered, and it is gone", steps: []step{{script: next(osbtest.Provision, osbtest.Status(500, "{}").Acting()), call: provision("i")}, {call: deprovision("i").mitigates()}, {call: provision("i")}}},
		"M14Gateway": {reason: "decision 17: by a gateway", steps: []step{{script: next(osbtest.Provision, osbtest.Status(504, "{}").Acting()), call: provision("i")}, {call: deprovision("i").mitigates()}, {call: provision("i")}},
			broken: []string{"M14"}},
		"M14Cut": {reason: "decision 17: the first request may arrive late", steps: []step{{script: next(osbtest.Provision, osbtest.CutAfter()), call: provision("i")}, {call: deprovision("i").mitigates()}, {call: provision("i")}},
			broken: []string{"M14"}},
		"M14Twice": {reason: "decision 17: the first removal may arrive late", steps: []step{{script: next(osbtest.Provision, osbtest.Status(500, "{}").Acting()), call: provision("i")},
			{script: next(osbtest.Deprovision, osbtest.Status(500, "{}")), call: deprovision("i").mitigates()}, {call: deprovision("i").mitigates()}, {call: provision("i")}}, broken: []string{"M14"}},
		"M14NotHeard": {reason: "P20: removed, though the answer was lost", steps: []step{{call: provision("i")}, {script: next(osbtest.Deprovision, osbtest.CutAfter()), call: deprovision("i")}, {call: provision("i")}}, broken: []string{"M14"}},
		"M14Binding":  {reason: "P20", steps: steps(provision("i"), bind("i", "b"), unbind("i", "b"), bind("i", "b")), broken: []string{"M14"}},
		"M14NewID":    {reason: "P20", steps: steps(provision("i"), deprovision("i"), provision("j"))},
	}
	rules := map[string]bool{}
	for _, tc := range cases {
		for _, rule := range tc.broken {
			rules[rule] = true
		}
	}
	for i := 1; i <= 14; i++ {
		assert.True(t, rules[fmt.Sprintf("M%d", i)], "M%d is broken once", i)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform(t, osbtest.Options{})
			p.play(tc.steps)
			var broken []string
			for _, violation := range p.broker.Violations() {
				assert.Equal(t, len(tc.steps), violation.Call.N, "only the last call: %s", violation)
				broken = append(broken, violation.Rule)
			}
			assert.Equal(t, tc.broken, slices.Compact(broken), "%s: %v", tc.reason, p.broker.Violations())

			// A strict broker refuses the same call.
			strict := newPlatform(t, osbtest.Options{Strict: true})
			last := strict.play(tc.steps)
			if len(tc.broken) > 0 {
				assert.GreaterOrEqual(t, last.status, 400)
			}
		})
	}
}

func async(verb osbtest.Verb) func(*platform) {
	return func(p *platform) { p.broker.Async(verb, -1) }
}

func later(d time.Duration) func(*platform) { return func(p *platform) { p.clock.pass(d) } }

func toLarge() *request {
	return update("i").with(field("plan_id", "large")).with(without("parameters"))
}

// echo polls with the operation that the last 202 brought; play fills it in.
func echo(path string) *request { return poll(path, echoed) }

const echoed = "echoed"

func (p *platform) play(sequence []step) (last answer) {
	p.t.Helper()
	var operation any
	for _, each := range sequence {
		if each.script != nil {
			each.script(p)
		}
		r := *each.call
		r.header, r.query = r.header.Clone(), cloned(r.query)
		if r.query.Get("operation") == echoed {
			r.set("operation", operation.(string))
		}
		last = p.send(&r)
		if key, told := last.body["operation"].(string); told {
			operation = key
		}
	}
	return last
}

func cloned(query map[string][]string) map[string][]string {
	return map[string][]string(http.Header(query).Clone())
}

func TestAuthIsADuty(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, osbtest.Options{Token: "t"})
	p.must(401, getCatalog())
	p.must(401, provision("i"))
	p.must(401, deprovision("i").mitigates())
	assert.False(t, p.broker.AssertDuties(&silent{}))
	assert.False(t, p.broker.AssertDuties(&silent{}, "M1"), "M13 is left")
	assert.True(t, p.broker.AssertDuties(t, "M1", "M13"))
}

// silent is a test that may fail.
type silent struct{ failures []string }

func (s *silent) Errorf(format string, args ...any) {
	s.failures = append(s.failures, fmt.Sprintf(format, args...))
}

func TestTwoCallsAtOnceAreSeen(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, osbtest.Options{})
	p.must(201, provision("i"))
	held := p.broker.Hold(osbtest.Update)
	came := make(chan answer, 1)
	go func() { came <- p.send(update("i")) }()
	<-held.Arrived
	p.must(200, deprovision("i"))
	held.Act()
	held.Answer()
	<-came
	violations := p.broker.Violations()
	require.NotEmpty(t, violations)
	assert.Equal(t, "M12", violations[0].Rule)
	assert.Contains(t, violations[0].String(), "M12: call 3, deprovision of instance i: another call")
}

func TestCrashesExcuse(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, osbtest.Options{Crashes: true})
	p.broker.Next(osbtest.Provision, osbtest.CutAfter())
	require.Error(t, p.send(provision("i")).err)
	failing := &silent{}
	assert.False(t, p.broker.AssertDuties(failing))
	assert.Contains(t, failing.failures[0], "instance i is not mitigated, after no answer to call 1")
	p.must(200, provision("i"))
	p.must(200, update("i"))
	p.must(200, update("i"))
	p.must(200, deprovision("i").mitigates())
	p.broker.AssertDuties(t)
}

func TestDutiesNameTheirPoints(t *testing.T) {
	t.Parallel()
	for _, duty := range osbtest.Duties() {
		assert.Regexp(t, `^M([1-9]|1[0-4])$`, duty.Rule)
		assert.NotEmpty(t, duty.Points)
		assert.NotEmpty(t, duty.Says)
	}
}
