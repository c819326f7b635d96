package osbtest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// TestFaultsHappenOnTheWire provisions with each fault: what the platform sees, and what
// the books say afterwards.
func TestFaultsHappenOnTheWire(t *testing.T) {
	t.Parallel()
	type want struct {
		status int // 0: no answer at all
		cut    bool
		made   int
		result osbtest.Outcome
		due    bool
	}
	cases := map[string]struct {
		reason string
		fault  osbtest.Fault
		want   want
		check  func(t *testing.T, got answer)
	}{
		"None": {reason: "the zero fault lets a call through", want: want{status: 201, made: 1, result: osbtest.Answered}},
		"Status": {reason: "the broker did nothing, but the platform cannot know", fault: osbtest.Status(500, "out"),
			want: want{status: 500, result: osbtest.Answered, due: true}, check: func(t *testing.T, got answer) { assert.Equal(t, "out", got.text) }},
		"StatusActing": {reason: "the broker acted, and says otherwise", fault: osbtest.Status(500, "").Acting(),
			want: want{status: 500, made: 1, result: osbtest.Answered, due: true}},
		"StatusRejected": {reason: "a refusal leaves no orphan", fault: osbtest.Status(400, "{}"), want: want{status: 400, result: osbtest.Answered}},
		"StatusHalf":     {reason: "201 that is no JSON", fault: osbtest.Status(201, "").Acting(), want: want{status: 201, made: 1, result: osbtest.MalformedAnswer, due: true}},
		"Delay":          {reason: "late is not lost", fault: osbtest.Delay(20 * time.Millisecond), want: want{status: 201, made: 1, result: osbtest.Answered}},
		"Hang":           {reason: "the platform gives up", fault: osbtest.Hang(), want: want{cut: true, result: osbtest.Lost, due: true}},
		"HangActing":     {reason: "and the broker acted", fault: osbtest.Hang().Acting(), want: want{cut: true, made: 1, result: osbtest.Lost, due: true}},
		"CutBefore":      {reason: "the connection ends, nothing is done", fault: osbtest.CutBefore(), want: want{cut: true, result: osbtest.Lost, due: true}},
		"CutAfter":       {reason: "the connection ends, all is done", fault: osbtest.CutAfter(), want: want{cut: true, made: 1, result: osbtest.Lost, due: true}},
		"CutMiddle": {reason: "the head comes, and half a body", fault: osbtest.CutMiddle(), want: want{status: 201, cut: true, made: 1, result: osbtest.Lost, due: true},
			check: func(t *testing.T, got answer) { assert.NotEmpty(t, got.text) }},
		"Malformed": {reason: "the right status with no JSON", fault: osbtest.Malformed(), want: want{status: 201, made: 1, result: osbtest.MalformedAnswer, due: true},
			check: func(t *testing.T, got answer) { assert.Nil(t, got.body); assert.NotEmpty(t, got.text) }},
		"Oversized": {reason: "lawful, but too much", fault: osbtest.Oversized(1 << 20), want: want{status: 201, made: 1, result: osbtest.Answered},
			check: func(t *testing.T, got answer) {
				assert.Greater(t, len(got.text), 1<<20)
				assert.Contains(t, got.body, "dashboard_url")
			}},
		"WrongType": {reason: "JSON of other types", fault: osbtest.WrongType(), want: want{status: 201, made: 1, result: osbtest.MalformedAnswer, due: true},
			check: func(t *testing.T, got answer) { assert.InDelta(t, 7, got.body["operation"], 0) }},
		"NoContent204": {reason: "a 2xx of no specification", fault: osbtest.NoContent204(), want: want{status: 204, made: 1, result: osbtest.MalformedAnswer, due: true}},
		"RetryAfter": {reason: "a 503 is a 5xx, and due", fault: osbtest.RetryAfter("7"), want: want{status: 503, result: osbtest.Answered, due: true},
			check: func(t *testing.T, got answer) { assert.Equal(t, "7", got.header.Get("Retry-After")) }},
		"RetryAfterDate": {reason: "also as a date", fault: osbtest.Status(429, "{}").WithRetryAfter("Fri, 02 Jan 2026 03:04:15 GMT"), want: want{status: 429, result: osbtest.Answered},
			check: func(t *testing.T, got answer) {
				assert.Equal(t, "Fri, 02 Jan 2026 03:04:15 GMT", got.header.Get("Retry-After"))
			}},
		"ConcurrencyError": {reason: "never mitigated", fault: osbtest.ConcurrencyError(), want: want{status: 422, result: osbtest.Answered},
			check: func(t *testing.T, got answer) { assert.Equal(t, "ConcurrencyError", got.body["error"]) }},
		"Redirect": {reason: "not to be followed", fault: osbtest.Redirect(302, "/elsewhere"), want: want{status: 302, result: osbtest.Answered, due: true},
			check: func(t *testing.T, got answer) { assert.Equal(t, "/elsewhere", got.header.Get("Location")) }},
		"SlowAnswer": {reason: "slow is not lost", fault: osbtest.SlowAnswer(40 * time.Millisecond), want: want{status: 201, made: 1, result: osbtest.Answered},
			check: func(t *testing.T, got answer) { assert.Contains(t, got.body, "dashboard_url") }},
		"AsyncDone":   {reason: "a 202 with a key", fault: osbtest.AsyncDone(1), want: want{status: 202, made: 1, result: osbtest.Answered}},
		"AsyncFailed": {reason: "due only when it has failed", fault: osbtest.AsyncFailed(0), want: want{status: 202, made: 1, result: osbtest.Answered}},
		"AsyncLost":   {reason: "the polls go wrong, not this call", fault: osbtest.AsyncLost(osbtest.CutAfter(), 1), want: want{status: 202, made: 1, result: osbtest.Answered}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform(t, osbtest.Options{})
			p.client.Timeout = 10 * time.Second
			if strings.HasPrefix(name, "Hang") {
				p.client.Timeout = time.Second
			}
			p.broker.Next(osbtest.Provision, tc.fault)
			got := p.send(provision("i1"))
			assert.Equal(t, tc.want.cut, got.err != nil, "%s: %v", tc.reason, got.err)
			assert.Equal(t, tc.want.status, got.status, tc.reason)
			if tc.check != nil {
				tc.check(t, got)
			}
			assert.Equal(t, tc.want.made, p.broker.History("i1").Made, tc.reason)
			assert.Equal(t, tc.want.made == 1, tc.fault.Acts(), "what the fault says is what the books say")
			call := p.broker.Calls(osbtest.Of(osbtest.Provision))[0]
			assert.Equal(t, tc.want.result, call.Outcome)
			assert.Equal(t, tc.fault.String(), call.Fault)
			assert.Equal(t, tc.want.due, len(p.broker.Orphans()) == 1, tc.reason)
			p.must(http.StatusOK, getCatalog())
		})
	}
}

