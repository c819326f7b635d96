package osb_test

import (
	"maps"
	"net/http"
	"slices"

	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// crashMoments are named points.
type crashMoments map[string]crashMoment

// atCall are the points of a call whose outcome is a write of the status.
func atCall(verb osbtest.Verb) crashMoments {
	return crashMoments{
		"BeforeIntent": beforeWrite(intends), "AfterIntent": afterWrite(intends),
		"CallArrived": onCall(verb), "CallActsLate": onLateCall(verb), "BrokerActed": onAct(verb),
		"BeforeOutcome": beforeWrite(concludes(verb)), "AfterOutcome": afterWrite(concludes(verb)),
	}
}

// atEnding are the points of a call after which the object is let go.
func atEnding(verb osbtest.Verb) crashMoments {
	return atCall(verb).but("BeforeOutcome", "AfterOutcome").and(atRelease)
}

var atRelease = crashMoments{"BeforeRelease": beforeWrite(releases), "AfterRelease": afterWrite(releases)}

// atAccepted are the points of a call that is answered with 202, and of the polls.
func atAccepted(verb, poll osbtest.Verb) crashMoments {
	return crashMoments{
		"BrokerAccepted": onAct(verb), "BeforeAccepted": beforeWrite(concludes(verb)), "AfterAccepted": afterWrite(concludes(verb)),
		"PollArrived": onCall(poll), "PollEnded": onAct(poll),
	}
}

// atPolled are the points at the end of an operation.
func atPolled(poll osbtest.Verb) crashMoments {
	return crashMoments{"BeforePolled": beforeWrite(concludes(poll)), "AfterPolled": afterWrite(concludes(poll))}
}

// atSecret are the points at which the Secret is written.
var atSecret = crashMoments{"BeforeSecret": beforeWrite(secretWrite(http.MethodPost)), "AfterSecret": afterWrite(secretWrite(http.MethodPost))}

// atSecretGone are the points at which the Secret is removed.
var atSecretGone = crashMoments{"BeforeSecretGoes": beforeWrite(secretWrite(http.MethodDelete)), "AfterSecretWent": afterWrite(secretWrite(http.MethodDelete))}

func (m crashMoments) and(others ...crashMoments) crashMoments {
	sum := crashMoments{}
	for _, one := range append([]crashMoments{m}, others...) {
		maps.Copy(sum, one)
	}
	return sum
}

func (m crashMoments) but(names ...string) crashMoments {
	rest := crashMoments{}
	for name, at := range m {
		if !slices.Contains(names, name) {
			rest[name] = at
		}
	}
	return rest
}

func (m crashMoments) only(names ...string) crashMoments {
	some := crashMoments{}
	for _, name := range names {
		if m[name] == nil {
			panic("there is no moment " + name)
		}
		some[name] = m[name]
	}
	return some
}

// ended has the broker finish by itself what it began: the operation is not
// recorded, so it is not polled, and polls advance this broker's operations.
func (m crashMoments) ended() crashMoments {
	all := crashMoments{}
	for name, at := range m {
		all[name] = func(c *crash) *crashGate {
			g := at(c)
			late := g.late
			g.late = func() {
				if late != nil {
					late()
				}
				c.endAll()
			}
			return g
		}
	}
	return all
}
