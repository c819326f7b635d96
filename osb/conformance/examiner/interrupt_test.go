package examiner_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/osb/conformance/examiner"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// Wherever an examination is interrupted, all that was provisioned is removed, and no rule is
// broken by the interrupt.
func TestInterrupts(t *testing.T) {
	t.Parallel()
	step := int64(3)
	if testing.Short() {
		step = 17
	}
	for _, async := range []bool{false, true} {
		ended := false
		for at := int64(1); !ended; at += step {
			broker := osbtest.New(options(async))
			ctx, interrupt := context.WithCancel(t.Context())
			var calls atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if calls.Add(1) == at {
					interrupt()
				}
				if ctx.Err() != nil {
					// A broker ends what it works on also if it is not polled.
					for _, id := range broker.Running() {
						broker.Finish(id)
					}
				}
				broker.ServeHTTP(w, r)
			}))
			report, err := examiner.Examine(ctx, examiner.Options{
				URL: server.URL, Username: "platform", Password: "pass word", APIVersion: "2.17", Service: "db", Plan: "small", Parameters: parameters,
				HTTP: server.Client(), PollInterval: time.Millisecond, Patience: 10 * time.Second,
			})
			ended = ctx.Err() == nil
			interrupt()
			if !ended {
				require.Error(t, err)
			}
			assert.Empty(t, broken(report), "interrupted at call %d", at)
			server.Close()
			assert.Empty(t, report.Leftovers, at)
			assert.Empty(t, broker.Instances(), "interrupted at call %d", at)
			assert.Empty(t, broker.Bindings(), "interrupted at call %d", at)
		}
		assert.Greater(t, calls(t, async), int64(90), "it was interrupted in many places")
	}
}

// An interrupt does not cut a request that makes something: its removal would overtake it.
func TestInterruptWhileSomethingIsMade(t *testing.T) {
	t.Parallel()
	broker := osbtest.New(options(false))
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	const refused = 6 // the first provisions are wrong on purpose
	var cut atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Only where the body was read does the server see that the client is gone.
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if r.Method == http.MethodPut && len(broker.Calls(osbtest.Of(osbtest.Provision))) == refused && ctx.Err() == nil {
			interrupt()
			select {
			case <-r.Context().Done():
				cut.Store(true)
			case <-time.After(100 * time.Millisecond): // a broker that takes its time
			}
		}
		broker.ServeHTTP(w, r)
	}))
	defer server.Close()
	report, err := examiner.Examine(ctx, examiner.Options{
		URL: server.URL, Username: "platform", Password: "pass word", APIVersion: "2.17", Service: "db", Plan: "small", Parameters: parameters,
		HTTP: server.Client(), PollInterval: time.Millisecond, Patience: 10 * time.Second,
	})
	require.Error(t, err)
	assert.False(t, cut.Load())
	assert.Empty(t, report.Leftovers)
	assert.Empty(t, broker.Instances())
	made := slices.DeleteFunc(broker.Calls(osbtest.Of(osbtest.Provision)), func(call osbtest.Call) bool { return call.Status >= http.StatusBadRequest })
	assert.NotEmpty(t, made, "it was made")
}

// calls is how many calls an examination makes.
func calls(t *testing.T, async bool) int64 {
	t.Helper()
	broker := osbtest.New(options(async))
	examine(t, broker)
	return int64(len(broker.Calls()))
}

// What cannot be removed is named.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	right := osbtest.New(options(false))
	report := examine(t, &wrong{right: right, good: map[string]int{}, polls: map[string]bool{}, before: func(v *visit) {
		if v.is("DELETE instance") && v.made {
			v.answer(http.StatusInternalServerError, object{})
		}
	}}, func(o *examiner.Options) { o.Patience = 50 * time.Millisecond })
	assert.NotEmpty(t, report.Leftovers)
	assert.False(t, report.Good(false))
	for id := range right.Instances() {
		assert.Contains(t, report.Leftovers, "instance "+id)
	}
}
