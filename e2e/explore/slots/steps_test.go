package slots_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/defaultplan/defaultplan/e2e/explore"
)

type step = explore.Step[cluster]

// A model says how many of each there are, and which rule is broken on purpose.
type model struct {
	*decider

	policies, objects, keepers, controllers int
	// asks are the plans that users change to.
	asks []plan
	// unread has a controller call the broker without reading the policies after its intent.
	unread bool
	// hasty has a keeper grant what it took back before it lists the objects again.
	hasty bool
}

func (m *model) start(left int) cluster {
	c := cluster{left: uint8(left)}
	for i := range m.objects {
		c.objects[i] = object{there: true, asked: small}
	}
	for i := range m.policies {
		c.policies[i] = storedPolicy{limit: 1, ceiling: 1}
	}
	return c
}

func (m *model) steps(c cluster) []step {
	var all []step
	for i := range m.keepers {
		all = append(all, m.keeper(c, i)...)
	}
	for i := range m.controllers {
		all = append(all, m.controller(c, i)...)
	}
	for i := range c.flying {
		all = append(all, flights(c, i)...)
	}
	if c.left > 0 {
		c.left--
		all = append(all, m.users(c)...)
	}
	for i := range all {
		all[i].To.bound()
	}
	return all
}

// A keeper goes from step to step with what it read, and then with what it decided.
type keeper struct {
	phase    uint8
	policies [mostPolicies]storedPolicy
	granted  settlement
	// writes says which policies are still to be written, and stale which of them were written
	// since they were read.
	writes, stale [mostPolicies]bool
}

func (m *model) keeper(c cluster, i int) []step {
	k := c.keepers[i]
	var name string
	to, program := &c.keepers[i], true
	switch k.phase {
	case 0:
		name, *to = "reads the policies", keeper{phase: 1, policies: c.policies}
		for at := range to.policies {
			to.policies[at].ceiling = 0
		}
		program = m.due(&c)
	case 1:
		name = "lists the objects"
		granted := m.settle(k.policies, c.objects)
		if m.hasty {
			again := k.policies
			for at := range again {
				again[at].granted = granted[at]
			}
			granted = m.settle(again, c.objects)
		}
		*to = decided(k, granted)
	default:
		at := k.first()
		name = fmt.Sprintf("grants %v of %s", uids(k.granted[at]), title(at))
		if k.stale[at] {
			name, *to = name+", which conflicts", keeper{}
			break
		}
		p := c.policies[at]
		p.granted = k.granted[at]
		c.storePolicy(at, p)
		to.granted[at], to.writes[at], to.stale[at] = 0, false, false
		if to.first() < 0 {
			*to = keeper{}
		}
	}
	by := fmt.Sprintf("keeper %d ", i+1)
	steps := []step{{Name: by + name, To: c, Program: program}}
	if k.phase != 0 && c.left > 0 {
		c.keepers[i] = keeper{}
		c.left--
		steps = append(steps, step{Name: by + "dies", To: c})
	}
	return steps
}

// due says whether a keeper has anything to grant or to revoke.
func (m *model) due(c *cluster) bool {
	granted := m.settle(c.policies, c.objects)
	for at, p := range c.policies {
		if granted[at] != p.granted {
			return true
		}
	}
	return false
}

// decided is a keeper that is about to write what it decided, or idle where nothing changes.
func decided(k keeper, granted settlement) keeper {
	to := keeper{phase: 2}
	for at := range granted {
		if granted[at] != k.policies[at].granted {
			to.granted[at], to.writes[at], to.stale[at] = granted[at], true, k.stale[at]
		}
	}
	if to.first() < 0 {
		return keeper{}
	}
	return to
}

// first is the policy to write next; less than 0: none.
func (k keeper) first() int { return slices.Index(k.writes[:], true) }

func (c *cluster) storePolicy(at int, p storedPolicy) {
	c.policies[at] = p
	for i := range c.keepers {
		k := &c.keepers[i]
		k.stale[at] = k.phase == 1 || k.writes[at]
	}
}

// A controller works on an object, from step to step.
type controller struct {
	phase controllerPhase
	// at is the object's number, and seen how it was read.
	at    uint8
	seen  object
	stale bool
}

type controllerPhase uint8

const (
	controllerIdle controllerPhase = iota
	// controllerIntends stores an intent, if the object is as it was read.
	controllerIntends
	// controllerReads reads the policies once more.
	controllerReads
	controllerCalls
	controllerStores
	// controllerRemoves has what was sent removed at the broker, if the object is as it was read.
	controllerRemoves
	controllerRemoved
)

func (c *cluster) storeObject(at int, o object) {
	c.objects[at] = o
	for i := range c.controllers {
		if w := &c.controllers[i]; w.phase != controllerIdle && int(w.at) == at {
			w.stale = true
		}
	}
}

