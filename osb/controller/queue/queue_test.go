package queue

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/defaultplan/defaultplan/osb"
)

// limits are few enough to be reached.
var limits = Limits{Calls: 8, PerBroker: 4, PerNamespace: 2, Namespaced: 4}

func cluster(name string) Broker               { return Broker{Name: name} }
func namespaced(namespace, name string) Broker { return Broker{Namespace: namespace, Name: name} }
func item(namespace string, number int) Item {
	return Item{Kind: "ServiceInstance", NamespacedName: types.NamespacedName{Namespace: namespace, Name: fmt.Sprint(number)}}
}

// A world has items that come to a call, and notes in which order they have their turn.
type world struct {
	*testing.T
	*Queues

	// turns are the passes that were resumed.
	turns chan *Pass
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, Queues: New(limits), turns: make(chan *Pass, 1000)}
	w.jitter = func() float64 { return evenly }
	return w
}

// begin begins a pass that must be possible.
func (w *world) begin(i Item) *Pass {
	w.Helper()
	p, begun := w.Begin(i, func(p *Pass) { w.turns <- p })
	require.True(w, begun)
	return p
}

// enters begins a pass that finds a place.
func (w *world) enters(i Item, b Broker) *Pass {
	w.Helper()
	p := w.begin(i)
	require.True(w, p.Enter(b), "%s at %s finds no place", i, b)
	return p
}

// waits begins a pass that finds none, and waits.
func (w *world) waits(i Item, b Broker) {
	w.Helper()
	p := w.begin(i)
	require.False(w, p.Enter(b), "%s at %s finds a place", i, b)
	require.False(w, p.End(&b))
}

// turn is the next pass that was resumed.
func (w *world) turn() *Pass {
	w.Helper()
	synctest.Wait()
	select {
	case p := <-w.turns:
		return p
	default:
		w.Fatal("nothing has its turn")
		return nil
	}
}

// quiet says that nothing has its turn.
func (w *world) quiet() {
	w.Helper()
	synctest.Wait()
	require.Empty(w, w.turns)
}

// empty says that nothing is remembered.
func (w *world) empty() {
	w.Helper()
	w.quiet()
	assert.Empty(w, w.items)
	assert.Empty(w, w.known)
	assert.Empty(w, w.Queues.waits)
	assert.Empty(w, w.ofNamespace)
	assert.Zero(w, w.running)
	assert.Zero(w, w.namespaced())
}

func inWorld(t *testing.T, test func(w *world)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { test(newWorld(t)) })
}

func TestLimits(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason string
		// held are the places that are taken, and wanted the one that is not to be had.
		held          []Broker
		wanted, other Broker
	}{
		"Broker":     {"one broker does not take all", []Broker{cluster("a"), cluster("a"), cluster("a"), cluster("a")}, cluster("a"), cluster("b")},
		"Namespace":  {"who may make one broker may make many", []Broker{namespaced("n", "a"), namespaced("n", "b")}, namespaced("n", "c"), namespaced("m", "a")},
		"Namespaced": {"some are for the cluster's brokers", []Broker{namespaced("a", "a"), namespaced("b", "a"), namespaced("c", "a"), namespaced("d", "a")}, namespaced("e", "a"), cluster("a")},
		"Calls": {"all together", []Broker{
			cluster("a"), cluster("a"), cluster("a"), cluster("a"), cluster("b"), cluster("b"), cluster("b"), cluster("b"),
		}, cluster("d"), Broker{}},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				passes := make([]*Pass, 0, len(test.held))
				for i, b := range test.held {
					passes = append(passes, w.enters(item([]string{"n", "m"}[i%2], i), b))
				}
				w.waits(item("n", 100), test.wanted)
				if test.other != (Broker{}) {
					w.enters(item("n", 101), test.other).End(nil)
				}
				w.quiet()
				require.Equal(w, 1, w.Waiting(test.wanted), test.reason)
				passes[0].End(nil)
				w.turn().End(nil)
				for _, p := range passes[1:] {
					p.End(nil)
				}
				w.empty()
			})
		})
	}
}

