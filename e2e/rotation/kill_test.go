package rotation_test

import (
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/stack/apiproxy"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A moment is a point of a rotation at which the controller is killed: reached is closed
// there, once on has let it come so far.
type moment struct {
	reason string
	edits  []func(*setting)
	// gate puts something in the way; what it returns is waited for, and then done, in turn.
	gate func(e *testEnv) []step
}

// A step is a point that is waited for, and what is to be done there; nil: nothing.
type step struct {
	reached <-chan struct{}
	then    func()
}

// writes are held on their way to the API server, if they are of the environment's namespace.
func (e *testEnv) writes(resource string, is func(w *apiproxy.Write) bool) *apiproxy.HeldWrite {
	namespace := e.Namespace
	return proxy.Hold(func(w *apiproxy.Write) bool {
		return w.Namespace == namespace && w.Resource == resource && is(w)
	})
}

func saysRotation(role string) func(w *apiproxy.Write) bool {
	return func(w *apiproxy.Write) bool {
		return w.Subresource == "status" && strings.Contains(string(w.Body), role)
	}
}

func puts(w *apiproxy.Write) bool { return w.Method == http.MethodPut }

func before(h *apiproxy.HeldWrite) []step { return []step{{h.Arrived, nil}} }

func after(h *apiproxy.HeldWrite) []step { return []step{{h.Arrived, h.Apply}, {h.Applied, nil}} }

func killMoments() map[string]moment {
	return map[string]moment{
		"BeforeIntent": {reason: "nothing was sent", gate: func(e *testEnv) []step {
			return before(e.writes("servicebindings", saysRotation("Successor")))
		}},
		"AfterIntent": {reason: "it may have been sent", gate: func(e *testEnv) []step {
			return after(e.writes("servicebindings", saysRotation("Successor")))
		}},
		"BrokerActed": {reason: "the broker has it, and it is not recorded", gate: func(e *testEnv) []step {
			h := e.broker.Hold(osbtest.Bind)
			return []step{{h.Arrived, h.Act}, {h.Acted, nil}}
		}},
		"PlainBrokerActed": {reason: "as with a plan that rotates", edits: []func(*setting){plain}, gate: func(e *testEnv) []step {
			h := e.broker.Hold(osbtest.Bind)
			return []step{{h.Arrived, h.Act}, {h.Acted, nil}}
		}},
		"BeforeSecret": {reason: "the new credentials are lost", edits: []func(*setting){oneShot}, gate: func(e *testEnv) []step {
			return before(e.writes("secrets", puts))
		}},
		"AfterSecret": {reason: "the Secret says whose credentials it has", edits: []func(*setting){oneShot}, gate: func(e *testEnv) []step {
			return after(e.writes("secrets", puts))
		}},
		"BeforeSwitch": {reason: "the Secret has them, and status does not say so", gate: func(e *testEnv) []step {
			return before(e.writes("servicebindings", saysRotation("Predecessor")))
		}},
		"AfterSwitch": {reason: "the write arrived, and its answer did not", gate: func(e *testEnv) []step {
			return after(e.writes("servicebindings", saysRotation("Predecessor")))
		}},
		"UnbindActed": {reason: "the former ones are gone, and it is not recorded", gate: func(e *testEnv) []step {
			h := e.broker.Hold(osbtest.Unbind)
			return []step{{h.Arrived, h.Act}, {h.Acted, nil}}
		}},
		"BeforeTheEnd": {reason: "they are gone, and status has them still", gate: func(e *testEnv) []step {
			return before(e.writes("servicebindings", saysRotation(`"rotation":null`)))
		}},
	}
}

// TestKillDuringRotation kills the controller with signal 9 at every moment of a rotation,
// once at all of them. Another one brings each to its end: never two successors, nothing
// left, and no reader ever found credentials that the broker did not take.
func TestKillDuringRotation(t *testing.T) {
	t.Parallel()
	var reached, over sync.WaitGroup
	again := make(chan struct{})
	for name, m := range killMoments() {
		reached.Add(1)
		over.Go(func() {
			t.Run(name, func(t *testing.T) {
				there := sync.OnceFunc(reached.Done)
				defer there()
				rotateAndKill(t, m, there, again)
			})
		})
	}
	reached.Wait()
	assert.NoError(t, mortal.Stop(t.Context(), syscall.SIGKILL))
	assert.NoError(t, mortal.Start(t.Context()))
	close(again)
	over.Wait()
}

func rotateAndKill(t *testing.T, m moment, there func(), again <-chan struct{}) {
	t.Helper()
	e := newEnv(t, append(m.edits, crashing)...)
	b := e.bound()
	former := b.Status.ExternalID
	reads := e.reads(b)
	unready := e.watchesReady(b)
	steps := m.gate(e)
	e.request(b)
	for _, at := range steps {
		select {
		case <-at.reached:
		case <-time.After(wait.Patience(20 * time.Second)):
			require.FailNow(t, "the controller never came to the point where it is to be killed")
		}
		if at.then != nil {
			at.then()
		}
	}
	there()
	<-again
	e.rotated(b, former)
	assert.Equal(t, 2, reads.seen(), m.reason)
	reads.stop()
	assert.Empty(t, unready(), m.reason)
	for id, history := range e.broker.Histories() {
		if id != e.instance.Spec.ExternalID {
			assert.Equal(t, 1, history.Made, m.reason)
		}
	}
	assert.LessOrEqual(t, len(e.broker.Histories()), 4, "the instance, the former, the new one, and one that got lost: %s", m.reason)
	e.unbound(b)
}