func TestCutBeforeFromNextReadsNothing(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, osbtest.Options{})
	p.broker.Next(osbtest.Provision, osbtest.CutBefore())
	require.Error(t, p.send(provision("i1")).err)
	p.broker.On(func(osbtest.Call) osbtest.Fault { return osbtest.CutBefore() })
	require.Error(t, p.send(provision("i2")).err)
	calls := p.broker.Calls(osbtest.Of(osbtest.Provision))
	assert.Nil(t, calls[0].Body)
	assert.Equal(t, "db", calls[1].Body["service_id"], "On sees the body, so it was read")
	assert.Empty(t, p.broker.Instances())
}

// A call is on record once its body is known: a test that waits for it can read that body.
func TestACallIsOnRecordWithItsBody(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, osbtest.Options{})
	p.client.Transport = &http.Transport{DisableKeepAlives: true, ExpectContinueTimeout: time.Minute}
	body, sends := io.Pipe()
	awaited := make(chan struct{})
	trace := &httptrace.ClientTrace{Got100Continue: func() { close(awaited) }} // the broker reads the body
	call := provision("i1")
	sent, err := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), trace), call.method, p.broker.URL+call.path, body)
	require.NoError(t, err)
	sent.Header = call.header
	sent.Header.Set("Expect", "100-continue")
	ended := make(chan error, 1)
	go func() {
		answer, err := p.client.Do(sent)
		if err == nil {
			err = answer.Body.Close()
		}
		ended <- err
	}()
	<-awaited
	assert.Empty(t, p.broker.Calls())
	require.NoError(t, json.NewEncoder(sends).Encode(call.body))
	require.NoError(t, sends.Close())
	require.NoError(t, <-ended)
	assert.Equal(t, "db", p.broker.Calls()[0].Body["service_id"])
}

