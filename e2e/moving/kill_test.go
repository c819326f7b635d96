package moving_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/apiproxy"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

// mostWrites is more than an import or a release of these tests makes.
const mostWrites = 200

// What moves in the tests that kill svcat: an instance and a binding of each kind.
var (
	someInstances = []instance{
		{name: "orders", class: "open", state: "Ready", parameters: `{"size":1}`, secret: `{"token":"canary-of-parameters"}`, moved: "Adopted"},
		{name: "plain", class: "shut", state: "Ready", moved: "AdoptedOnTrust"},
		{name: "local", class: "local", state: "Ready", moved: "Adopted"},
	}
	someBindings = []binding{
		{name: "orders-reader", instance: "orders", state: "Ready", moved: "Adopted"},
		{name: "plain-renamed", instance: "plain", state: "Ready", renamed: true, moved: "AdoptedOnTrust"},
		{name: "local-reader", instance: "local", state: "Ready", moved: "Adopted"},
	}
)

// TestKilledAtEveryWrite kills svcat with SIGKILL each time that the API server has applied a
// write of it, and runs it again, which resumes: each run makes one write, until there is
// nothing more to do. The old side and the new one end as without it.
func TestKilledAtEveryWrite(t *testing.T) {
	t.Parallel()
	h := newHouse(t, someInstances, someBindings)
	credentials, file := h.secrets(h.old), h.exported()
	t.Logf("killed %d times at an import", h.killedUntilDone(h.importing(file)))
	h.lives(credentials)
	t.Logf("killed %d times at a release", h.killedUntilDone(h.releasing(file)))
	h.ends()
}

// killedUntilDone runs a command again and again, each time until its first write, and returns
// how often it was killed.
func (h *house) killedUntilDone(args []string) (kills int) {
	h.Helper()
	for ; ; kills++ {
		require.Less(h, kills, mostWrites, "svcat %v makes no progress", args)
		got := h.killedAt(1, args)
		if !got.killed {
			require.Zero(h, got.Code, "svcat %v: %s%s", args, got.Stdout, got.Stderr)
			return kills
		}
	}
}

// TestKilledAtAWrite kills svcat once, at one of its writes, and runs it again without harm. The
// short form has two writes of each command, make test-long has all.
func TestKilledAtAWrite(t *testing.T) {
	t.Parallel()
	h := newHouse(t, someInstances, someBindings)
	credentials, file := h.secrets(h.old), h.exported()
	imports := h.toItsEnd(h.importing(file))
	h.lives(credentials)
	releases := h.toItsEnd(h.releasing(file))
	h.ends()
	t.Logf("an import has %d writes, a release %d", imports, releases)
	for _, at := range numbers(imports) {
		t.Run(fmt.Sprintf("Import%d", at), func(t *testing.T) {
			t.Parallel()
			moveKilledAt(t, at, 0)
		})
	}
	for _, at := range numbers(releases) {
		t.Run(fmt.Sprintf("Release%d", at), func(t *testing.T) {
			t.Parallel()
			moveKilledAt(t, 0, at)
		})
	}
}

// numbers are those of the writes to be killed at, of so many.
func numbers(writes int) (some []int) {
	const short = 2
	step := max(1, writes/(short+1))
	if suite.Long() {
		step = 1
	}
	for at := step; at <= writes && (suite.Long() || len(some) < short); at += step {
		some = append(some, at)
	}
	return some
}

// moveKilledAt moves a house whose import and release are killed once at a write; 0: not.
func moveKilledAt(t *testing.T, atImport, atRelease int) {
	t.Helper()
	h := newHouse(t, someInstances, someBindings)
	credentials, file := h.secrets(h.old), h.exported()
	for _, step := range []struct {
		args []string
		at   int
	}{{h.importing(file), atImport}, {h.releasing(file), atRelease}} {
		if step.at > 0 {
			require.True(t, h.killedAt(step.at, step.args).killed)
		}
		h.toItsEnd(step.args)
		if step.args[0] == "import" {
			h.lives(credentials)
		}
	}
	h.ends()
}

