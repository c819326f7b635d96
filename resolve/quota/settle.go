package quota

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// A Policy is a policy in one namespace, for one kind of objects.
type Policy struct {
	Name string
	// Limit is how many slots there are; nil: none is needed.
	Limit *int32
	// Granted are the UIDs that have a slot.
	Granted []types.UID
}

// A Demand is an object of that namespace and kind, which needs slots.
type Demand struct {
	UID types.UID
	// Since is when it was created, in seconds of any clock: the oldest comes first,
	// and of those of one second the first by name.
	Since int64
	Name  string
	// Leaving says that it is being deleted: it keeps what it has and gets no more.
	Leaving bool
	// Opaque says that not all of its plans are known: what it has is not taken. So is
	// it with what is being changed, see Unsure.
	Opaque bool
	// Stages are by the names of policies; those that are not there are Unselected.
	Stages map[string]Stage
}

// A Settlement says which demands get slots.
type Settlement struct {
	// Granted are the UIDs by policy, sorted.
	Granted map[string][]types.UID
	// Unsettled says that slots were revoked from live objects. Others may get
	// them after this was stored and the objects were listed once more.
	Unsettled bool
}

// Settle decides which demands get slots of the policies: first those that exist
// at a broker, regardless of the limit, then those that may exist there, then
// the oldest while slots are free. Each gets all the slots that it needs, or
// none.
func Settle(policies []Policy, demands []Demand) Settlement {
	h := newHall(policies, demands)
	h.free()
	h.honour()
	h.revoke()
	h.grant()
	result := Settlement{Granted: map[string][]types.UID{}, Unsettled: h.unsettled}
	for name, l := range h.ledgers {
		result.Granted[name] = slices.Sorted(maps.Keys(l.granted))
	}
	return result
}

// A hall is the working state of Settle.
type hall struct {
	ledgers map[string]*ledger
	// names are the policies' in order, and demands those of the oldest first.
	names     []string
	demands   []Demand
	unsettled bool
}

// A ledger is what one policy granted.
type ledger struct {
	limit   *int32
	granted map[types.UID]bool
	// taken are the demands whose slots cannot be granted to others now:
	// granted, just freed, or possibly at a broker without one.
	taken map[types.UID]bool
}

func newHall(policies []Policy, demands []Demand) *hall {
	h := &hall{ledgers: map[string]*ledger{}, demands: slices.Clone(demands)}
	slices.SortFunc(h.demands, func(a, b Demand) int {
		return cmp.Or(cmp.Compare(a.Since, b.Since), strings.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
	alive := map[types.UID]bool{}
	for i := range demands {
		alive[demands[i].UID] = true
	}
	for _, p := range policies {
		l := &ledger{limit: p.Limit, granted: map[types.UID]bool{}}
		for _, uid := range p.Granted {
			if alive[uid] { // what is gone will never be again
				l.granted[uid] = true
			}
		}
		l.taken = maps.Clone(l.granted)
		h.ledgers[p.Name] = l
		h.names = append(h.names, p.Name)
	}
	slices.Sort(h.names)
	return h
}

// take takes a slot from an object that lives.
func (h *hall) take(l *ledger, uid types.UID) {
	delete(l.granted, uid)
	h.unsettled = true
}

// free takes the slots of those who do not need them any more.
func (h *hall) free() {
	for i := range h.demands {
		c := &h.demands[i]
		for _, name := range h.names {
			if l := h.ledgers[name]; c.Stages[name] == Unselected && !c.Opaque && l.granted[c.UID] {
				h.take(l, c.UID)
			}
		}
	}
}

// honour counts what may be at a broker, and gives slots to what is there.
func (h *hall) honour() {
	for i := range h.demands {
		c := &h.demands[i]
		for _, name := range h.names {
			l := h.ledgers[name]
			if c.Stages[name] >= Doubtful {
				l.taken[c.UID] = true
			}
			if c.Stages[name] == Standing {
				l.granted[c.UID] = true
			}
		}
	}
}

// revoke takes slots back that were not used yet, where a limit was lowered: the
// youngest's first.
func (h *hall) revoke() {
	for _, name := range h.names {
		l := h.ledgers[name]
		if l.limit == nil {
			continue
		}
		over := h.counted(name, l) - int(*l.limit)
		for i := len(h.demands) - 1; i >= 0 && over > 0; i-- {
			if c := &h.demands[i]; l.granted[c.UID] && c.idle(name) {
				h.take(l, c.UID)
				over--
			}
		}
	}
}

// counted is how many have a slot, or may be at a broker without one.
func (h *hall) counted(name string, l *ledger) int {
	n := len(l.granted)
	for i := range h.demands {
		if c := &h.demands[i]; c.Stages[name] == Doubtful && !l.granted[c.UID] {
			n++
		}
	}
	return n
}

// grant serves those who wait: first those who may be at a broker.
func (h *hall) grant() {
	for _, doubtful := range []bool{true, false} {
		for i := range h.demands {
			if c := &h.demands[i]; c.doubtful() == doubtful && !c.Leaving {
				h.serve(c)
			}
		}
	}
}

// idle says that a slot that the policy granted was not used.
func (c *Demand) idle(policy string) bool { return c.Stages[policy] == Asked && !c.Opaque }

func (c *Demand) doubtful() bool {
	for _, stage := range c.Stages {
		if stage == Doubtful {
			return true
		}
	}
	return false
}

// serve gives a demand all that it lacks, or takes from it what is of no use alone.
func (h *hall) serve(c *Demand) {
	var lacks, idle []*ledger
	room := true
	for _, name := range h.names {
		l := h.ledgers[name]
		switch {
		case c.Stages[name] == Unselected:
		case !l.granted[c.UID]:
			lacks = append(lacks, l)
			room = room && l.roomFor(c.UID)
		case c.idle(name):
			idle = append(idle, l)
		}
	}
	if room {
		for _, l := range lacks {
			l.granted[c.UID], l.taken[c.UID] = true, true
		}
		return
	}
	for _, l := range idle {
		h.take(l, c.UID)
	}
}

// roomFor says that the UID can have a slot: where its own is taken already, that one.
func (l *ledger) roomFor(uid types.UID) bool {
	if l.limit == nil {
		return true
	}
	others := len(l.taken)
	if l.taken[uid] {
		others--
	}
	return others < int(*l.limit)
}
