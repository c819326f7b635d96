package svcat_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/stack/apiproxy"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// Several switch at once, each to another plan, and some are killed or interrupted at
// any moment. At the end there is one default, in the record, the annotations and for
// every request; every line that was printed is true of a swap of its own; and no
// moment was without a default.
func TestSwitchRace(t *testing.T) {
	t.Parallel()
	s := newEnv(t).newStall(false, "one", "two", "three", "own")
	s.set("plan", s.Name("one"), "--default")
	s.comesTo("record one, annotated one")
	seed := suite.Seed(t, "SWITCH_SEED")
	random := rand.New(rand.NewPCG(seed, seed))
	h, proxy := s.watchRecord(), s.proxy()
	killed, cut, silent := 0, 0, 0
	for round := range suite.Rounds(t, "SWITCH_ROUNDS", 8, 20) {
		h.begin()
		racers := s.race(random, round, proxy)
		s.settles()
		swaps := h.swaps()
		for i := range racers {
			if racers[i].code == -1 {
				killed++
			}
			if !racers[i].finished() {
				cut++
			}
		}
		said, err := judgeRace(racers, swaps)
		require.NoError(t, err, "round %d: %+v printed while the record went %v", round, racers, swaps)
		silent += said
	}
	assert.Positive(t, killed, "one in four rounds certainly")
	t.Logf("%d were killed, %d were cut off, %d swaps were not told", killed, cut, silent)
}

// A racer is one run of `svcat set plan --default`.
type racer struct {
	plan   string
	signal syscall.Signal
	after  time.Duration
	// swap, if it is held, is what the API server has answered when it is struck.
	swap *apiproxy.HeldWrite
	// kubeconfig is empty for the administrator's own.
	kubeconfig string
	outcome
}

// finished says that it ended by itself.
func (r *racer) finished() bool { return r.code >= 0 && r.code != 130 }

// race lets two or three switch at once. In most rounds one of them is struck, in every
// fourth of them just when its swap was answered, and before it hears of that.
func (s *stall) race(random *rand.Rand, round int, proxy *apiproxy.Proxy) []racer {
	s.Helper()
	plans := []string{"one", "two", "three", "own"}
	random.Shuffle(len(plans), func(i, j int) { plans[i], plans[j] = plans[j], plans[i] })
	kept := s.record()
	s.Get(kept)
	if now, _ := recordIn(kept); now == s.Name(plans[0]) { // The first is to have something to write.
		plans[0], plans[1] = plans[1], plans[0]
	}
	racers := make([]racer, 2+round%2)
	var all sync.WaitGroup
	for i := range racers {
		r := &racers[i]
		r.plan = plans[i]
		if i == 0 && round%4 > 0 {
			r.signal = []syscall.Signal{0, syscall.SIGKILL, syscall.SIGKILL, syscall.SIGINT}[round%4]
			r.after = time.Duration(random.Int64N(int64(400 * time.Millisecond)))
			if round%4 == 2 {
				r.swap, r.kubeconfig = proxy.Hold(writes(http.MethodPatch, "clusterservicetypes")), proxy.Kubeconfig()
				r.swap.Apply()
			}
		}
		all.Go(func() { r.outcome = s.strikable(r) })
	}
	all.Wait()
	return racers
}

// strikable is run of a process that gets a signal some time after it started; the
// exit code of a killed one is -1.
func (s *stall) strikable(r *racer) outcome {
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(s.Context(), s.Binary("svcat"), "set", "plan", s.Name(r.plan), "--default", "--cluster")
	cmd.Env, cmd.Stdout, cmd.Stderr = s.Environment(), &out, &errs
	if r.kubeconfig != "" {
		cmd.Env = append(cmd.Env, "KUBECONFIG="+r.kubeconfig)
	}
	if err := cmd.Start(); err != nil {
		return outcome{"", err.Error(), -2}
	}
	ended := make(chan struct{})
	defer close(ended)
	if r.swap != nil {
		go func() {
			select {
			case <-r.swap.Applied:
				_ = cmd.Process.Signal(r.signal)
			case <-ended:
			}
		}()
	} else if r.signal != 0 {
		strike := time.AfterFunc(r.after, func() { _ = cmd.Process.Signal(r.signal) })
		defer strike.Stop()
	}
	_ = cmd.Wait() // Its exit code says it.
	return outcome{s.normal(out.String()), s.normal(errs.String()), cmd.ProcessState.ExitCode()}
}

// settles waits until one plan is recorded, confirmed and alone annotated, and asserts
// that it is what a new instance gets.
func (s *stall) settles() {
	s.Helper()
	var now string
	require.NoError(s, wait.Eventually(s.Context(), func() (bool, error) {
		var err error
		if now, err = s.standing(); err != nil {
			return false, err
		}
		record, annotated, _ := strings.Cut(strings.TrimPrefix(now, "record "), ", annotated ")
		if record != "" && record == annotated {
			now = record
			return true, nil
		}
		return false, fmt.Errorf("it is %q", now)
	}))
	require.Equal(s, now, s.gives())
}

// judgeRace says what is wrong with what racers printed, held against the swaps of the
// record. It returns how many swaps were not reported: those of processes that were
// cut off.
func judgeRace(racers []racer, swaps []swap) (untold int, err error) {
	left := slices.Clone(swaps)
	for i := range racers {
		r := &racers[i]
		if r.finished() && r.code != 0 {
			return 0, fmt.Errorf("%s ended with %d", r.plan, r.code)
		}
		old, is, already := "", false, false
		for line := range strings.Lines(r.out) {
			if words, ok := strings.CutSuffix(line, " is no longer the default plan for mysql\n"); ok {
				old = words
				continue
			}
			is = is || line == r.plan+" is the default plan for mysql\n"
			already = already || line == r.plan+" is the default plan for mysql already\n"
		}
		if r.finished() && is == already {
			return 0, fmt.Errorf("%s printed %q", r.plan, r.out)
		}
		if already && !slices.ContainsFunc(swaps, func(w swap) bool { return w.from == r.plan || w.to == r.plan }) {
			return 0, fmt.Errorf("%s was never the default", r.plan)
		}
		if !is && old == "" {
			continue
		}
		at := slices.Index(left, swap{old, r.plan})
		if at < 0 {
			return 0, fmt.Errorf("no swap from %q to %q is left", old, r.plan)
		}
		left = slices.Delete(left, at, at+1)
	}
	for _, one := range left {
		if one.to == "" || one.from == "" {
			return 0, fmt.Errorf("a moment without default: %v", one)
		}
		if one.from != one.to && !slices.ContainsFunc(racers, func(r racer) bool { return r.plan == one.to && !r.finished() }) {
			return 0, fmt.Errorf("no process reported %v", one)
		}
		if one.from != one.to {
			untold++
		}
	}
	return untold, nil
}
