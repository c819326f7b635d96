package defaults

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func newWalk(seed uint64) *walk {
	w := &walk{Rand: rand.New(rand.NewPCG(seed, 1)), plans: map[string]modelPlan{}, excuses: map[string]int{}}
	w.past = w.read()
	return w
}

// restless bounds how many actions lead from any state to rest: one to record, one
// to annotate, one to confirm, one for each other plan, and those about the object.
const restless = 12

// calm lets a keeper work undisturbed until it rests.
func (w *walk) calm(t *testing.T) {
	t.Helper()
	for range restless {
		w.past = w.read()
		if w.keeper(t, func() bool { return false }) {
			w.settled(t)
			return
		}
	}
	require.Fail(t, "it never rests", strings.Join(w.history, "\n"))
}

// settled fails unless record and annotations are as DESIGN.md section 5 has them.
func (w *walk) settled(t *testing.T) {
	t.Helper()
	var annotated []string
	for name, p := range w.plans {
		if p.annotated && p.state == planLive {
			annotated = append(annotated, name)
		}
	}
	slices.Sort(annotated)
	story := fmt.Sprintf("%+v\n%+v\n%s", w.typ, w.plans, strings.Join(w.history, "\n"))
	holder, there := w.plans[w.typ.recorded]
	switch {
	case w.typ.recorded == "" && w.typ.awaiting:
		require.Greater(t, len(annotated), 1, "what is ambiguous? %s", story)
	case w.typ.recorded == "":
		require.Empty(t, annotated, "an annotation that was not recorded: %s", story)
	case there && holder.state == planDormant:
		require.Empty(t, annotated, "a default that cannot be chosen stands before one that can: %s", story)
	default:
		require.True(t, there, "a plan that does not exist is recorded: %s", story)
		require.Equal(t, planLive, holder.state, story)
		require.Equal(t, []string{w.typ.recorded}, annotated, "record and annotation disagree: %s", story)
		require.True(t, w.typ.confirmed && w.typ.observed == w.typ.generation, "not confirmed: %s", story)
	}
	inUse := slices.ContainsFunc(slices.Collect(maps.Values(w.plans)), func(p modelPlan) bool { return p.state == planLive })
	require.Truef(t, w.typ.there || !inUse, "no object of a type in use: %s", story)
	require.Truef(t, inUse || !w.typ.ours || w.typ.recorded != "", "an object of a type that is not in use: %s", story)
}

// walks is how many walks a test goes.
func walks() uint64 {
	if testing.Short() {
		return 3_000
	}
	return 20_000
}

func TestWhateverHappensATypeSettles(t *testing.T) {
	t.Parallel()
	for seed := range walks() {
		w := newWalk(seed)
		for range 30 {
			w.now++
			if w.now <= firstRun || w.IntN(3) == 0 {
				w.user()
				continue
			}
			if w.IntN(2) == 0 {
				w.past = w.read()
			}
			// The time goes on between the keeper's steps, in which users act and
			// it may die.
			w.keeper(t, func() bool {
				for w.IntN(3) == 0 {
					w.now++
					w.user()
				}
				return w.IntN(8) == 0
			})
			if w.IntN(10) == 0 {
				w.calm(t)
				w.heard(t)
			}
		}
		w.calm(t)
		w.heard(t)
	}
}

// heard takes the annotation off the default, which is then not put back.
func (w *walk) heard(t *testing.T) {
	t.Helper()
	name := w.typ.recorded
	p, there := w.plans[name]
	if !there || !p.annotated || !w.typ.confirmed {
		return
	}
	w.now++
	w.sayf("user takes the annotation off %s, which is confirmed", name)
	p.annotated = false
	w.excuses[name] = w.now
	w.storePlan(name, p)
	w.calm(t)
	require.False(t, w.plans[name].annotated, "the annotation was put back:\n%s", strings.Join(w.history, "\n"))
	require.NotEqual(t, name, w.typ.recorded, "the record was kept:\n%s", strings.Join(w.history, "\n"))
}

// A lease that was lost calls no write back that is under way, so that two keepers
// may act at the same time. Then one may take a default away that the other just
// recorded, as if its user had; all else holds.
func TestTwoKeepersSettleATypeToo(t *testing.T) {
	t.Parallel()
	for seed := range walks() {
		w := newWalk(seed)
		w.overlap = true
		for range 30 {
			w.now++
			if w.now <= firstRun || w.IntN(3) == 0 {
				w.user()
				continue
			}
			w.past = w.read()
			w.keeper(t, func() bool {
				for w.IntN(2) == 0 {
					w.now++
					if w.IntN(2) == 0 {
						w.user()
						continue
					}
					w.past = w.read()
					w.keeper(t, func() bool { return w.IntN(8) == 0 })
				}
				return w.IntN(8) == 0
			})
		}
		w.calm(t)
	}
}