func TestAsynchronousFaults(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, osbtest.Options{})
	p.broker.Next(osbtest.Provision, osbtest.AsyncLost(osbtest.Status(404, "{}"), 2), osbtest.AsyncFailed(1).Saying(false, false))
	key := p.must(202, provision("i1")).body["operation"]
	p.must(404, poll("i1", key))
	p.must(404, poll("i1", key))
	assert.Equal(t, "succeeded", p.must(200, poll("i1", key)).body["state"])
	assert.Equal(t, osbtest.Ready, p.broker.Instances()["i1"].State)

	key = p.must(202, provision("i2")).body["operation"]
	assert.Equal(t, "in progress", p.must(200, poll("i2", key)).body["state"])
	assert.Empty(t, p.broker.Orphans())
	failed := p.must(200, poll("i2", key))
	assert.Equal(t, object{"state": "failed", "description": "the provision is failed", "instance_usable": false, "update_repeatable": false}, failed.body)
	assert.Equal(t, osbtest.Broken, p.broker.Instances()["i2"].State)
	assert.Equal(t, "a failed provision", p.broker.Orphans()[0].Why)
	p.must(200, deprovision("i2").mitigates())
	assert.Empty(t, p.broker.Orphans())
	p.broker.AssertDuties(t)
}

func TestFailedUpdateChangesNothingAndIsNeverMitigated(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, osbtest.Options{})
	p.must(201, provision("i1"))
	p.broker.Next(osbtest.Update, osbtest.AsyncFailed(0))
	key := p.must(202, update("i1")).body["operation"]
	assert.Equal(t, "failed", p.must(200, poll("i1", key)).body["state"])
	instance := p.broker.Instances()["i1"]
	assert.Equal(t, object{"size": 3.0}, instance.Parameters)
	assert.Zero(t, instance.Updates)
	p.broker.Next(osbtest.Update, osbtest.Status(500, "").Acting())
	p.must(500, update("i1"))
	assert.Equal(t, object{"size": 4.0}, p.broker.Instances()["i1"].Parameters)
	p.must(200, update("i1"))
	assert.Empty(t, p.broker.Mitigations())
	p.broker.AssertDuties(t)
}

func TestRandomFaultsRepeatAndCoverAll(t *testing.T) {
	t.Parallel()
	draw := func(seed uint64) (names []string, hit int) {
		fault := osbtest.Random(seed, 0.3, nil)
		for range 2000 {
			drawn := fault(osbtest.Call{Verb: osbtest.Provision}).String()
			names = append(names, drawn)
			if drawn != "" {
				hit++
			}
		}
		return names, hit
	}
	first, hit := draw(1)
	second, _ := draw(1)
	other, _ := draw(2)
	assert.Equal(t, first, second)
	assert.NotEqual(t, first, other)
	assert.InDelta(t, 600, hit, 90)
	for _, fault := range osbtest.Faults(osbtest.Provision) {
		assert.Contains(t, first, fault.String())
	}
	for _, verb := range osbtest.Verbs() {
		assert.NotEmpty(t, osbtest.Faults(verb))
	}
	assert.Empty(t, osbtest.Random(1, 1, func(osbtest.Verb) []osbtest.Fault { return nil })(osbtest.Call{}).String())
}

// TestOversizedKeepsNobodyWaiting has a broker answer with more than any machine holds,
// and others at the same time.
func TestOversizedKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, osbtest.Options{})
	p.broker.Next(osbtest.GetCatalog, osbtest.Oversized(1<<40))
	sent, err := http.NewRequestWithContext(p.ctx, http.MethodGet, p.broker.URL+"/v2/catalog", nil)
	require.NoError(t, err)
	endless, err := p.client.Do(sent)
	require.NoError(t, err)
	defer endless.Body.Close()
	begins := make([]byte, 1<<20)
	_, err = io.ReadFull(endless.Body, begins)
	require.NoError(t, err)
	assert.Greater(t, endless.ContentLength, int64(1<<40))
	assert.True(t, bytes.HasPrefix(begins, []byte(`{"padding":"xxx`)))
	p.must(200, getCatalog())
}
