package observer_test

import (
	"encoding/base64"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/osb/conformance"
	"github.com/defaultplan/defaultplan/osb/conformance/observer"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A mistake is how a platform is wrong.
type mistake struct {
	reason string
	calls  []call
	// also are rules that are broken by the same.
	also []string
}

func identity(platform, text string) edit {
	return header("X-Broker-Api-Originating-Identity", platform+" "+base64.StdEncoding.EncodeToString([]byte(text)))
}

var mistakes = map[string]mistake{
	"M1.1": {reason: "no version", calls: []call{getCatalog(without("X-Broker-Api-Version"))}},
	"M1.2": {reason: "no credentials", calls: []call{getCatalog(without("Authorization"))}},
	"M1.3": {reason: "only with one of two", calls: []call{getCatalog(), getCatalog(without("X-Broker-Api-Request-Identity"))}},
	"M1.4": {reason: "plain text", calls: []call{provision("i", header("Content-Type", "text/plain"))}},
	"M2.1": {reason: "only with one of two", calls: []call{provision("i"), update("i", mitigates)}},
	"M2.3": {reason: "keys are left out", calls: []call{provision("i", identity("kubernetes", `{"username":"ann"}`))}},
	"M3.1": {reason: "no plan", calls: []call{provision("i", without("plan_id"))}},
	"M3.2": {reason: "an empty ID", calls: []call{provision("")}},
	"M3.3": {reason: "a plan of another offering", calls: []call{provision("i", field("plan_id", only))}},
	"M3.4": {reason: "no instance_name", calls: []call{provision("i", field("context", object{"platform": "kubernetes", "namespace": "dev", "clusterid": "c1"}))}},
	"M3.6": {reason: "a list", calls: []call{provision("i", field("parameters", []string{"a"}))}},
	"M4.1": {reason: "left out", calls: []call{provision("i", without("accepts_incomplete"))}},
	"M5.1": {reason: "no operation", calls: []call{async(osbtest.Provision), provision("i"), seconds(), poll("i", without("operation"))}},
	"M6.1": {reason: "the new plan", calls: []call{
		provision("i"), async(osbtest.Update), update("i", field("plan_id", slow), without("parameters")), seconds(), poll("i", query("plan_id", slow)),
	}},
	"M7.1": {reason: "the same parameters", calls: []call{provision("i"), update("i", field("parameters", object{"size": 3}))}},
	"M8.1": {reason: "not bindable", calls: []call{provision("i", boxed), bind("i", "b", boxed)}},
	"M8.2": {reason: "a fixed plan", calls: []call{provision("i", field("plan_id", fixed)), update("i", field("plan_id", quick), field("previous_values", object{"plan_id": fixed}))}},
	"M8.3": {reason: "not retrievable", calls: []call{provision("i", boxed), fetch("i")}},
	"M8.4": {reason: "not rotatable", calls: []call{
		provision("i", field("plan_id", fixed)), bind("i", "b", field("plan_id", fixed)), bind("i", "c", field("plan_id", fixed), field("predecessor_binding_id", "b")),
	}},
	"M8.5": {reason: "a context alone", calls: []call{provision("i", boxed), update("i", without("parameters"), field("service_id", box), without("previous_values"))}},
	"M9.1": {reason: "with a binding", calls: []call{provision("i"), bind("i", "b"), remove("i")}},
	"M10.1": {reason: "after a 400", calls: []call{
		next(osbtest.Provision, osbtest.Status(http.StatusBadRequest, "{}")), provision("i"), remove("i", mitigates),
	}},
	"M10.2": {reason: "nothing after a 500", calls: []call{next(osbtest.Provision, osbtest.Status(http.StatusInternalServerError, "{}")), provision("i")}},
	"M11.1": {reason: "too early", calls: []call{async(osbtest.Provision), provision("i"), poll("i")}},
	"M11.2": {reason: "after ten minutes", calls: []call{
		provision("i", field("plan_id", slow)), later(time.Hour), poll("i", query("plan_id", slow)),
	}},
	"M12.1": {reason: "two at a time", calls: []call{happens(twice)}},
	"M12.2": {reason: "an update while it is made", calls: []call{async(osbtest.Provision), provision("i"), update("i")}},
	"M12.3": {reason: "a clean-up after ConcurrencyError", also: []string{"M10.1"}, calls: []call{
		next(osbtest.Provision, osbtest.ConcurrencyError()), provision("i"), remove("i", mitigates),
	}},
	"M13.1": {reason: "a clean-up after a 403", calls: []call{
		next(osbtest.Provision, osbtest.Status(http.StatusForbidden, "{}")), provision("i"), remove("i", mitigates),
	}},
	"M14.1": {reason: "the same ID again", calls: []call{provision("i"), remove("i"), provision("i")}},
}

// twice provisions one instance while a request for it is under way.
func twice(p *platform) {
	held := p.broker.Hold(osbtest.Provision)
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.send(provision("i"))
	}()
	<-held.Arrived
	p.send(provision("i"))
	held.Act()
	held.Answer()
	<-done
}

