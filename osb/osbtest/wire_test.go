package osbtest_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// keepAlive has the platform keep its connections, as they usually do.
func keepAlive(p *platform) { p.client.Transport = &http.Transport{} }

// TestAnswersThatNobodyReads has a call follow an answer that forbids it, and the same
// where the platform left before it read that answer, as far as the broker can tell: it
// closed the connection at once. Both calls are lawful then.
func TestAnswersThatNobodyReads(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason   string
		fault    osbtest.Fault
		answered *request
		next     *request
		broken   string
	}{
		"Bind":      {reason: "table: bind, no answer: yes", answered: bind("i", "b"), next: unbind("i", "b").mitigates(), broken: "M10"},
		"BindAsync": {reason: "table: bind, no answer: yes", fault: osbtest.AsyncDone(-1), answered: bind("i", "b"), next: unbind("i", "b").mitigates(), broken: "M10"},
		"Refused":   {reason: "table: bind, no answer: yes", fault: osbtest.Status(400, "{}"), answered: bind("i", "b"), next: unbind("i", "b").mitigates(), broken: "M10"},
		"Malformed": {reason: "table: bind, no answer: yes", fault: osbtest.Status(200, "["), answered: bind("i", "b"), next: unbind("i", "b").mitigates(), broken: "M10"},
		"Update":    {reason: "it may have been done or not", answered: update("i"), next: update("i"), broken: "M7"},
		"Operation": {reason: "the platform does not know that it runs", fault: osbtest.AsyncDone(-1), answered: update("i"), next: bind("i", "b"), broken: "M12"},
		"ShutOut":   {reason: "the platform does not know that access was refused", fault: osbtest.Status(401, "{}"), answered: bind("i", "b"), next: unbind("i", "b").mitigates(), broken: "M13"},
		"Patience":  {reason: "the platform does not know that it was asked for", fault: osbtest.Status(429, "{}").WithRetryAfter("9"), answered: update("i"), next: update("i"), broken: "M11"},
		"PollLater": {reason: "the platform does not know that it was asked for", fault: osbtest.AsyncDone(-1).WithRetryAfter("9"), answered: update("i"), next: echo("i"), broken: "M11"},
	}
	for name, tc := range cases {
		for manner, left := range map[string]bool{"Read": false, "Left": true} {
			t.Run(name+"/"+manner, func(t *testing.T) {
				t.Parallel()
				p := newPlatform(t, osbtest.Options{})
				keepAlive(p)
				p.play([]step{{call: provision("i")}, {script: next(verbOf(tc.answered), tc.fault), call: tc.answered}, {script: func(p *platform) {
					if left {
						p.client.CloseIdleConnections()
					}
				}, call: tc.next}})
				if left {
					assert.Empty(t, p.broker.Violations(), tc.reason)
					assert.True(t, p.broker.Calls()[1].Left)
					return
				}
				broken := func(v osbtest.Violation) bool { return v.Rule == tc.broken && v.Call.N == 3 }
				assert.True(t, slices.ContainsFunc(p.broker.Violations(), broken), "%s: %v", tc.broken, p.broker.Violations())
				assert.False(t, p.broker.Calls()[1].Left)
			})
		}
	}
}

func verbOf(r *request) osbtest.Verb {
	if r.method == http.MethodPatch {
		return osbtest.Update
	}
	return osbtest.Bind
}

// TestAnswersThatWereRead has the same stray clean-up after an answer that the platform
// has read, whatever becomes of the connection.
func TestAnswersThatWereRead(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		after  func(p *platform)
	}{
		"UsedAgain": {reason: "another call came on the connection", after: func(p *platform) {
			p.must(200, getCatalog())
			p.client.CloseIdleConnections()
		}},
		"KeptOpen": {reason: "it is not closed", after: keepAlive},
		"ClosedLater": {reason: "it was idle for too long", after: func(p *platform) {
			p.clock.pass(time.Second)
			p.client.CloseIdleConnections()
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform(t, osbtest.Options{})
			keepAlive(p)
			p.must(201, provision("i"))
			p.must(201, bind("i", "b"))
			tc.after(p)
			p.must(200, unbind("i", "b").mitigates())
			require.Len(t, p.broker.Violations(), 1, tc.reason)
			assert.Equal(t, "M10", p.broker.Violations()[0].Rule)
		})
	}
}

// TestNewsOfLeaving has the news that the platform has left come after its next call,
// which travels on another connection.
func TestNewsOfLeaving(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, osbtest.Options{})
	keepAlive(p)
	p.must(201, provision("i"))
	p.must(201, bind("i", "b"))
	other := *p
	other.client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	came := make(chan answer, 1)
	go func() { came <- other.send(unbind("i", "b").mitigates()) }()
	require.Eventually(t, func() bool { return len(p.broker.Calls()) == 3 }, 5*time.Second, time.Millisecond)
	p.client.CloseIdleConnections()
	assert.Equal(t, 200, (<-came).status)
	assert.Empty(t, p.broker.Violations())
}