func (m *model) controller(c cluster, i int) []step {
	w := c.controllers[i]
	if w.phase == controllerIdle {
		return m.begins(c, i)
	}
	by := fmt.Sprintf("controller %d ", i+1)
	dead := c
	name := m.works(&c, i)
	steps := []step{{Name: by + name, To: c, Program: true}}
	if dead.left == 0 || w.phase == controllerIntends || w.phase == controllerRemoves {
		return steps // what it read is all that is lost
	}
	dead.controllers[i] = controller{}
	dead.left--
	steps = append(steps, step{Name: by + "dies", To: dead})
	if w.phase == controllerCalls {
		dead.flying[w.at] = w.seen.asked
		steps = append(steps, step{Name: by + "dies, and its call is on its way", To: dead})
	}
	return steps
}

// begins are the objects that a controller may take up. It waits until no call for an object can
// be on its way: by the deadline of its intent.
func (m *model) begins(c cluster, i int) []step {
	var all []step
	for at := range m.objects {
		o := c.objects[at]
		if !o.there || c.flying[at] != none || c.inCall(at) {
			continue
		}
		phase := controllerIntends
		switch {
		case o.leaving, o.sent != none && o.has == none && o.sent != o.asked:
			phase = controllerRemoves
		case o.asked == o.has && o.sent == none:
			continue
		}
		to := c
		to.controllers[i] = controller{phase: phase, at: uint8(at), seen: o}
		// A cache that is behind may show slots that it has no more.
		program := phase == controllerRemoves || !m.short(c.policies, o, at)
		all = append(all, step{Name: fmt.Sprintf("controller %d reads object %d", i+1, at), To: to, Program: program})
	}
	return all
}

func (c *cluster) inCall(at int) bool {
	for _, w := range c.controllers {
		if int(w.at) == at && (w.phase >= controllerReads && w.phase != controllerRemoves) {
			return true
		}
	}
	return false
}

// works does the next step of a controller, and says what it is.
func (m *model) works(c *cluster, i int) string {
	to, at := &c.controllers[i], int(c.controllers[i].at)
	w := *to
	o := c.objects[at]
	switch w.phase {
	case controllerIntends, controllerRemoves:
		if w.stale {
			*to = controller{}
			return fmt.Sprintf("finds object %d written meanwhile", at)
		}
		return m.intends(c, i, at)
	case controllerReads:
		if !m.unread && m.short(c.policies, w.seen, at) {
			o.sent, *to = w.seen.sent, controller{}
			c.storeObject(at, o)
			return fmt.Sprintf("withholds the call for object %d", at)
		}
		to.phase = controllerCalls
		return fmt.Sprintf("finds the slots of object %d", at)
	case controllerCalls:
		c.broker[at], to.phase = w.seen.asked, controllerStores
		return fmt.Sprintf("calls the broker: object %d gets %s", at, w.seen.asked)
	case controllerStores:
		o.has, o.sent, *to = w.seen.asked, none, controller{}
		c.storeObject(at, o)
		return fmt.Sprintf("stores that object %d has %s", at, o.has)
	default:
		o.sent, o.has, *to = none, none, controller{}
		if o.leaving {
			o = object{}
		}
		c.storeObject(at, o)
		return fmt.Sprintf("stores that object %d has none", at)
	}
}

func (m *model) intends(c *cluster, i, at int) string {
	w, o := &c.controllers[i], c.objects[at]
	if w.phase == controllerRemoves {
		c.broker[at], w.phase = none, controllerRemoved
		return fmt.Sprintf("removes object %d at the broker", at)
	}
	o.sent = o.asked
	c.storeObject(at, o)
	w.phase, w.stale = controllerReads, false
	return fmt.Sprintf("stores that it asks for %s for object %d", o.sent, at)
}

// flights are what becomes of a call whose controller died: the broker acts on it, or never will.
func flights(c cluster, at int) []step {
	p := c.flying[at]
	if p == none {
		return nil
	}
	c.flying[at] = none
	lost := c
	c.broker[at] = p
	return []step{
		{Name: fmt.Sprintf("the call for object %d arrives late", at), To: c},
		{Name: fmt.Sprintf("the deadline of the call for object %d passes", at), To: lost, Program: true},
	}
}

// users are what users do: change and delete objects, change limits, and replace policies.
func (m *model) users(c cluster) []step {
	var all []step
	for at := range m.objects {
		o := c.objects[at]
		if !o.there || o.leaving {
			continue
		}
		write := func(name string, o object) {
			to := c
			to.storeObject(at, o)
			all = append(all, step{Name: name, To: to})
		}
		for _, p := range m.asks {
			if changed := o; p != o.asked {
				changed.asked = p
				write(fmt.Sprintf("a user asks for %s for object %d", p, at), changed)
			}
		}
		o.leaving = true
		write(fmt.Sprintf("a user deletes object %d", at), o)
	}
	for at, p := range c.policies[:m.policies] {
		for limit := range uint8(3) {
			if limit != p.limit {
				to, changed := c, p
				changed.limit, changed.ceiling = limit, max(p.ceiling, limit)
				to.storePolicy(at, changed)
				all = append(all, step{Name: fmt.Sprintf("an operator limits %s to %d", title(at), limit), To: to})
			}
		}
		if p.granted != 0 && !c.changing() {
			to := c
			p.granted = 0
			to.storePolicy(at, p)
			all = append(all, step{Name: "an operator deletes and recreates " + title(at), To: to})
		}
	}
	return all
}