// Of one namespace, who came first is served first.
func TestFirstComeFirstServed(t *testing.T) {
	inWorld(t, func(w *world) {
		b := namespaced("n", "b")
		held := []*Pass{w.enters(item("n", 1), b), w.enters(item("n", 2), b)}
		for i := 10; i < 20; i++ {
			w.waits(item("n", i), b)
		}
		held[0].End(nil)
		for i := 10; i < 20; i++ {
			p := w.turn()
			assert.Equal(w, item("n", i), p.entry.item)
			w.quiet()
			p.End(nil)
		}
		held[1].End(nil)
		w.empty()
	})
}

// A namespace with many objects at a broker keeps another one waiting for one call.
func TestNamespacesTakeTurns(t *testing.T) {
	inWorld(t, func(w *world) {
		b := cluster("b")
		held := []*Pass{w.enters(item("n", 1), b), w.enters(item("n", 2), b), w.enters(item("n", 3), b), w.enters(item("m", 4), b)}
		for i := range 100 {
			w.waits(item("many", i), b)
		}
		w.waits(item("few", 1), b)
		w.waits(item("few", 2), b)
		var order []string
		held[0].End(nil)
		for range 5 {
			p := w.turn()
			order = append(order, p.entry.item.Namespace)
			p.End(nil)
		}
		assert.Equal(w, []string{"many", "few", "many", "few", "many"}, order)
	})
}

// One namespace has three quarters of a broker's places at most, so that another one's call
// does not wait for those that hang. A namespace may have all those of its own broker.
func TestPlacesAreLeftForOtherNamespaces(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason string
		broker Broker
		at     int
		left   bool
	}{
		"Cluster": {"three of four", cluster("b"), 4, true},
		"One":     {"a broker that is called once at a time is called", cluster("b"), 1, false},
		"Two":     {"and so is one that is called twice", cluster("b"), 2, false},
		"Own":     {"a ServiceBroker of the namespace", namespaced("many", "b"), 4, false},
		"Shared":  {"one of another namespace, which shares an instance", namespaced("owner", "b"), 4, true},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.limits = Limits{Calls: 100, PerBroker: test.at, PerNamespace: 100, Namespaced: 100}
				most := test.at
				if test.left {
					most--
				}
				held := make([]*Pass, 0, most)
				for i := range most {
					held = append(held, w.enters(item("many", i), test.broker))
				}
				w.waits(item("many", 100), test.broker)
				w.waits(item("many", 101), test.broker)
				w.quiet()
				if test.left {
					w.enters(item("few", 1), test.broker).End(nil)
					w.quiet()
				}
				held[0].End(nil)
				w.turn().End(nil)
				w.turn().End(nil)
				for _, p := range held[1:] {
					p.End(nil)
				}
				w.empty()
			})
		})
	}
}

// What waits of another namespace passes those of one that has its share, and is not passed
// by them.
func TestNamespaceWithItsShareIsPassed(t *testing.T) {
	inWorld(t, func(w *world) {
		b := cluster("b")
		held := []*Pass{w.enters(item("many", 1), b), w.enters(item("many", 2), b), w.enters(item("many", 3), b), w.enters(item("few", 1), b)}
		w.waits(item("many", 10), b)
		w.waits(item("few", 10), b)
		held[3].End(nil)
		p := w.turn()
		assert.Equal(w, item("few", 10), p.entry.item)
		p.End(nil)
		w.quiet()
		held[0].End(nil)
		p = w.turn()
		assert.Equal(w, item("many", 10), p.entry.item)
		p.End(nil)
		held[1].End(nil)
		held[2].End(nil)
		w.empty()
	})
}

// A broker with many objects that wait keeps another one waiting for one call.
func TestBrokersTakeTurns(t *testing.T) {
	inWorld(t, func(w *world) {
		held := []*Pass{w.enters(item("n", 1), namespaced("n", "x")), w.enters(item("n", 2), namespaced("n", "y"))}
		for i := range 10 {
			w.waits(item("n", 10+i), namespaced("n", "a"))
		}
		w.waits(item("n", 20), namespaced("n", "b"))
		held[0].End(nil)
		var order []string
		for range 3 {
			p := w.turn()
			order = append(order, p.place.line.broker.Name)
			p.End(nil)
		}
		assert.Equal(w, []string{"a", "b", "a"}, order)
	})
}