// toItsEnd runs a command to its end and returns how many writes it made.
func (h *house) toItsEnd(args []string) int {
	h.Helper()
	got := h.killedAt(mostWrites, args)
	require.False(h, got.killed)
	require.Zero(h, got.Code, "svcat %v: %s%s", args, got.Stdout, got.Stderr)
	return got.writes
}

// ends asserts the end of a move in which everything moved.
func (h *house) ends() {
	h.Helper()
	for name := range h.expected() {
		_, is := h.find(h.old, name)
		assert.False(h, is, "%v is no longer on the old side", name)
	}
	h.owns()
	h.untouched()
}

// An attempt is a run of svcat that may have been killed: then it has no result.
type attempt struct {
	env.Result

	killed bool
	writes int
}

// killedAt runs svcat and kills it when an API server has applied the write of a number, before
// it learns so. It says whether it came so far.
func (h *house) killedAt(number int, args []string) attempt {
	h.Helper()
	var writes atomic.Int64
	isTheOne := func(w *apiproxy.Write) bool { return changes(w) && writes.Add(1) == int64(number) }
	oldSide, newSide := h.proxyOf(h.old.Stack), h.proxyOf(h.Stack)
	atOld, atNew := oldSide.HoldAnswer(isTheOne), newSide.HoldAnswer(isTheOne)
	running := h.starts(oldSide, newSide, args)
	select {
	case <-atOld.Applied:
	case <-atNew.Applied:
	case <-running.ended:
		return attempt{Result: running.result(), writes: int(writes.Load())}
	}
	require.NoError(h, running.cmd.Process.Kill())
	<-running.ended
	return attempt{killed: true, writes: number}
}

// changes says whether a write changed something: not one that was refused, that only tried, or
// that asked for rights.
func changes(w *apiproxy.Write) bool {
	return w.Code < http.StatusMultipleChoices && !w.DryRun && w.Resource != "selfsubjectaccessreviews"
}

// proxyOf leads to the API server of one side, until the test ends.
func (h *house) proxyOf(side *stack.Stack) *apiproxy.Proxy {
	h.Helper()
	proxy, err := side.StartAPIProxy(h.Context(), h.Name("svcat"), side.Kubeconfig())
	require.NoError(h, err)
	h.Cleanup(func() { assert.NoError(h, proxy.Close()) })
	return proxy
}

// A running is a process of svcat.
type running struct {
	cmd *exec.Cmd
	// ended is closed when it has ended, and err says how.
	ended     chan struct{}
	err       error
	out, errs bytes.Buffer
}

// starts runs svcat on the side that its arguments are for, by proxies.
func (h *house) starts(oldSide, newSide *apiproxy.Proxy, args []string) *running {
	h.Helper()
	own := newSide
	if args[0] == "export" {
		own = oldSide
	}
	r := &running{ended: make(chan struct{})}
	through := append([]string{"-n", h.Namespace}, args...)
	for i, arg := range through {
		if arg == h.Kubeconfig() {
			through[i] = newSide.Kubeconfig()
		}
	}
	r.cmd = exec.CommandContext(h.Context(), h.Binary("svcat"), through...)
	r.cmd.Env = append(h.Environment(), "KUBECONFIG="+own.Kubeconfig())
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.errs
	require.NoError(h, r.cmd.Start())
	go func() {
		defer close(r.ended)
		r.err = r.cmd.Wait()
	}()
	return r
}

// result is that of a process that has ended by itself.
func (r *running) result() env.Result {
	if exit, failed := errors.AsType[*exec.ExitError](r.err); failed {
		return env.Result{Stdout: r.out.String(), Stderr: r.errs.String(), Code: exit.ExitCode()}
	}
	return env.Result{Stdout: r.out.String(), Stderr: r.errs.String()}
}
