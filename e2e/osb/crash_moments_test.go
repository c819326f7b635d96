package osb_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/e2e/stack/apiproxy"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A crashGate is where a controller is held until it is killed.
type crashGate struct {
	// steps are waited for one after the other, each begun by what is before it.
	arrived <-chan struct{}
	// act lets it go on to done, where it is held; nil: it is held where it arrived.
	act  func()
	done <-chan struct{}
	// left is closed when the controller has left; nil for writes.
	left func() <-chan struct{}
	// late is done once another controller runs.
	late func()
}

// longest bounds what happens at once, or not at all.
const longest = 20 * time.Second

func arrivesAt(t *testing.T, channel <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-channel:
	case <-time.After(wait.Patience(longest)):
		require.FailNow(t, what)
	}
}

// reach returns when the controller is held at the gate.
func (g *crashGate) reach(t *testing.T) {
	t.Helper()
	arrivesAt(t, g.arrived, "the controller never came to the point where it is to be killed")
	if g.act != nil {
		g.act()
		arrivesAt(t, g.done, "what the controller is held after was never done")
	}
}

// gaveUp says that the controller left the gate before it was killed.
func (g *crashGate) gaveUp() bool {
	if g.left == nil {
		return false
	}
	select {
	case <-g.left():
		return true
	default:
		return false
	}
}

// over is once the controller was killed, and another one starts.
func (g *crashGate) over(t *testing.T) {
	t.Helper()
	if g.left != nil {
		arrivesAt(t, g.left(), "the call outlives the controller that made it")
	}
	if g.late != nil {
		g.late()
	}
}

// A crashMoment puts a gate in the way of a controller.
type crashMoment func(c *crash) *crashGate

// A writeSign tells a write of a crash's own objects from others.
type writeSign func(c *crash, w *apiproxy.Write) bool

// beforeWrite is a write that is never passed on.
func beforeWrite(is writeSign) crashMoment {
	return func(c *crash) *crashGate {
		h := c.stack.proxy.Hold(c.own(is))
		return &crashGate{arrived: h.Arrived}
	}
}

// afterWrite is a write that is applied, and never answered.
func afterWrite(is writeSign) crashMoment {
	return func(c *crash) *crashGate {
		h := c.stack.proxy.Hold(c.own(is))
		return &crashGate{arrived: h.Arrived, act: h.Apply, done: h.Applied}
	}
}

// onCall is a call that came, and that the broker never acts on.
func onCall(verb osbtest.Verb) crashMoment {
	return func(c *crash) *crashGate {
		cut := false
		c.broker.On(func(call osbtest.Call) osbtest.Fault {
			if cut || call.Verb != verb {
				return osbtest.Fault{}
			}
			cut = true
			return osbtest.CutBefore()
		})
		h := c.broker.Hold(verb)
		return &crashGate{arrived: h.Arrived, left: h.Left, late: h.Act}
	}
}

// lateness is how long before its deadline a late call is acted on.
const lateness = 500 * time.Millisecond

// onLateCall is a call that came, and that the broker acts on when the next controller
// has looked at what the last one left: as late as a call can be.
func onLateCall(verb osbtest.Verb) crashMoment {
	return func(c *crash) *crashGate {
		h := c.broker.Hold(verb)
		return &crashGate{arrived: h.Arrived, left: h.Left, late: func() {
			<-time.After(time.Until(c.deadline()) - lateness)
			h.Act()
			h.Answer()
		}}
	}
}

// deadline is until when the call that was intended last may be on its way.
func (c *crash) deadline() time.Time {
	c.Helper()
	var at *metav1.MicroTime
	switch c.operation.resource {
	case ofBindings:
		c.Get(c.binding)
		at = c.binding.Status.CallDeadline
	default:
		c.Get(c.instance)
		at = c.instance.Status.CallDeadline
	}
	require.NotNil(c, at)
	return at.Time
}

// onAct is a call that the broker acted on, and never answers.
func onAct(verb osbtest.Verb) crashMoment {
	return func(c *crash) *crashGate {
		h := c.broker.Hold(verb)
		return &crashGate{arrived: h.Arrived, act: h.Act, done: h.Acted, left: h.Left, late: h.Answer}
	}
}

// own is the writeSign, for what is in the crash's own namespace only.
func (c *crash) own(is writeSign) func(*apiproxy.Write) bool {
	return func(w *apiproxy.Write) bool { return w.Namespace == c.Namespace && is(c, w) }
}

// intends is the write that says that a call may have been made.
func intends(c *crash, w *apiproxy.Write) bool {
	_, is := w.Status()["callDeadline"].(string)
	return is && w.Resource == c.operation.resource
}

// concludes is the write of what came of a call of the verb, in the status.
func concludes(verb osbtest.Verb) writeSign {
	return func(c *crash, w *apiproxy.Write) bool {
		return w.Resource == c.operation.resource && w.Status() != nil && !intends(c, w) && c.answered(verb)
	}
}

// after is a writeSign that counts only once a call of the verb was answered.
func after(verb osbtest.Verb, is writeSign) writeSign {
	return func(c *crash, w *apiproxy.Write) bool { return c.answered(verb) && is(c, w) }
}

// releases is the write that takes the finalizer off.
func releases(c *crash, w *apiproxy.Write) bool {
	return w.Resource == c.operation.resource && w.Subresource == "" && w.Method == http.MethodPatch
}

// secretWrite is a write of a Secret, of the given method.
func secretWrite(method string) writeSign {
	return func(_ *crash, w *apiproxy.Write) bool { return w.Resource == "secrets" && w.Method == method }
}

// answered says whether a call of the verb was answered.
func (c *crash) answered(verb osbtest.Verb) bool {
	return slices.ContainsFunc(c.broker.Calls(osbtest.Of(verb)), func(call osbtest.Call) bool { return call.Outcome == osbtest.Answered })
}