// A pause ends for all that wait with the answer to one call.
func TestPauseEndsWithOneAnswer(t *testing.T) {
	inWorld(t, func(w *world) {
		b := cluster("b")
		for i := range failuresToPause {
			p := w.enters(item("n", i), b)
			p.Called(&osb.Error{Kind: osb.NeverSent})
			p.End(nil)
		}
		for i := range 3 {
			p := w.begin(item("n", 10+i))
			assert.True(w, p.Held(b))
			assert.False(w, p.Held(cluster("other")))
			require.False(w, p.Enter(b))
			p.End(&b)
		}
		w.quiet()
		time.Sleep(firstPause)
		trial := w.turn()
		w.quiet()
		assert.False(w, trial.Held(b), "it has a place")
		trial.Called(&osb.Error{Kind: osb.MaybeReceived})
		trial.End(&b)
		w.quiet()
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

// A trial that comes to no call leaves it to the next one.
func TestTrialWithoutACall(t *testing.T) {
	inWorld(t, func(w *world) {
		b := cluster("b")
		for i := range failuresToPause {
			p := w.enters(item("n", i), b)
			p.Called(&osb.Error{Kind: osb.NeverSent})
			p.End(nil)
		}
		w.waits(item("n", 10), b)
		w.waits(item("n", 11), b)
		time.Sleep(firstPause)
		w.turn().End(nil)
		p := w.turn()
		p.Called(nil)
		p.End(nil)
		w.empty()
	})
}

// paused has so many calls of a namespace fail that the broker has a pause.
func (w *world) paused(namespace string, b Broker) {
	w.Helper()
	for i := range failuresToPause {
		p := w.enters(item(namespace, i), b)
		p.Called(&osb.Error{Kind: osb.NeverSent})
		p.End(nil)
	}
}

// A trial that hangs keeps its own namespace waiting, and another one for ten seconds.
func TestTrialBesideOneThatHangs(t *testing.T) {
	inWorld(t, func(w *world) {
		b := cluster("b")
		w.paused("many", b)
		w.waits(item("many", 10), b)
		w.waits(item("many", 11), b)
		w.waits(item("few", 10), b)
		w.waits(item("few", 11), b)
		time.Sleep(firstPause)
		hangs := w.turn()
		require.Equal(w, item("many", 10), hangs.entry.item)
		time.Sleep(trialPatience - 1)
		w.quiet()
		time.Sleep(time.Nanosecond)
		beside := w.turn()
		require.Equal(w, item("few", 10), beside.entry.item)
		w.quiet()
		beside.Called(nil)
		w.turn().End(nil)
		w.turn().End(nil)
		beside.End(nil)
		hangs.Called(&osb.Error{Kind: osb.MaybeReceived})
		hangs.End(nil)
		w.enters(item("few", 12), b).End(nil)
		w.Answered(b)
		w.empty()
	})
}

// What comes while a trial hangs is a trial beside it at once; one namespace makes one.
func TestTrialBesideIsOfAnotherNamespace(t *testing.T) {
	inWorld(t, func(w *world) {
		b := cluster("b")
		w.paused("many", b)
		w.waits(item("many", 10), b)
		w.waits(item("many", 11), b)
		time.Sleep(firstPause)
		hangs := w.turn()
		time.Sleep(2 * trialPatience)
		w.quiet()
		beside := w.enters(item("few", 10), b)
		w.waits(item("few", 11), b)
		w.waits(item("third", 10), b)
		time.Sleep(trialPatience)
		third := w.turn()
		require.Equal(w, item("third", 10), third.entry.item)
		beside.Called(&osb.Error{Kind: osb.MaybeReceived})
		beside.End(nil)
		w.quiet()
		hangs.End(nil)
		third.End(nil)
		w.quiet()
		time.Sleep(2 * firstPause)
		for range 2 { // each comes to no call, and leaves the trial to the next one
			w.turn().End(nil)
		}
		w.Answered(b)
		w.empty()
	})
}

// A catalog that was read is a sign of life.
func TestAnsweredEndsAPause(t *testing.T) {
	inWorld(t, func(w *world) {
		b := cluster("b")
		for i := range failuresToPause {
			p := w.enters(item("n", i), b)
			p.Called(&osb.Error{Kind: osb.NeverSent})
			p.End(nil)
		}
		w.waits(item("n", 10), b)
		w.Answered(cluster("other"))
		w.quiet()
		w.Answered(b)
		w.turn().End(nil)
		w.empty()
	})
}

// Of a broker that is gone nothing is remembered once its calls are over, whatever came of
// them; one of its name that answers is another broker.
func TestGone(t *testing.T) {
	inWorld(t, func(w *world) {
		b := cluster("b")
		w.Gone(b)
		w.empty()
		w.paused("n", b)
		w.waits(item("n", 10), b)
		w.Gone(b)
		late := w.turn()
		late.Called(&osb.Error{Kind: osb.MaybeReceived})
		late.End(nil)
		w.empty()

		late = w.enters(item("n", 10), b)
		w.Gone(b)
		w.Answered(b)
		late.Called(&osb.Error{Kind: osb.MaybeReceived})
		late.End(nil)
		assert.Len(w, w.known, 1)
		w.Gone(b)
		w.empty()
	})
}

// While a pass runs over an item no other begins, and none is forgotten.
func TestOnePassAtATime(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.begin(item("n", 1))
		_, begun := w.Begin(item("n", 1), nil)
		require.False(w, begun)
		assert.True(w, p.End(nil))
		p = w.begin(item("n", 1))
		assert.False(w, p.End(nil))
		w.empty()
	})
}

// What passes over an item remember is there for the next one, also where that waits, and the
// item is forgotten with it.
func TestMemory(t *testing.T) {
	inWorld(t, func(w *world) {
		b := namespaced("n", "b")
		held := []*Pass{w.enters(item("n", 1), b), w.enters(item("n", 2), b)}
		p := w.begin(item("n", 10))
		require.Nil(w, p.Memory())
		p.Remember("it")
		p.End(nil)
		w.waits(item("n", 10), b)
		held[0].End(nil)
		p = w.turn()
		assert.Equal(w, "it", p.Memory())
		p.End(nil)
		held[1].End(nil)
		assert.Len(w, w.items, 1)
		p = w.begin(item("n", 10))
		p.Remember(nil)
		p.End(nil)
		w.empty()
	})
}

// What waits is looked at again when it changes, and keeps its place unless nothing is to
// be called any more.
func TestPassOverWhatWaits(t *testing.T) {
	inWorld(t, func(w *world) {
		b := namespaced("n", "b")
		held := []*Pass{w.enters(item("n", 1), b), w.enters(item("n", 2), b)}
		w.waits(item("n", 10), b)
		w.waits(item("n", 11), b)
		w.waits(item("n", 12), b)
		w.waits(item("n", 10), b) // changed, and still in front
		w.begin(item("n", 11)).End(nil)
		busy := w.begin(item("n", 10))
		held[0].End(nil)
		last := w.turn()
		assert.Equal(w, item("n", 12), last.entry.item, "a pass runs over the first, and the second waits no more")
		held[1].End(nil)
		w.quiet()
		assert.True(w, busy.Enter(b), "its turn came meanwhile")
		last.End(nil)
		busy.End(nil)
		w.empty()
	})
}

// A pass that comes to a call at another broker gives its place back.
func TestPlaceOfAnotherBroker(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.enters(item("n", 1), cluster("a"))
		require.True(w, p.Enter(cluster("a")), "it has it")
		require.True(w, p.Enter(cluster("b")))
		assert.Len(w, w.known, 1)
		assert.Equal(w, 1, w.running)
		select {
		case <-p.Entered():
		default:
			w.Error("it entered")
		}
		p.End(nil)
		w.empty()
	})
}

