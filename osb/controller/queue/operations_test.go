package queue

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/osb"
)

var (
	unavailable = &osb.Error{Kind: osb.Unavailable}
	provision   = Operation{Class: "db", Plan: "small", Name: "provision"}
	update      = Operation{Class: "db", Plan: "small", Name: "update"}
	otherPlan   = Operation{Class: "db", Plan: "large", Name: "provision"}
)

// does begins a pass for an operation, which finds a place or not.
func (w *world) does(i Item, b Broker, o Operation) (pass *Pass, entered bool) {
	w.Helper()
	p := w.begin(i)
	p.For(o)
	return p, p.Enter(b)
}

// refused has so many calls for an operation be answered with an error.
func (w *world) refused(namespace string, b Broker, o Operation, times int, err error) {
	w.Helper()
	for n := range times {
		p, entered := w.does(item(namespace, n), b, o)
		require.True(w, entered)
		p.Called(err)
		p.End(nil)
	}
}

// held begins a pass for an operation that has a pause, and waits.
func (w *world) held(i Item, b Broker, o Operation) {
	w.Helper()
	p, entered := w.does(i, b, o)
	require.False(w, entered)
	assert.True(w, p.Refused(b))
	assert.False(w, p.Held(b), "the broker answers")
	p.End(&b)
}

func TestOperationsCountRefusals(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason string
		err    error
		paused bool
	}{
		"Unavailable":  {"429 and 503", unavailable, true},
		"Wrapped":      {"also within another error", errors.Join(unavailable), true},
		"BrokerFault":  {"a 500 is about the one object", &osb.Error{Kind: osb.BrokerFault}, false},
		"Rejected":     {"so is a refusal", &osb.Error{Kind: osb.Rejected}, false},
		"Good":         {"it is served", nil, false},
		"Silent":       {"that is counted for the broker", &osb.Error{Kind: osb.NeverSent}, false},
		"NotTheBroker": {"a Secret that is not there says nothing", errors.New("no Secret"), false},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				b := cluster("b")
				w.refused("n", b, provision, failuresToPause-1, unavailable)
				w.refused("n", b, provision, 1, test.err)
				p, entered := w.does(item("n", 10), b, provision)
				assert.Equal(w, test.paused, p.Refused(b) && !entered, test.reason)
				p.End(nil)
			})
		})
	}
}

// What is not said to be of an operation is not counted.
func TestOperationNotSaid(t *testing.T) {
	inWorld(t, func(w *world) {
		b := cluster("b")
		w.refused("n", b, Operation{}, 2*failuresToPause, unavailable)
		w.enters(item("n", 1), b).End(nil)
		w.empty()
	})
}

// While one plan is refused, other plans and what else is done for this one go on, also where
// they came later. One call finds out how the plan is, and its answer lets all go on that wait.
func TestRefusedOperation(t *testing.T) {
	inWorld(t, func(w *world) {
		b := cluster("b")
		w.refused("n", b, provision, failuresToPause, unavailable)
		for i := range 3 {
			w.held(item("n", 10+i), b, provision)
		}
		for i, o := range []Operation{update, otherPlan} {
			p, entered := w.does(item("n", 20+i), b, o)
			require.True(w, entered, "%v", o)
			p.Called(nil)
			p.End(nil)
		}
		w.quiet()
		time.Sleep(firstPause)
		trial := w.turn()
		w.quiet()
		assert.False(w, trial.Refused(b), "it has a place")
		require.True(w, trial.Enter(b))
		trial.Called(unavailable)
		trial.End(&b)
		time.Sleep(2*firstPause - 1)
		w.quiet()
		time.Sleep(time.Nanosecond)
		trial = w.turn()
		trial.Called(nil)
		w.turn().End(nil)
		w.turn().End(nil)
		trial.End(nil)
		w.empty()
	})
}