func broken(report conformance.Report) map[string][]string {
	found := map[string][]string{}
	for _, result := range report.Results {
		if result.Outcome == conformance.Broken {
			found[result.ID] = result.Details
		}
	}
	return found
}

// TestWrongPlatforms: each rule is broken by calls that are wrong in this one way, and no other is.
func TestWrongPlatforms(t *testing.T) {
	t.Parallel()
	var rules []string
	for _, rule := range conformance.RulesFor(conformance.Platform) {
		rules = append(rules, rule.ID)
	}
	assert.ElementsMatch(t, rules, slices.Collect(maps.Keys(mistakes)), "each rule has a wrong platform")
	for id, m := range mistakes {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			p := newPlatform(t)
			p.play(t, m.calls)
			found := broken(observer.Report(p.broker))
			assert.ElementsMatch(t, append([]string{id}, m.also...), slices.Collect(maps.Keys(found)), "%s: %v", m.reason, found)
		})
	}
}

// A platform that does all as it should is seen to keep every rule, in each version.
func TestTheRightPlatform(t *testing.T) {
	t.Parallel()
	for _, version := range conformance.Versions() {
		p := newPlatform(t)
		p.play(t, spoken(version, life()))
		report := observer.Report(p.broker)
		assert.Equal(t, version, report.APIVersion)
		assert.Empty(t, broken(report), version)
		for _, result := range report.Results {
			assert.Equal(t, conformance.Kept, result.Outcome, "%s %s: %v", version, result.ID, result.Details)
		}
	}
}

// What a platform may leave out is no rule, nor what only Kubernetes has.
func TestWhatAPlatformMayDo(t *testing.T) {
	t.Parallel()
	elsewhere := field("context", object{"platform": "cloudfoundry"})
	for name, calls := range map[string][]call{
		"NoIdentities":      {provision("i", mitigates, without("X-Broker-Api-Request-Identity")), update("i", mitigates, without("X-Broker-Api-Request-Identity")), remove("i", mitigates, without("X-Broker-Api-Request-Identity"))},
		"NoContext":         {provision("i", without("context"))},
		"OtherPlatform":     {provision("i", elsewhere, identity("cloudfoundry", `{"user_id":"1"}`)), remove("i", identity("cloudfoundry", `{"user_id":"1"}`))},
		"PollWithoutIDs":    {async(osbtest.Provision), provision("i"), seconds(), poll("i", without("plan_id"), without("service_id"))},
		"UserWithCatalog":   {getCatalog(user)},
		"BindWithoutAnApp":  {provision("i"), bind("i", "b", without("bind_resource"))},
		"OlderWithoutNames": spoken("2.14", []call{provision("i", field("context", object{"platform": "kubernetes", "namespace": "dev", "clusterid": "c1"}))}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform(t)
			p.play(t, calls)
			assert.Empty(t, broken(observer.Report(p.broker)))
		})
	}
}

// Each duty of the broker is a rule, or one that only we ask for.
func TestEveryDutyIsARule(t *testing.T) {
	t.Parallel()
	ours := []string{"M2.2", "M3.5"}
	var duties, rules []string
	for _, duty := range osbtest.Duties() {
		assert.True(t, strings.HasPrefix(duty.ID, duty.Rule+"."), duty.ID)
		if !slices.Contains(ours, duty.ID) {
			duties = append(duties, duty.ID)
		}
	}
	for _, rule := range conformance.RulesFor(conformance.Platform) {
		if rule.ID != "M12.3" { // a part of M10.1
			rules = append(rules, rule.ID)
		}
	}
	assert.ElementsMatch(t, duties, rules)
}

func TestScript(t *testing.T) {
	t.Parallel()
	script, err := observer.ReadScript(strings.NewReader(`[
		{"verb": "provision", "fault": "status", "status": 503, "body": "{}", "retryAfter": "0", "times": 2},
		{"verb": "provision", "fault": "none"}, {"verb": "provision", "fault": "async", "polls": 1}, {"verb": "bind", "fault": "cut-after"}]`))
	require.NoError(t, err)
	p := newPlatform(t)
	script.Play(p.broker)
	p.play(t, []call{provision("i"), provision("j"), provision("k"), provision("l"), bind("k", "b")})
	var statuses []int
	for _, each := range p.broker.Calls() {
		statuses = append(statuses, each.Status)
	}
	assert.Equal(t, []int{503, 503, 201, 202, 0}, statuses)
	assert.Len(t, p.broker.Bindings(), 1, "the broker had acted")
	for _, name := range observer.Faults() {
		observer.Script{{Verb: osbtest.Update, Fault: name, Status: 500}}.Play(p.broker)
	}

	for text, says := range map[string]string{
		`{`: "cannot read the script", `[{"verb": "make", "fault": "none"}]`: `no verb "make"`, `[{"verb": "bind", "fault": "odd"}]`: `no fault "odd"`,
		`[{"verb": "bind", "fault": "status"}]`: "status 0", `[{"verb": "bind", "fault": "none", "times": -1}]`: "below 0", `[{"verb": "bind", "kind": 1}]`: "kind",
	} {
		_, err := observer.ReadScript(strings.NewReader(text))
		assert.ErrorContains(t, err, says)
	}
}