// At the end, no place is given any more, and those that are taken are waited for.
func TestEndWaitsForCalls(t *testing.T) {
	inWorld(t, func(w *world) {
		b := cluster("b")
		p := w.enters(item("n", 1), b)
		ended := make(chan error, 1)
		ctx, cancel := context.WithCancel(w.Context())
		go func() { ended <- w.Start(ctx) }()
		cancel()
		synctest.Wait()
		assert.Empty(w, ended)
		w.waits(item("n", 2), b)
		p.End(nil)
		require.NoError(w, <-ended)
		w.quiet()
	})
}

// However passes come and go, no limit is passed, what waits has its turn in the end, and
// nothing is remembered then.
func TestRandomWalk(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) { newWalk(t, seed).walk() })
	}
}

type walk struct {
	*world

	random  *rand.Rand
	brokers []Broker
	open    []*Pass
}

func newWalk(t *testing.T, seed uint64) *walk {
	t.Helper()
	w := &walk{world: newWorld(t), random: rand.New(rand.NewPCG(seed, 0))}
	for _, name := range []string{"a", "b", "c"} {
		w.brokers = append(w.brokers, cluster(name), namespaced("m", name), namespaced("n", name))
	}
	return w
}

func (w *walk) walk() {
	for range 1000 {
		w.step()
		w.lawful()
	}
	for len(w.open)+len(w.turns)+w.lines() > 0 {
		w.resumed()
		for len(w.open) > 0 {
			w.end(0, nil)
		}
		time.Sleep(longestPause)
		synctest.Wait()
	}
	time.Sleep(forgetAfter + longestPause)
	synctest.Wait()
	for b := range w.known {
		w.Answered(b)
	}
	w.empty()
}

