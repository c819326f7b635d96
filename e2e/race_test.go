package e2e_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

// rejectedShare is the share of writes that the other webhook refuses.
const rejectedShare = 0.3

// raceRounds is how many rounds a race has: as many as DEFAULTPLAN_RACE_ROUNDS
// says, or enough for every day.
func raceRounds(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(orElse(os.Getenv("DEFAULTPLAN_RACE_ROUNDS"), "40"))
	require.NoError(t, err, "DEFAULTPLAN_RACE_ROUNDS")
	return n
}

// TestDefaultsAreRaced: whatever is written at the same time, by whatever webhook
// it is judged, and whenever the keeper is killed, there is never more than one
// default of a type, and soon there is exactly one.
//
//nolint:tparallel // its races share a keeper that is killed.
func TestDefaultsAreRaced(t *testing.T) {
	t.Parallel()
	s := startStack(t, func(o *stack.Options) { o.Webhooks, o.WebhookArgs = 2, []string{"--keeper=off"} })
	keeper, err := s.StartKeeper(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, keeper.Stop(context.Background(), syscall.SIGTERM)) })
	n := raceRounds(t)
	for _, tc := range []struct {
		name            string
		scope           scope
		rounds, writers int
		play            func(m *match, round, writers int)
	}{
		{"TwoWriters", clusterScope, n, 2, (*match).race},
		{"EightWriters", clusterScope, n, 8, (*match).race},
		{"EightWritersOfANamespace", namespaceScope, n / 4, 8, (*match).race},
		{"Switches", clusterScope, n, 8, (*match).swap},
		{"SwitchesInANamespace", namespaceScope, n / 4, 4, (*match).swap},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := newMatch(newWorldOn(t, s), tc.scope, keeper)
			for round := range tc.rounds {
				m.disturbance = m.disturb(round, tc.rounds)
				tc.play(m, round, tc.writers)
				require.NoError(t, m.sampler.judge())
			}
			m.report()
			assert.LessOrEqual(t, m.withdrawn, max(2, tc.rounds/8), "defaults that were withdrawn before they were recorded")
		})
	}
}

// A match is a contest of many rounds, with all that makes it hard.
type match struct {
	*contest

	outages  *outages
	sampler  *sampler
	rejecter *stack.Rejecter
	random   *rand.Rand
	// disturbance is that of the round.
	disturbance disturbance

	outcomes map[outcome]int
	// late counts winners that were not the first to be stored, and withdrawn
	// defaults that an instance may have got before another was recorded.
	late, withdrawn int
}

func newMatch(w *world, s scope, keeper *stack.Keeper) *match {
	w.Helper()
	c := newContest(w, s)
	seed := rand.Uint64()
	w.Logf("seed %d", seed)
	rejecter, err := w.StartRejecter(w.Context(), rejectedShare, seed)
	require.NoError(w, err)
	w.Cleanup(func() { assert.NoError(w, rejecter.Stop(context.Background())) })
	random := rand.New(rand.NewPCG(seed, seed))
	return &match{
		contest: c, rejecter: rejecter, random: random, sampler: startSampler(c), outcomes: map[outcome]int{},
		outages: &outages{world: w, keeper: keeper, random: rand.New(rand.NewPCG(seed, seed+1))},
	}
}

// disturb draws the disturbance of a round: one in five is disturbed. In the
// middle of a match a webhook is killed with the keeper, and a little later the
// keeper's Lease runs out.
func (m *match) disturb(round, rounds int) disturbance {
	switch {
	case round == rounds/2:
		return bothKilled
	case round == rounds*3/4:
		return keeperLost
	case m.random.IntN(5) == 0:
		return keeperKilled
	}
	return calm
}

