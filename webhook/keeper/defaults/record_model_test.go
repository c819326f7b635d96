package defaults

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

// The walks play users and keepers against a cluster in which each read and each
// write is a step of its own. Whatever the order of the steps, and wherever a
// keeper dies, the type settles as soon as it is left alone.

// A walk is one random history.
type walk struct {
	*rand.Rand

	now     int
	version int
	typ     modelType
	plans   map[string]modelPlan
	// past is what a cache that lags behind shows.
	past snapshot
	// excuses says of each plan when a user last did something by which it may
	// lose the record, and since says since when it has it. overlap is the excuse
	// for all: there are two keepers.
	excuses map[string]int
	since   int
	overlap bool
	history []string
}

type modelType struct {
	there, ours         bool
	version, generation int
	recorded            string
	observed            int
	confirmed, awaiting bool
	// followed says that a keeper recorded it.
	followed bool
}

type modelPlan struct {
	version   int
	uid       int
	annotated bool
	at        int
	state     planState
}

// A snapshot is what a keeper read: the type before the plans.
type snapshot struct {
	at    int
	typ   modelType
	plans map[string]modelPlan
}

// firstRun is in the walk's time: what users did before is of a legacy cluster.
const firstRun = 6

func (s snapshot) state(first time.Time) state {
	v := state{
		exists: s.typ.there, ours: s.typ.ours, recorded: s.typ.recorded, awaiting: s.typ.awaiting, followed: s.typ.followed, firstRun: first,
		confirmed: s.typ.confirmed && s.typ.observed == s.typ.generation,
	}
	for name, p := range s.plans {
		if p.state == planForeign && name != s.typ.recorded {
			continue
		}
		v.inUse = v.inUse || p.state == planLive
		v.contenders = append(v.contenders, contender{
			name: name, uid: types.UID(fmt.Sprint(p.uid)), state: p.state, annotated: p.annotated, annotatedAt: time.Unix(int64(p.at), 0),
		})
	}
	return v
}

func (w *walk) sayf(format string, args ...any) {
	w.history = append(w.history, fmt.Sprintf("%3d ", w.now)+fmt.Sprintf(format, args...))
}

func (w *walk) read() snapshot { return snapshot{w.now, w.typ, w.readPlans()} }

func (w *walk) readPlans() map[string]modelPlan { return maps.Clone(w.plans) }

func (w *walk) storeType(t modelType) {
	if t.recorded != w.typ.recorded {
		w.since = w.now
	}
	if !w.typ.there {
		t.generation = 1
	} else if t.recorded != w.typ.recorded {
		t.generation++
	}
	w.version++
	t.version = w.version
	w.typ = t
}

func (w *walk) storePlan(name string, p modelPlan) {
	w.version++
	p.version = w.version
	w.plans[name] = p
}

// user does something that users and brokers do, with no hook to refuse it.
func (w *walk) user() {
	name := string(rune('a' + w.IntN(3)))
	p, there := w.plans[name]
	switch w.IntN(9) {
	case 0, 1:
		if there && !p.annotated {
			w.sayf("user annotates %s", name)
			p.annotated, p.at = true, w.now
			w.storePlan(name, p)
		}
	case 2:
		if there && p.annotated {
			w.sayf("user takes the annotation off %s", name)
			p.annotated = false
			w.excuses[name] = w.now
			w.storePlan(name, p)
		}
	case 3, 4:
		if w.typ.there {
			w.sayf("user records %s", name)
			t := w.typ
			t.followed = t.followed && t.recorded == name
			t.recorded = name
			w.storeType(t)
		}
	case 5:
		w.sayf("user removes the record, or the object %v", there)
		t := w.typ
		t.recorded, t.followed = "", false
		if there {
			t = modelType{}
		}
		w.storeType(t)
	case 6:
		w.excuses[name] = w.now
		if there {
			w.sayf("plan %s is deleted", name)
			delete(w.plans, name)
			w.version++
			return
		}
		w.sayf("plan %s is created", name)
		annotated := w.IntN(2) == 0
		w.storePlan(name, modelPlan{uid: w.IntN(1000), annotated: annotated, at: w.now})
	default:
		if there {
			p.state = planState(w.IntN(4))
			w.sayf("plan %s is in state %d", name, p.state)
			w.excuses[name] = w.now
			w.storePlan(name, p)
		}
	}
}

// keeper is one look and what follows, with pauses between the steps; die says at
// a pause that the keeper dies there.
func (w *walk) keeper(t *testing.T, pause func() (die bool)) (rested bool) {
	t.Helper()
	seen := w.past
	a := settle(seen.state(time.Time{}))
	if a.verb != rest {
		seen = snapshot{at: w.now, typ: w.typ}
		if pause() {
			return false
		}
		seen.plans = w.readPlans()
		a = settle(seen.state(time.Unix(firstRun, 0)))
	}
	if pause() {
		return false
	}
	return w.write(t, seen, a)
}

// write takes an action, if what is written to is as it was seen.
func (w *walk) write(t *testing.T, seen snapshot, a action) (rested bool) {
	t.Helper()
	if a.verb == annotatePlan || a.verb == unannotatePlan {
		require.False(t, a.verb == annotatePlan && seen.typ.followed && !w.overlap, "%v undoes what a user did:\n%s", a, strings.Join(w.history, "\n"))
		if p, there := w.plans[a.plan]; there && p.version == seen.plans[a.plan].version {
			w.sayf("keeper: %v", a)
			p.annotated, p.at = a.verb == annotatePlan, w.now
			w.storePlan(a.plan, p)
		}
		return false
	}
	if w.typ.there != seen.typ.there || w.typ.version != seen.typ.version {
		return false
	}
	after := w.typ
	switch a.verb {
	case rest, confirmRecord:
		after.confirmed = a.verb == confirmRecord || seen.state(time.Time{}).confirmed
		after.awaiting, after.observed = a.awaiting, after.generation
		if !after.there || after == w.typ {
			return true
		}
	case createType:
		after = modelType{there: true, ours: true}
	case recordPlan:
		w.mayLose(t, a)
		after.recorded, after.followed = a.plan, true
		if !after.there {
			after.there, after.ours = true, true
		}
	case clearRecord:
		w.mayLose(t, a)
		after.recorded, after.followed = "", false
	case removeType:
		after = modelType{}
	default:
		t.Fatalf("%v writes no type", a)
	}
	w.sayf("keeper: %v", a)
	w.storeType(after)
	if a.verb == recordPlan {
		// What was done to the plan since it was seen counts.
		w.since = seen.at
	}
	return false
}

// mayLose checks that a keeper takes the record from a plan that can be chosen
// only after a user changed that plan.
func (w *walk) mayLose(t *testing.T, a action) {
	t.Helper()
	p, there := w.plans[w.typ.recorded]
	if !there || p.state != planLive || w.overlap {
		return
	}
	require.GreaterOrEqual(t, w.excuses[w.typ.recorded], w.since, "%v takes the record from %q for nothing:\n%s",
		a, w.typ.recorded, strings.Join(w.history, "\n"))
}