// What others are refused for may be their own doing: a namespace that was not refused itself
// makes one call at once, whose answer is for all.
func TestRefusedByOthers(t *testing.T) {
	inWorld(t, func(w *world) {
		b := cluster("b")
		w.refused("bad", b, provision, failuresToPause, &osb.Error{Kind: osb.Unavailable, RetryAfter: longestWish})
		w.held(item("bad", 10), b, provision)
		p, entered := w.does(item("good", 10), b, provision)
		require.True(w, entered)
		w.held(item("good", 11), b, provision)
		p.End(nil) // it comes to no call, and leaves that to the next
		p = w.turn()
		require.Equal(w, item("good", 11), p.entry.item)
		w.held(item("good", 12), b, provision)
		p.Called(nil)
		w.turn().End(nil)
		w.turn().End(nil)
		p.End(nil)
		w.empty()
	})
}

// After a pause the trial is of a namespace that had the fewest, whatever else its objects do.
func TestRefusedNamespacesTakeTurns(t *testing.T) {
	inWorld(t, func(w *world) {
		b := cluster("b")
		w.refused("few", b, provision, 1, unavailable)
		w.refused("many", b, provision, failuresToPause-1, unavailable)
		w.held(item("many", 10), b, provision)
		w.held(item("many", 11), b, provision)
		w.held(item("few", 10), b, provision)
		tried := map[string]int{}
		for round := range 4 {
			time.Sleep(firstPause << round)
			trial := w.turn()
			tried[trial.entry.item.Namespace]++
			trial.Called(unavailable)
			trial.End(&b)
			w.fills(b, item("few", 20)) // which puts the namespace behind the other
		}
		assert.Equal(w, map[string]int{"few": 2, "many": 2}, tried)
		w.Gone(b)
		for range 3 {
			w.turn().End(nil)
		}
		w.empty()
	})
}

// fills has an item go on with another operation after it waited for a place.
func (w *world) fills(b Broker, i Item) {
	w.Helper()
	var places []*Pass
	for n := range w.limits.PerBroker {
		p, entered := w.does(item(fmt.Sprintf("other-%d", n), 0), b, otherPlan)
		require.True(w, entered)
		places = append(places, p)
	}
	p, entered := w.does(i, b, update)
	require.False(w, entered)
	p.End(&b)
	places[0].End(nil)
	turn := w.turn()
	require.Equal(w, i, turn.entry.item)
	turn.End(nil)
	for _, p := range places[1:] {
		p.End(nil)
	}
}

// A trial that hangs has one of another namespace beside it; one that comes to no call leaves
// it to the next.
func TestRefusedTrials(t *testing.T) {
	inWorld(t, func(w *world) {
		b := cluster("b")
		w.refused("few", b, provision, 1, unavailable)
		w.refused("many", b, provision, failuresToPause-1, unavailable)
		w.held(item("many", 10), b, provision)
		w.held(item("many", 11), b, provision)
		w.held(item("few", 10), b, provision)
		time.Sleep(firstPause)
		w.turn().End(nil)
		hangs := w.turn()
		require.Equal(w, item("few", 10), hangs.entry.item)
		time.Sleep(trialPatience)
		beside := w.turn()
		require.Equal(w, item("many", 11), beside.entry.item)
		beside.Called(nil)
		beside.End(nil)
		hangs.Called(&osb.Error{Kind: osb.MaybeReceived})
		hangs.End(nil)
		w.Answered(b)
		w.empty()
	})
}

// A plan is not called before the time that its broker asks for, within five minutes: the
// answer may be about one object.
func TestRefusedUntil(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ wish, want time.Duration }{
		"None":  {0, firstPause},
		"Short": {time.Second, firstPause},
		"Long":  {2 * time.Minute, 2 * time.Minute},
		"Day":   {osb.LongestWait, longestWish},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				b := cluster("b")
				w.refused("n", b, provision, failuresToPause-1, unavailable)
				w.refused("n", b, provision, 1, &osb.Error{Kind: osb.Unavailable, RetryAfter: test.wish})
				w.held(item("n", 10), b, provision)
				time.Sleep(test.want - 1)
				w.quiet()
				time.Sleep(time.Nanosecond)
				trial := w.turn()
				trial.Called(nil)
				trial.End(nil)
				w.empty()
			})
		})
	}
}

