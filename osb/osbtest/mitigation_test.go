package osbtest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// TestMitigationTable is the specification's table, row by row, over the wire.
func TestMitigationTable(t *testing.T) {
	t.Parallel()
	all := []osbtest.Verb{osbtest.Provision, osbtest.Update, osbtest.Deprovision, osbtest.Bind, osbtest.Unbind}
	creates := []osbtest.Verb{osbtest.Provision, osbtest.Bind}
	clean := []osbtest.Verb{osbtest.Provision, osbtest.Deprovision, osbtest.Bind, osbtest.Unbind}
	cases := map[string]struct {
		reason string
		fault  osbtest.Fault
		due    []osbtest.Verb
	}{
		"WellFormed":        {reason: "success", fault: osbtest.Fault{}},
		"Accepted":          {reason: "success", fault: osbtest.AsyncDone(0)},
		"Ok":                {reason: "success", fault: osbtest.Status(200, "{}").Acting()},
		"OkMalformed":       {reason: "any, 200 malformed: no", fault: osbtest.Status(200, "[").Acting()},
		"CreatedMalformed":  {reason: "201 malformed: of creations; no status of the others", fault: osbtest.Status(201, "[").Acting(), due: clean},
		"AcceptedMalformed": {reason: "202 malformed: of creations", fault: osbtest.Status(202, `{"operation": 1}`), due: creates},
		"AcceptedEmpty":     {reason: "an empty 202 is malformed", fault: osbtest.Status(202, ""), due: creates},
		"OtherSuccess":      {reason: "other 2xx", fault: osbtest.Status(204, ""), due: clean},
		"Redirected":        {reason: "not in the table: as other platforms do", fault: osbtest.Redirect(307, "/x"), due: creates},
		"BadRequest":        {reason: "rejected", fault: osbtest.Status(400, "{}")},
		"Timeout408":        {reason: "rejected", fault: osbtest.Status(408, "{}")},
		"Conflict":          {reason: "rejected", fault: osbtest.Status(409, "{}")},
		"Unprocessable":     {reason: "rejected", fault: osbtest.ConcurrencyError()},
		"TooMany":           {reason: "rejected", fault: osbtest.Status(429, "{}")},
		"Internal":          {reason: "5xx", fault: osbtest.Status(500, "{}"), due: clean},
		"Unavailable":       {reason: "503 is a 5xx", fault: osbtest.RetryAfter("1"), due: clean},
		"Lost":              {reason: "timeout, of creations", fault: osbtest.CutAfter(), due: creates},
		"Half":              {reason: "as a timeout", fault: osbtest.CutMiddle(), due: creates},
	}
	for name, tc := range cases {
		for _, verb := range all {
			t.Run(name+"/"+string(verb), func(t *testing.T) {
				t.Parallel()
				p := newPlatform(t, osbtest.Options{})
				call := p.prepared(verb)
				p.broker.Next(verb, tc.fault)
				p.send(call)
				due := false
				for _, other := range tc.due {
					due = due || other == verb
				}
				orphans := p.broker.Orphans()
				require.Equal(t, due, len(orphans) == 1, "%s: %v", tc.reason, orphans)
				if due {
					assert.NotEmpty(t, orphans[0].Why)
					assert.Equal(t, verb == osbtest.Bind || verb == osbtest.Unbind, orphans[0].BindingID != "")
					assert.Zero(t, orphans[0].Issued)
				}
			})
		}
	}
}

// prepared is a call that can be made, after those that it needs.
func (p *platform) prepared(verb osbtest.Verb) *request {
	p.t.Helper()
	if verb == osbtest.Provision {
		return provision("i")
	}
	p.must(201, provision("i"))
	simple := map[osbtest.Verb]*request{osbtest.Update: update("i"), osbtest.Deprovision: deprovision("i"), osbtest.Bind: bind("i", "b")}
	if call := simple[verb]; call != nil {
		return call
	}
	p.must(201, bind("i", "b"))
	return unbind("i", "b")
}

