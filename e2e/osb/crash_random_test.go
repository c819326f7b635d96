package osb_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack/apiproxy"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

const (
	// crashRounds is how often the controller is killed at random, unless the environment
	// variable CRASH_ROUNDS says otherwise. CRASH_SEED sets the seed.
	crashRounds, crashRoundsLong = 8, 24
	// roundsAtOnce is after how many of them all has to come to rest.
	roundsAtOnce = 8
	// furthest is how many writes and calls a round goes on for at most, and pairsPerRound
	// how many instances are made in it: enough for as many.
	furthest      = 12
	pairsPerRound = 2
	// mostPairs is how many there are before some go.
	mostPairs = 10
)

// A pair is an instance and a binding to it.
type pair struct {
	instance                  *api.ServiceInstance
	binding                   *api.ServiceBinding
	instanceGoes, bindingGoes bool
}

// A mess is a crash whose controller is killed again and again, while instances and
// bindings come, change and go.
type mess struct {
	*crash

	dice  *rand.Rand
	pairs []*pair
	made  int
}

// atRandom kills the controller at random writes and calls, several times before
// anything comes to rest.
func (g *crashStack) atRandom(t *testing.T) {
	rounds := suite.Rounds(t, "CRASH_ROUNDS", crashRounds, crashRoundsLong)
	seed := suite.Seed(t, "CRASH_SEED")
	m := &mess{
		crash: newCrash(t, g, crashOperation{class: openClass, prepare: nothingBefore}),
		dice:  rand.New(rand.NewPCG(seed, 0)),
	}
	defer g.proxy.Delay(0)
	for round := range rounds {
		m.round(g)
		if round%roundsAtOnce == roundsAtOnce-1 || round == rounds-1 {
			m.settle()
		}
	}
	// A binding may be asked for, and anything deleted, while its instance is changed, of
	// which a cache may know too late: the broker says so, and it is tried again.
	m.allGoes(m.broker, "M12")
	t.Logf("the controller was killed %d times", rounds)
}

// round goes on until the controller is killed, and starts another one.
func (m *mess) round(g *crashStack) {
	m.Helper()
	// Some controllers have a cache that lags.
	g.proxy.Delay([]time.Duration{0, 0, 50 * time.Millisecond, 300 * time.Millisecond}[m.dice.IntN(4)])
	w := m.wire()
	m.burst()
	select {
	case <-w.called:
	case <-w.held.Arrived:
		if w.applied {
			w.held.Apply()
			arrivesAt(m.T, w.held.Applied, "a write was never applied")
		}
	case <-time.After(wait.Patience(longest)):
		require.FailNow(m, "nothing happens any more")
	}
	ready := g.killed(m.T)
	ready()
}

// A tripwire is so many writes and calls ahead.
type tripwire struct {
	mu   sync.Mutex
	left int
	// called is closed when it was a call of the broker, which is never answered; held is
	// the write otherwise, which is to be applied or not.
	called  chan struct{}
	held    *apiproxy.HeldWrite
	applied bool
}

// step is one write or call; it says whether that is the one.
func (w *tripwire) step() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left--
	return w.left == 0
}

// wire puts a tripwire in the way of the controller.
func (m *mess) wire() *tripwire {
	w := &tripwire{left: 1 + m.dice.IntN(furthest), called: make(chan struct{}), applied: m.dice.IntN(2) == 0}
	w.held = m.stack.proxy.Hold(func(write *apiproxy.Write) bool {
		return write.Namespace == m.Namespace && write.Resource != "events" && w.step()
	})
	calls := rand.New(rand.NewPCG(m.dice.Uint64(), 0))
	end := osbtest.Hang()
	if w.applied {
		end = end.Acting()
	}
	m.broker.On(func(call osbtest.Call) osbtest.Fault {
		if call.Verb == osbtest.GetCatalog {
			return osbtest.Fault{}
		}
		if w.step() {
			close(w.called)
			return end
		}
		switch call.Verb {
		case osbtest.Provision, osbtest.Update, osbtest.Deprovision, osbtest.Bind, osbtest.Unbind:
			if calls.IntN(3) == 0 {
				return osbtest.AsyncDone(calls.IntN(2))
			}
		default:
		}
		return osbtest.Fault{}
	})
	return w
}

// burst asks for new instances and bindings, and for changes of those that there are.
func (m *mess) burst() {
	m.Helper()
	for _, p := range m.pairs {
		switch n := m.dice.IntN(8); {
		case p.instanceGoes:
		case n == 0 || len(m.pairs) > mostPairs && n < 4:
			m.goes(p.binding, &p.bindingGoes)
			m.goes(p.instance, &p.instanceGoes)
		case n == 1:
			m.goes(p.binding, &p.bindingGoes)
		case n == 2:
			m.change(p.instance, fmt.Sprintf(`{"spec": {"parameters": {"size": %d}}}`, 2+m.dice.IntN(mostPairs)))
		}
	}
	for range pairsPerRound {
		m.made++
		name := fmt.Sprintf("db-%d", m.made)
		class := []string{openClass, shutClass}[m.dice.IntN(2)]
		p := &pair{instance: m.Instance(name, env.OfPlan(class+"-"+m.Suffix, "small")), binding: m.Binding(name, name)}
		p.instance.Spec.Parameters = env.RawJSON(`{"size": 1}`)
		m.Create(p.instance, p.binding)
		m.pairs = append(m.pairs, p)
	}
}

func (m *mess) goes(o client.Object, goes *bool) {
	m.Helper()
	if !*goes {
		m.Delete(o)
		*goes = true
	}
}

// settle waits until all is as it was asked for, and compares the books.
func (m *mess) settle() {
	m.Helper()
	m.stack.proxy.Delay(0)
	m.broker.Sync()
	m.endAll() // an unrecorded operation is not polled
	var live []*pair
	for _, p := range m.pairs {
		if p.bindingGoes {
			m.Gone(p.binding)
		} else {
			m.Ready(p.binding)
		}
		if p.instanceGoes {
			m.Gone(p.instance)
			continue
		}
		m.Ready(p.instance)
		live = append(live, p)
	}
	m.pairs = live
	m.booksAgree(m.broker)
}
