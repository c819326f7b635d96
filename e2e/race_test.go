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
	n, err := strconv.Atoi(orElse(os.Getenv("DEFAULTPLAN_RACE_ROUNDS"), "24"))
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
	// With fewer, chance might spare every write that the other webhook is to refuse.
	const few = 10
	n := raceRounds(t)
	for _, tc := range []struct {
		name            string
		scope           scope
		rounds, writers int
		play            func(m *match, round, writers int)
	}{
		{"TwoWriters", clusterScope, n, 2, (*match).race},
		{"EightWriters", clusterScope, n, 8, (*match).race},
		{"EightWritersOfANamespace", namespaceScope, max(n/4, few), 8, (*match).race},
		{"OnAndOff", clusterScope, max(n/2, 2*few), 1, (*match).flip},
		{"Switches", clusterScope, n, 8, (*match).swap},
		{"SwitchesInANamespace", namespaceScope, max(n/4, few), 4, (*match).swap},
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

// disturb draws the disturbance of a round: one in five has one, and in few of them
// the keeper's Lease must run out. In the middle of a match a webhook is killed with
// the keeper.
func (m *match) disturb(round, rounds int) disturbance {
	owed := m.outages.owed
	m.outages.owed = calm
	switch {
	case round == rounds/2:
		return bothKilled
	case owed != calm:
		return owed
	case m.random.IntN(60) == 0:
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

// flip is one round in which a plan is turned on and, at once, off again. Wherever
// that meets the keeper, off it stays.
func (m *match) flip(round, _ int) {
	m.Helper()
	m.clear()
	m.history.replay()
	over := m.outages.disturb(m.contest, m.disturbance)
	name := m.draw(m.random, 1)[0]
	on := m.insist(name, func() error { return m.turnOn(name) })
	off := m.insist(name, func() error { return m.annotate(name, false) })
	m.settles(fmt.Sprintf("there is no default (round %d)", round), func(now glance) bool { return now.record == "" && len(now.annotated) == 0 })
	webhookKilled := over()
	moments := m.history.replay()
	require.NoError(m, m.judgeAttempts(slices.Concat(on, off), webhookKilled), "round %d", round)
	since := off[len(off)-1].from
	require.NoError(m, staysOff(slices.DeleteFunc(moments, func(now moment) bool { return now.revision <= since })), "round %d", round)
}

// insist makes an attempt until it is accepted.
func (m *match) insist(name string, write func() error) []attempt {
	m.Helper()
	var made []attempt
	require.NoError(m, stack.Eventually(m.Context(), func() (bool, error) {
		a := m.attempt(attempt{plan: name}, write)
		made = append(made, a)
		return a.err == nil, a.err
	}))
	return made
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
}
