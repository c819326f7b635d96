package claims_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack/apiproxy"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

const (
	// randomKills is how often the controller is killed at random, with so many claims
	// that come and go.
	randomKills, randomKillsLong = 2, 10

	randomClaims = 4
	// furthest is how many writes and calls it goes on for at most.
	furthest = 20
)

// atRandom kills the controller at random writes and calls, while claims come and go.
func (g *crashStack) atRandom(t *testing.T) {
	dice := rand.New(rand.NewPCG(suite.Seed(t, "CLAIMS_SEED"), 0))
	s := newShopOn(env.On(t, g.Stack), true, crashing)
	var claims []*api.ServiceBinding
	for kill := range suite.Rounds(t, "CLAIMS_KILLS", randomKills, randomKillsLong) {
		left := 1 + dice.IntN(furthest)
		held := g.proxy.Hold(func(w *apiproxy.Write) bool {
			if w.Namespace != s.Namespace || w.Resource == "events" {
				return false
			}
			left--
			return left == 0
		})
		for n := range randomClaims {
			b := s.claim(func(b *api.ServiceBinding) { b.Name = fmt.Sprintf("orders-%d-%d", kill, n) })
			s.Create(b)
			if gone := dice.IntN(len(claims) + 1); gone < len(claims) {
				s.goes(claims[gone])
			}
			claims = append(claims, b)
		}
		arrivesAt(t, held.Arrived, "nothing happens any more")
		if dice.IntN(2) == 0 {
			held.Apply()
			arrivesAt(t, held.Applied, "the write was never applied")
		}
		g.killed(t)
	}
	s.settles(claims)
}

// settles waits until each claim is Ready or gone, compares the books, and removes all.
func (s *shop) settles(claims []*api.ServiceBinding) {
	s.Helper()
	live := 0
	for _, b := range claims {
		if s.Absent(b) || b.DeletionTimestamp != nil {
			s.Gone(b)
			continue
		}
		s.Ready(b)
		live++
	}
	assert.Len(s, s.broker.Instances(), live)
	assert.Len(s, s.broker.Bindings(), live)
	s.nothingMadeTwice()
	for _, b := range claims {
		s.goes(b)
	}
	for _, b := range claims {
		s.Gone(b)
	}
	assert.Empty(s, s.broker.Instances())
	assert.Empty(s, s.broker.Bindings())
	s.broker.AssertDuties(s)
}

// goes deletes a claim, which may have been deleted before.
func (s *shop) goes(b *api.ServiceBinding) {
	s.Helper()
	require.NoError(s, client.IgnoreNotFound(s.Client().Delete(s.Context(), b)))
}