// What is refused does not keep other operations of its namespace waiting for a place, and
// keeps its own place among them.
func TestRefusedIsPassed(t *testing.T) {
	inWorld(t, func(w *world) {
		b := namespaced("n", "b")
		w.refused("n", b, provision, failuresToPause, unavailable)
		w.held(item("n", 10), b, provision)
		held := []*Pass{w.enters(item("n", 1), b), w.enters(item("n", 2), b)}
		for i, o := range []Operation{otherPlan, provision, otherPlan} {
			p, entered := w.does(item("n", 20+i), b, o)
			require.False(w, entered)
			p.End(&b)
		}
		held[0].End(nil)
		p := w.turn()
		require.Equal(w, item("n", 20), p.entry.item)
		p.End(nil)
		p = w.turn()
		require.Equal(w, item("n", 22), p.entry.item)
		time.Sleep(firstPause)
		p.End(nil)
		trial := w.turn()
		require.Equal(w, item("n", 10), trial.entry.item)
		trial.Called(nil)
		trial.End(nil)
		w.turn().End(nil)
		held[1].End(nil)
		w.empty()
	})
}

// What waits for one operation and comes to another has its place among all that wait.
func TestWaitsForAnotherOperation(t *testing.T) {
	inWorld(t, func(w *world) {
		b := namespaced("n", "b")
		held := []*Pass{w.enters(item("n", 1), b), w.enters(item("n", 2), b)}
		for i, o := range []Operation{provision, update, update} {
			p, entered := w.does(item("n", 10+i), b, o)
			require.False(w, entered)
			p.End(&b)
		}
		p, entered := w.does(item("n", 10), b, update)
		require.False(w, entered)
		p.End(&b)
		held[0].End(nil)
		for i := range 3 {
			p := w.turn()
			require.Equal(w, item("n", 10+i), p.entry.item)
			p.End(nil)
		}
		held[1].End(nil)
		w.empty()
	})
}

// So has what waits alone, at a broker that is not called.
func TestWaitsAloneForAnotherOperation(t *testing.T) {
	inWorld(t, func(w *world) {
		b := namespaced("n", "c")
		held := []*Pass{w.enters(item("n", 1), namespaced("n", "a")), w.enters(item("n", 2), namespaced("n", "b"))}
		for _, o := range []Operation{provision, update} {
			p, entered := w.does(item("n", 10), b, o)
			require.False(w, entered)
			p.End(&b)
		}
		assert.Equal(w, 1, w.Waiting(b))
		held[0].End(nil)
		w.turn().End(nil)
		held[1].End(nil)
		w.empty()
	})
}

// At its turn, what comes to another operation needs that this one has no pause.
func TestTurnForAnotherOperation(t *testing.T) {
	inWorld(t, func(w *world) {
		b := namespaced("n", "b")
		w.refused("n", b, provision, failuresToPause, unavailable)
		held := []*Pass{w.enters(item("n", 1), b), w.enters(item("n", 2), b)}
		for i := range 2 {
			p, _ := w.does(item("n", 10+i), b, update)
			p.End(&b)
		}
		held[0].End(nil)
		p := w.turn()
		p.For(otherPlan)
		require.True(w, p.Enter(b), "it has its turn")
		w.quiet()
		p.For(provision)
		assert.True(w, p.Refused(b))
		require.False(w, p.Enter(b))
		next := w.turn()
		require.Equal(w, item("n", 11), next.entry.item, "its place was given back")
		p.End(&b)
		next.End(nil)
		time.Sleep(firstPause)
		p = w.turn()
		p.Called(nil)
		p.End(nil)
		held[1].End(nil)
		w.empty()
	})
}

// told begins passes that wait, and notes which of them are told that it lasts.
func (w *world) told(b Broker, operations ...Operation) *[]string {
	w.Helper()
	told := &[]string{}
	for i, o := range operations {
		p, entered := w.does(item("n", 10+i), b, o)
		require.False(w, entered)
		p.OnPause(func() { *told = append(*told, p.entry.item.Name) })
		p.End(&b)
	}
	return told
}

