package races_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/offering"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// rejectedShare is the share of writes that the other webhook refuses.
const rejectedShare = 0.3

// mostRounds bounds the further rounds of a race that lacks something: so many have it all
// but for a defect.
const mostRounds = 60

// TestDefaultsAreRaced: whatever is written at the same time, by whatever webhook
// it is judged, and whenever the keeper is killed, there is never more than one
// default of a type, and soon there is exactly one.
//
//nolint:tparallel // its races share a keeper that is killed.
func TestDefaultsAreRaced(t *testing.T) {
	t.Parallel()
	s := suite.Shared(t)
	keeper, err := s.StartKeeper(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, keeper.Stop(context.Background(), syscall.SIGTERM)) })
	n := suite.Rounds(t, "DEFAULTPLAN_RACE_ROUNDS", 8, 16)
	for _, tc := range []struct {
		name            string
		scope           offering.Scope
		rounds, writers int
		play            func(m *match, round, writers int)
	}{
		{"TwoWriters", offering.Cluster, n, 2, (*match).race},
		{"EightWriters", offering.Cluster, n, 8, (*match).race},
		{"EightWritersOfANamespace", offering.Namespace, max(n/4, 1), 8, (*match).race},
		{"OnAndOff", offering.Cluster, max(n/2, 1), 1, (*match).flip},
		{"Switches", offering.Cluster, n, 8, (*match).swap},
		{"SwitchesInANamespace", offering.Namespace, max(n/4, 1), 4, (*match).swap},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := newMatch(env.On(t, s), tc.scope, keeper)
			// Where chance spares something, such as each write that the other webhook
			// could deny, further rounds follow until it does not.
			round := 0
			for ; round < tc.rounds || round < mostRounds && len(m.missing()) > 0; round++ {
				m.disturbance = m.disturb(round, tc.rounds)
				tc.play(m, round, tc.writers)
				require.NoError(t, m.sampler.judge())
			}
			m.report()
			assert.LessOrEqual(t, m.withdrawn, max(2, round/8), "defaults that were withdrawn before they were recorded")
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

func newMatch(e *env.Env, s offering.Scope, keeper *stack.Keeper) *match {
	e.Helper()
	c := newContest(e, s)
	seed := suite.Seed(e.T, "DEFAULTPLAN_RACE_SEED")
	rejecter, err := stack.StartRejecter(e.Context(), e.Stack.Client(), rejectedShare, seed)
	require.NoError(e, err)
	e.Cleanup(func() { assert.NoError(e, rejecter.Stop(context.Background())) })
	random := rand.New(rand.NewPCG(seed, seed))
	return &match{
		contest: c, rejecter: rejecter, random: random, sampler: startSampler(c), outcomes: map[outcome]int{},
		outages: &outages{Env: e, keeper: keeper, random: rand.New(rand.NewPCG(seed, seed+1))},
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
	m.settles(fmt.Sprintf("one of %d is the default (round %d)", len(wins), round), func(now offering.Glance) bool {
		return offering.Settled(now) && (now.Record != "") == (len(wins) > 0)
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
	m.settles(fmt.Sprintf("there is no default (round %d)", round), func(now offering.Glance) bool { return now.Record == "" && len(now.Annotated) == 0 })
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
	require.NoError(m, wait.Eventually(m.Context(), func() (bool, error) {
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
	assert.Empty(m, m.missing(), "without these, the race proves nothing")
}

// missing is what has not happened yet, though a race is about it.
func (m *match) missing() []string {
	var missing []string
	for what, times := range map[string]int{
		"an accepted write": m.outcomes[accepted], "a write that the other webhook denied": m.outcomes[rejected],
		"a killed keeper": m.outages.kills, "a webhook killed with it": m.outages.together, "a decided instance": m.sampler.decided,
	} {
		if times == 0 {
			missing = append(missing, what)
		}
	}
	return missing
}