// changing says that a plan is being changed: of what the broker may have, status then tells the
// last request only, and a policy that was recreated knows nothing of the one before.
func (c *cluster) changing() bool {
	for at, o := range c.objects {
		if o.sent != none && o.has != none || c.broker[at] != none && c.broker[at] != o.has {
			return true
		}
	}
	return false
}

// bound lowers the ceiling of each policy to its limit, once no more objects than that have a slot
// or may be at the broker.
func (c *cluster) bound() {
	for at := range c.policies {
		entitled := c.policies[at].granted
		for i, o := range c.objects {
			if c.broker[i].limitedBy(at) || o.sent.limitedBy(at) || c.flying[i].limitedBy(at) {
				entitled |= 1 << i
			}
		}
		if p := &c.policies[at]; count(entitled) <= int(p.limit) {
			p.ceiling = p.limit
		}
	}
}

func count(set uint8) (n int) {
	for ; set != 0; set &= set - 1 {
		n++
	}
	return n
}

// check is what holds in every state.
func (m *model) check(c cluster) error {
	for at, p := range c.policies {
		n := 0
		for i := range c.broker {
			if c.broker[i].limitedBy(at) {
				n++
			}
		}
		if n > int(p.ceiling) {
			return fmt.Errorf("the broker has %d of %s, which allows %d", n, title(at), p.ceiling)
		}
	}
	for i, o := range c.objects {
		if !o.there && (c.broker[i] != none || c.flying[i] != none) {
			return fmt.Errorf("object %d is gone, and the broker has it", i)
		}
	}
	return nil
}

// settledSlots says what is unfinished where no program has anything to do.
func (m *model) settledSlots(c cluster) error {
	for at, p := range c.policies {
		for i, o := range c.objects {
			if p.granted&(1<<i) != 0 && (!o.there || !o.asked.limitedBy(at) && !o.sent.limitedBy(at) && !o.has.limitedBy(at)) {
				return fmt.Errorf("object %d keeps a slot of %s that it does not need", i, title(at))
			}
		}
	}
	for i, o := range c.objects {
		switch {
		case !o.there || o.has == o.asked && o.sent == none:
		case o.leaving:
			return fmt.Errorf("object %d is never removed", i)
		case !m.short(c.policies, o, i):
			return fmt.Errorf("object %d has its slots, and is never made", i)
		case o.sent == none && c.room(o, i):
			return fmt.Errorf("object %d waits although there is room", i)
		}
	}
	if c.flying != [mostObjects]plan{} {
		return errors.New("a call is on its way forever")
	}
	return nil
}

// room says whether each policy that limits what an object asks for has a slot for it.
func (c *cluster) room(o object, i int) bool {
	for at, p := range c.policies {
		if !o.asked.limitedBy(at) || p.granted&(1<<i) != 0 {
			continue
		}
		taken := p.granted
		for other := range c.objects {
			if c.objects[other].sent.limitedBy(at) {
				taken |= 1 << other
			}
		}
		if count(taken) >= int(p.limit) {
			return false
		}
	}
	return true
}

// explored is a model of two objects that ask for one slot.
func explored() *model {
	return &model{decider: newDecider(), policies: 1, objects: 2, keepers: 2, controllers: 2, asks: []plan{small}}
}

func (m *model) run(left, mostStates int) explore.Result {
	return explore.Run(explore.Model[cluster, cluster]{
		Start: m.start(left), Key: sorted,
		Steps: m.steps, Check: m.check, Settled: m.settledSlots, MostStates: mostStates,
	})
}

// sorted is a cluster with its keepers and controllers in order: which of two is where makes no
// difference.
func sorted(c cluster) cluster {
	slices.SortFunc(c.keepers[:], func(a, b keeper) int { return cmp.Compare(a.number(), b.number()) })
	slices.SortFunc(c.controllers[:], func(a, b controller) int { return cmp.Compare(a.number(), b.number()) })
	return c
}

// number tells keepers apart.
func (k keeper) number() uint64 {
	n := uint64(k.phase)
	for at, p := range k.policies {
		n = n<<3 | uint64(p.limit)
		n = n<<3 | uint64(p.granted)
		n = n<<3 | uint64(k.granted[at])
		n = n<<2 | bit(k.writes[at])<<1 | bit(k.stale[at])
	}
	return n
}

// number tells controllers apart.
func (w controller) number() uint64 {
	n := uint64(w.phase)
	for _, part := range []uint8{w.at, uint8(w.seen.asked), uint8(w.seen.sent), uint8(w.seen.has)} {
		n = n<<2 | uint64(part)
	}
	return n<<3 | bit(w.seen.there)<<2 | bit(w.seen.leaving)<<1 | bit(w.stale)
}

func bit(is bool) uint64 {
	if is {
		return 1
	}
	return 0
}
