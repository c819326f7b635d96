package races_test

import (
	"fmt"
	"slices"
	"sync"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/e2e/offering"
)

// swap is one round in which some switch the default at once, each to another
// plan, and some turn on others by annotation. A switching client may be killed
// between the steps: the record, the new plan's annotation, the old one's. In
// every fourth round, someone takes the default off meanwhile.
func (m *match) swap(round, writers int) {
	m.Helper()
	before := m.anyDefault()
	m.history.replay()
	over := m.outages.disturb(m.contest, m.disturbance)
	s := &swapping{match: m, before: before, off: round%4 == 3}
	s.play(m.drawBut(before, writers))
	now := m.settles(fmt.Sprintf("record and annotation agree (round %d)", round), offering.Settled)
	webhookKilled := over()
	moments := m.history.replay()
	require.NoError(m, m.judgeAttempts(s.made, webhookKilled), "round %d", round)
	require.NoError(m, s.judge(moments, now), "round %d", round)
}

// anyDefault is the default; one is made if there is none.
func (m *match) anyDefault() string {
	m.Helper()
	return m.settles("there is a default", func(now offering.Glance) bool {
		if len(now.Annotated) == 0 && now.Record == "" {
			// A refusal is told by what remains.
			_ = m.annotate(m.plans[0], true)
		}
		return offering.Settled(now) && now.Record != ""
	}).Record
}

// drawBut draws n plans, none of them that one.
func (m *match) drawBut(but string, n int) []string {
	return slices.DeleteFunc(m.draw(m.random, n+1), func(name string) bool { return name == but })[:n]
}

// A swapping is what is written in one such round.
type swapping struct {
	*match

	// before is the default at first, and off says that it is taken off.
	before string
	off    bool

	mu sync.Mutex
	// made are all attempts; switched, annotated and unset are those that were
	// accepted, by plan.
	made                []attempt
	switched, annotated []string
	unset               bool
}

// play lets one in four annotate and the others switch, all at once. Where the
// default is taken off, they begin as soon as that is stored, when the keeper is
// about to clear the record.
func (s *swapping) play(plans []string) {
	var all sync.WaitGroup
	start := make(chan struct{})
	for i, name := range plans {
		steps, guarded := 1+s.random.IntN(3), s.random.IntN(2) == 0
		all.Go(func() {
			<-start
			if i%4 == 3 {
				s.turnsOn(name)
				return
			}
			s.switches(name, steps, guarded)
		})
	}
	if s.off {
		taken, over := s.history.after(1), make(chan struct{})
		all.Go(func() {
			defer close(over)
			s.try(attempt{plan: s.before}, func() error { return s.annotate(s.before, false) }, func() { s.unset = true })
		})
		select {
		case <-taken:
		case <-over: // it was refused
		}
	}
	close(start)
	all.Wait()
}

// try makes an attempt, and remembers it and whether it was accepted.
func (s *swapping) try(a attempt, write func() error, accepted func()) bool {
	a = s.attempt(a, write)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made = append(s.made, a)
	if a.err == nil {
		accepted()
	}
	return a.err == nil
}

func (s *swapping) turnsOn(name string) bool {
	return s.try(attempt{plan: name}, func() error { return s.turnOn(name) }, func() { s.annotated = append(s.annotated, name) })
}

// switches makes the first steps of a switch; a guarded one is void if the record
// is not as it was read.
func (s *swapping) switches(name string, steps int, guarded bool) {
	switched := s.try(attempt{plan: name, guarded: guarded}, func() error { return s.recordDefault(name, guarded) }, func() { s.switched = append(s.switched, name) })
	if !switched || steps < 2 || !s.turnsOn(name) || steps < 3 {
		return
	}
	s.try(attempt{plan: s.before}, func() error { return s.annotate(s.before, false) }, func() {})
}

// recordDefault is the first step of a switch.
func (c *contest) recordDefault(name string, guarded bool) error {
	kept := c.typeObject()
	if err := c.Client().Get(c.Context(), client.ObjectKeyFromObject(kept), kept); err != nil {
		return err
	}
	version := ""
	if guarded {
		version = fmt.Sprintf(`"metadata":{"resourceVersion":%q},`, kept.GetResourceVersion())
	}
	return c.TryPatch(kept, fmt.Sprintf(`{%s"spec":{"defaultPlanRef":{"name":%q}}}`, version, name))
}

// judge says what is wrong with what happened.
func (s *swapping) judge(moments []moment, last offering.Glance) error {
	recorded, changes := s.before, 0
	for _, now := range moments {
		if err := now.believesOne(); err != nil {
			return err
		}
		if now.Record == "" && recorded != "" && (!s.unset || recorded != s.before) {
			return fmt.Errorf("at revision %d %q is no default any more, as no writer wanted: %+v", now.revision, recorded, moments)
		}
		if now.Record != recorded {
			if !s.wanted(now.Record) {
				return fmt.Errorf("at revision %d %q is recorded, without a switch to it: %+v", now.revision, now.Record, moments)
			}
			recorded = now.Record
			changes++
		}
	}
	if changes < len(s.switched) {
		return fmt.Errorf("%v were switched to, but the record changed %d times: %+v", s.switched, changes, moments)
	}
	if recorded != last.Record {
		return fmt.Errorf("%q was the last record, but %q is", recorded, last.Record)
	}
	for _, name := range s.annotated {
		if !s.unset && !slices.Contains(s.switched, name) {
			return fmt.Errorf("%q was annotated beside a record: %+v", name, moments)
		}
	}
	return nil
}

// wanted says that someone may have made it the default: by a switch, or by
// annotation where the default was taken off.
func (s *swapping) wanted(name string) bool {
	return slices.Contains(s.switched, name) || (s.unset && (name == "" || slices.Contains(s.annotated, name)))
}