// TestFailedOperationsAreMitigated is the row of last_operation.
func TestFailedOperationsAreMitigated(t *testing.T) {
	t.Parallel()
	for verb, due := range map[osbtest.Verb]bool{
		osbtest.Provision: true, osbtest.Deprovision: true, osbtest.Bind: true, osbtest.Unbind: true, osbtest.Update: false,
	} {
		t.Run(string(verb), func(t *testing.T) {
			t.Parallel()
			p := newPlatform(t, osbtest.Options{})
			call := p.prepared(verb)
			p.broker.Next(verb, osbtest.AsyncFailed(0))
			key := p.must(202, call).body["operation"]
			path := "i"
			if verb == osbtest.Bind || verb == osbtest.Unbind {
				path = "i/service_bindings/b"
			}
			p.broker.Next(osbtest.PollInstance, osbtest.CutAfter())
			p.broker.Next(osbtest.PollBinding, osbtest.CutAfter())
			require.Error(t, p.send(poll(path, key)).err)
			assert.Empty(t, p.broker.Orphans(), "the platform was not told yet")
			assert.Equal(t, "failed", p.must(200, poll(path, key)).body["state"])
			require.Equal(t, due, len(p.broker.Orphans()) == 1)
		})
	}
}

func TestMitigationGoesOnUntilItSucceeds(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, osbtest.Options{})
	p.broker.Next(osbtest.Provision, osbtest.CutAfter())
	require.Error(t, p.send(provision("i")).err)
	p.broker.Next(osbtest.Deprovision, osbtest.Status(500, ""), osbtest.CutAfter(), osbtest.AsyncDone(0))
	p.must(500, deprovision("i").mitigates())
	require.Len(t, p.broker.Orphans(), 1)
	require.Error(t, p.send(deprovision("i").mitigates()).err)
	require.Len(t, p.broker.Orphans(), 1, "it was removed, but the platform does not know")
	p.must(410, deprovision("i").mitigates())
	assert.Empty(t, p.broker.Orphans())
	assert.Equal(t, []osbtest.Mitigation{{InstanceID: "i", Why: "no answer", Due: 1, Issued: 2, Done: true}}, p.broker.Mitigations())
	p.broker.AssertDuties(t)
}

func TestMitigationByAnOperation(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, osbtest.Options{})
	p.broker.Next(osbtest.Provision, osbtest.CutAfter())
	require.Error(t, p.send(provision("i")).err)
	p.broker.Next(osbtest.Deprovision, osbtest.AsyncDone(0))
	key := p.must(202, deprovision("i").mitigates()).body["operation"]
	require.Len(t, p.broker.Orphans(), 1)
	p.must(200, poll("i", key))
	assert.Empty(t, p.broker.Orphans())
	stray := newPlatform(t, osbtest.Options{})
	stray.must(201, provision("i"))
	stray.must(200, deprovision("i").mitigates())
	assert.Equal(t, []osbtest.Mitigation{{InstanceID: "i", Issued: 2}}, stray.broker.Mitigations())
	assert.True(t, stray.broker.Mitigations()[0].Unexpected())
}

func TestWhatMayBeCleanedUp(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		before func(p *platform)
		stray  bool
	}{
		"Nothing": {reason: "the credentials were fetched", before: func(p *platform) { p.must(200, fetch("i/service_bindings/b")) }, stray: true},
		"FetchLost": {reason: "shown once, and lost", before: func(p *platform) {
			p.broker.Next(osbtest.FetchBinding, osbtest.CutAfter())
			require.Error(p.t, p.send(fetch("i/service_bindings/b")).err)
		}},
		"FetchNone": {reason: "the broker says that there are none", before: func(p *platform) {
			p.broker.Next(osbtest.FetchBinding, osbtest.Status(404, "{}"))
			p.must(404, fetch("i/service_bindings/b"))
		}},
		"FetchRedirected": {reason: "one answer does not say that there never will be any", before: func(p *platform) {
			p.broker.Next(osbtest.FetchBinding, osbtest.Redirect(302, "/x"))
			p.must(302, fetch("i/service_bindings/b"))
		}, stray: true},
		"Excused": {reason: "the test knows why", before: func(p *platform) { p.broker.Excuse("b") }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform(t, osbtest.Options{})
			p.must(201, provision("i"))
			p.must(201, bind("i", "b"))
			tc.before(p)
			p.must(200, unbind("i", "b").mitigates())
			assert.Equal(t, tc.stray, len(p.broker.Violations()) == 1, tc.reason)
		})
	}
}