// trial is a trial after a pause that fails once more, and waits again.
func (w *world) trial(b Broker, pause time.Duration, err error) {
	w.Helper()
	time.Sleep(pause)
	p := w.turn()
	p.Called(err)
	p.End(&b)
	w.quiet()
}

// What waits is looked at once a pause turns out to last, to say so: not for the first one, and
// not what waits for another operation.
func TestLastingRefusalIsToldOf(t *testing.T) {
	inWorld(t, func(w *world) {
		b := cluster("b")
		w.refused("n", b, provision, failuresToPause, unavailable)
		time.Sleep(firstPause / 2)
		w.refused("n", b, update, failuresToPause, unavailable)
		told := w.told(b, provision, provision, update, update)
		require.Empty(w, *told)
		w.trial(b, firstPause/2, unavailable)
		assert.Equal(w, []string{"11"}, *told)
		w.trial(b, firstPause/2, unavailable)
		assert.Equal(w, []string{"11", "13"}, *told)
		w.trial(b, 2*firstPause-firstPause/2, unavailable)
		assert.Len(w, *told, 2, "once")
		w.Gone(b)
		for range 4 {
			w.turn().End(nil)
		}
		w.empty()
	})
}

// So is all that waits for a broker that is silent.
func TestLastingSilenceIsToldOf(t *testing.T) {
	inWorld(t, func(w *world) {
		b := cluster("b")
		w.paused("n", b)
		told := w.told(b, provision, update, otherPlan)
		w.trial(b, firstPause, &osb.Error{Kind: osb.NeverSent})
		slices.Sort(*told)
		assert.Equal(w, []string{"11", "12"}, *told)
		w.trial(b, 2*firstPause, &osb.Error{Kind: osb.NeverSent})
		assert.Len(w, *told, 2, "once")
		w.Gone(b)
		for range 3 {
			w.turn().End(nil)
		}
		w.empty()
	})
}

// counted is how many operations of a broker something is counted of.
func (w *world) counted(b Broker) int {
	w.quiet()
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return len(w.known[b].operations)
}

// What was counted is forgotten with time.
func TestRefusalsAreForgotten(t *testing.T) {
	inWorld(t, func(w *world) {
		b := cluster("b")
		w.refused("n", b, provision, failuresToPause-1, unavailable)
		w.refused("n", b, update, failuresToPause, unavailable)
		assert.Equal(w, 2, w.counted(b))
		time.Sleep(forgetAfter)
		assert.Equal(w, 1, w.counted(b))
		time.Sleep(firstPause)
		w.empty()
	})
}

// Of a broker that is gone no refusal is remembered, also of a call that was under way.
func TestRefusalsGoWithTheirBroker(t *testing.T) {
	inWorld(t, func(w *world) {
		b := cluster("b")
		w.refused("n", b, provision, failuresToPause, unavailable)
		w.held(item("n", 10), b, provision)
		w.Answered(b)
		w.quiet()
		w.Gone(b)
		late := w.turn()
		require.True(w, late.Enter(b))
		late.Called(unavailable)
		late.End(nil)
		w.empty()
	})
}

// A line that is forgotten while its one waiter goes on to another operation still ends its pause.
func TestForgottenLineEndsItsPause(t *testing.T) {
	inWorld(t, func(w *world) {
		b := cluster("b")
		runs := w.enters(item("n", 1), b)
		w.Gone(b)
		for n := range failuresToPause {
			p := w.enters(item("n", 100+n), b)
			p.Called(&osb.Error{Kind: osb.NeverSent})
			p.End(nil)
		}
		p, entered := w.does(item("n", 10), b, provision)
		require.False(w, entered)
		p.End(&b)
		runs.End(nil)
		p, entered = w.does(item("n", 10), b, update)
		require.False(w, entered)
		p.End(&b)
		time.Sleep(longestPause)
		w.turn().End(nil)
	})
}