// race is one round in which writers turn on different plans at once.
func (m *match) race(round, writers int) {
	m.Helper()
	over := m.outages.disturb(m.contest, m.disturbance)
	m.clear()
	require.NoError(m, stayedOff(m.history.replay()), "round %d", round)
	made := m.attempts(m.draw(m.random, writers), m.turnOn)
	wins := m.accepted(made)
	m.settles(fmt.Sprintf("one of %d is the default (round %d)", len(wins), round), func(now glance) bool {
		return settled(now) && (now.record != "") == (len(wins) > 0)
	})
	webhookKilled := over()
	moments := m.history.replay()
	require.NoError(m, m.judgeAttempts(made, webhookKilled), "round %d", round)
	require.NoError(m, m.judgeRace(moments, wins), "round %d", round)
}

// accepted are the plans of which the write was stored, or for which there is no
// telling yet.
func (m *match) accepted(made []attempt) []string {
	var plans []string
	for _, a := range made {
		if a.err == nil {
			plans = append(plans, a.plan)
		}
	}
	return plans
}

// judgeAttempts counts what came of the attempts, and says what is wrong with any.
func (m *match) judgeAttempts(made []attempt, webhookKilled bool) error {
	for _, a := range made {
		came, err := a.outcome()
		if err != nil {
			return fmt.Errorf("the write of %q got what nobody should get: %w", a.plan, err)
		}
		m.outcomes[came]++
		if came == unheard && !webhookKilled {
			return fmt.Errorf("no webhook was killed, but the write of %q was not judged: %w", a.plan, a.err)
		}
		if came == refused {
			if err := m.namesHolder(a); err != nil {
				return err
			}
		}
	}
	return nil
}

// judgeRace says what is wrong with what happened in a round that these plans'
// writes were stored in.
func (m *match) judgeRace(moments []moment, wins []string) error {
	var recorded, first string
	for _, now := range moments {
		if err := now.believesOne(); err != nil {
			return err
		}
		if first == "" && len(now.annotated) > 0 {
			first = now.annotated[0]
		}
		for _, name := range now.annotated {
			if !slices.Contains(wins, name) {
				return fmt.Errorf("at revision %d %q is annotated, whose write was not stored: %+v", now.revision, name, moments)
			}
		}
		if now.record != recorded && recorded != "" {
			return fmt.Errorf("at revision %d the record changes from %q to %q, as nobody wanted: %+v", now.revision, recorded, now.record, moments)
		}
		recorded = now.record
	}
	if recorded != first {
		m.late++
	}
	if slices.ContainsFunc(moments, func(now moment) bool { return now.plan != "" && now.plan != recorded }) {
		m.withdrawn++
	}
	return nil
}

// stayedOff says what is wrong with how a default was cleared: an annotation that
// was taken off came back, or the record went elsewhere.
func stayedOff(moments []moment) error {
	for i := 1; i < len(moments); i++ {
		before, now := moments[i-1], moments[i]
		if err := now.believesOne(); err != nil {
			return err
		}
		if slices.ContainsFunc(now.annotated, func(name string) bool { return !slices.Contains(before.annotated, name) }) {
			return fmt.Errorf("at revision %d an annotation that was taken off is back: %+v", now.revision, moments)
		}
		if now.record != before.record && now.record != "" {
			return fmt.Errorf("at revision %d %q is recorded while the default is cleared: %+v", now.revision, now.record, moments)
		}
	}
	return nil
}

// report tells what there was, and fails if that proves nothing.
func (m *match) report() {
	m.Helper()
	asked, turnedDown := m.rejecter.Count()
	m.Logf("writes %v; the other webhook refused %d of %d; the keeper was killed %d times, %d with a webhook; "+
		"instances decided %d, refused %d; a later write won %d times, a default was withdrawn before it was recorded %d times; moments %d",
		m.outcomes, turnedDown, asked, m.outages.kills, m.outages.together,
		m.sampler.decided, m.sampler.turnedAway, m.late, m.withdrawn, len(m.history.moments))
	assert.Positive(m, m.outcomes[accepted])
	assert.Positive(m, m.outcomes[rejected])
	assert.Positive(m, m.outages.kills)
	assert.Positive(m, m.outages.together)
	assert.Positive(m, m.sampler.decided)
	assert.Positive(m, m.sampler.turnedAway)
}