// lines is how many brokers are waited for.
func (w *walk) lines() int {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return len(w.Queues.waits)
}

func (w *walk) step() {
	w.resumed()
	switch kind := w.random.IntN(10); {
	case kind < 5:
		w.start()
	case len(w.open) > 0 && kind < 9:
		var waits *Broker
		if w.random.IntN(4) == 0 {
			waits = &w.brokers[w.random.IntN(len(w.brokers))]
		}
		w.end(w.random.IntN(len(w.open)), waits)
	default:
		time.Sleep(time.Second)
	}
}

// start begins a pass over some item, which comes to a call or not.
func (w *walk) start() {
	p, begun := w.Begin(item([]string{"m", "n", "o"}[w.random.IntN(3)], w.random.IntN(20)), func(p *Pass) { w.turns <- p })
	if !begun {
		return
	}
	b := w.brokers[w.random.IntN(len(w.brokers))]
	p.For([]Operation{{}, provision, update}[w.random.IntN(3)])
	switch {
	case w.random.IntN(5) == 0:
		p.End(nil)
	case p.Enter(b):
		w.open = append(w.open, p)
	default:
		p.End(&b)
	}
}

// resumed collects the passes whose turn it was.
func (w *walk) resumed() {
	synctest.Wait()
	for len(w.turns) > 0 {
		w.open = append(w.open, <-w.turns)
	}
}

func (w *walk) end(at int, waits *Broker) {
	p := w.open[at]
	w.open = append(w.open[:at], w.open[at+1:]...)
	switch w.random.IntN(5) {
	case 0:
		p.Called(&osb.Error{Kind: osb.NeverSent})
	case 1:
		p.Called(nil)
	case 2:
		p.Called(unavailable)
	}
	p.End(waits)
}

func (w *walk) lawful() {
	synctest.Wait()
	w.mutex.Lock()
	defer w.mutex.Unlock()
	require.LessOrEqual(w, w.running, limits.Calls)
	require.LessOrEqual(w, w.namespaced(), limits.Namespaced)
	for namespace, count := range w.ofNamespace {
		if namespace != "" { // under which those of the cluster's brokers are counted
			require.LessOrEqual(w, count, limits.PerNamespace)
		}
	}
	running, waiting := 0, 0
	for _, l := range w.known {
		require.LessOrEqual(w, l.running, limits.PerBroker)
		running += l.running
		if !l.empty() {
			waiting++
		}
		for namespace, count := range l.taken {
			require.True(w, namespace == l.broker.Namespace || count < limits.PerBroker, "%s has all places at %s", namespace, l.broker)
		}
		now := time.Now()
		for _, b := range l.operations {
			require.True(w, b.forgotten().After(now), "it is not forgotten")
		}
		waits := l.next(func(namespace string, operation Operation) bool { return w.free(l, namespace, operation) })
		require.Nil(w, waits, "a place is free, and %s waits", l.broker)
	}
	require.Equal(w, running, w.running)
	require.Len(w, w.Queues.waits, waiting)
}
