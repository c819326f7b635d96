package simulate_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

const (
	seedVariable   = "DEFAULTPLAN_SIMULATE_SEED"
	roundsVariable = "DEFAULTPLAN_SIMULATE_ROUNDS"
	// mostChanges is how many are simulated together. Each is followed to its end before the next
	// is made.
	mostChanges = 3
	// atOnce is how many worlds there are at the same time.
	atOnce = 12
)

// TestWhatSimulateSaysHappens: for random catalogs, policies, instances and changes, what svcat
// simulate says of a snapshot is what the API server answers, and what the keeper and the
// controller have done, once the changes were made. To repeat one that failed, give its seed and
// one round.
func TestWhatSimulateSaysHappens(t *testing.T) {
	seed := suite.Seed(t, seedVariable)
	rounds := suite.Rounds(t, roundsVariable, 12, 24)
	said := 0
	for begin := 0; begin < rounds; begin += atOnce {
		t.Run(fmt.Sprintf("Seeds%d", seed+uint64(begin)), func(t *testing.T) {
			said += together(t, seed+uint64(begin), min(atOnce, rounds-begin))
		})
	}
	t.Logf("%d worlds, of which simulate said %d differences", rounds, said)
	require.True(t, said > rounds/2 || rounds < atOnce, "or this shows nothing")
}

// together makes worlds, simulates a change of each, makes it, and compares. It returns how many
// differences simulate told.
func together(t *testing.T, seed uint64, n int) int {
	e := env.New(t)
	worlds := make([]*world, n)
	each(t, n, func(i int) { worlds[i] = newWorld(t, seed+uint64(i)) })
	atRest(e, worlds)
	trials := make([]*trial, n)
	each(t, n, func(i int) { trials[i] = worlds[i].try() })
	for change := range mostChanges {
		each(t, n, func(i int) { trials[i].make(change) })
		atRest(e, worlds)
	}
	said := 0
	each(t, n, func(i int) { trials[i].judge() })
	for _, one := range trials {
		said += one.report.differences()
	}
	return said
}

// each calls a function n times, some at once. If one fails the test, the test ends.
func each(t *testing.T, n int, do func(i int)) {
	t.Helper()
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { do(i) })
	}
	group.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// A trial is a world, the changes of it, what simulate said of them, and what happened.
type trial struct {
	*world

	changes       []change
	refusals      []string
	report        report
	text          string
	before, after observation
}

// try observes a world, and has a change of it simulated.
func (w *world) try() *trial {
	w.Helper()
	t := &trial{world: w}
	file := w.path("catalog.snapshot.gz")
	w.Svcat("snapshot", "--force", "-o", file)
	args := []string{"simulate", "--snapshot", file, "--unresolved=wait", "-o", "json"}
	for i := range 1 + w.random.IntN(mostChanges) {
		c := w.change(i)
		t.changes = append(t.changes, c)
		args = append(args, c.args...)
	}
	t.before = w.observe()
	got := w.Exec(env.Command{Binary: "svcat", Args: args})
	require.NoError(w, json.Unmarshal([]byte(got.Stdout), &t.report), "svcat %v: %s%s", args, got.Stdout, got.Stderr)
	t.text = got.Stdout
	want := 0
	if t.report.differences() > 0 || len(t.report.Changed) > 0 {
		want = 1
	}
	if len(t.report.changeRefusals()) > 0 {
		want = 2
	}
	require.Equal(w, want, got.Code, "svcat %v: %s%s", args, got.Stdout, got.Stderr)
	return t
}

// judge compares what simulate said with what is. The webhook learns of the last writes by
// watches, of which nothing tells how far they are: it is asked again while it answers otherwise.
func (t *trial) judge() {
	t.Helper()
	var wrong []string
	err := wait.Eventually(t.Context(), func() (bool, error) {
		t.after = t.observe()
		if wrong = t.differences(); len(wrong) > 0 {
			return false, errors.New(strings.Join(wrong, "\n"))
		}
		return true, nil
	})
	if err != nil {
		t.Errorf("what simulate said is not what happened: %v\nRepeat it with %s=%d %s=1\n%s", err, seedVariable, t.seed, roundsVariable, t.listing(wrong))
	}
}

// make makes one of the changes, if there are so many.
func (t *trial) make(n int) {
	t.Helper()
	if n >= len(t.changes) {
		return
	}
	if refusal := t.changes[n].make(); refusal != "" {
		t.refusals = append(t.refusals, refusal)
	}
}

// listing is what a person needs to see what is wrong.
func (t *trial) listing(wrong []string) string {
	text := &strings.Builder{}
	fmt.Fprintf(text, "wrong:\n  %s\nchanges:\n", strings.Join(wrong, "\n  "))
	for _, c := range t.changes {
		fmt.Fprintf(text, "  %s\n%s", strings.Join(c.args, " "), c.content)
	}
	w := t.registered.DeepCopy()
	t.Get(w)
	fmt.Fprintf(text, "broker: %s\n", env.StatusOf(w))
	fmt.Fprintf(text, "refused: %q\nbefore: %v\nafter:  %v\nsimulate said: %s", t.refusals, t.before, t.after, t.text)
	return text.String()
}
