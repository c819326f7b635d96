package defaults

import (
	"fmt"

	"github.com/defaultplan/defaultplan/e2e/explore"
)

// A model says how many of each there are, and which rule is broken on purpose.
type model struct {
	chooser

	plans            uint8
	keepers, clients int
	// mayLose says that it is no violation to lose a default.
	mayLose bool
	// unconditional has the keeper write whatever was written since it read.
	unconditional bool
	// settle is the keeper's pure step.
	settle func(state) action
}

type step = explore.Step[cluster]

// A keeperPhase is how far a keeper is.
type keeperPhase uint8

const (
	keeperIdle keeperPhase = iota
	// keeperLists has read the type, and reads the plans next.
	keeperLists
	// keeperGets has read the plans, and reads the recorded one next, which is not among them.
	keeperGets
	// keeperWrites has decided.
	keeperWrites
)

// An exploredKeeper is what a keeper has read and decided.
type exploredKeeper struct {
	phase keeperPhase
	typ   exploredType
	plans exploredPlans
	verb  verb
	plan  uint8
	// typeStale and plansStale say what was written since it was read.
	typeStale  bool
	plansStale [mostPlans]bool
}

// keeper is the next step of a keeper. It begins at any time, because a cache may tell it late
// of what is over; by itself it begins where there is something to do.
func (m *model) keeper(c cluster, i int) []step {
	k := c.keepers[i]
	name, to, program := "", &c.keepers[i], true
	switch k.phase {
	case keeperIdle:
		program = m.settle(seen(c.typ, c.plans)).verb != rest
		name, *to = "reads the type", exploredKeeper{phase: keeperLists, typ: c.typ}
	case keeperLists:
		name = "reads the plans"
		if recorded := k.typ.recorded; recorded != 0 && !c.plan(recorded).there {
			to.phase, to.plans = keeperGets, c.plans
		} else {
			m.decide(to, c.plans)
		}
	case keeperGets:
		name = "reads the recorded plan"
		plans := k.plans
		plans[k.typ.recorded-1], to.plansStale[k.typ.recorded-1] = *c.plan(k.typ.recorded), false
		m.decide(to, plans)
	case keeperWrites:
		name = fmt.Sprintf("%s %s", k.verb, letter(k.plan))
		if *to = (exploredKeeper{}); !m.write(&c, &k) {
			name += ", which conflicts"
		}
	}
	title := fmt.Sprintf("keeper %d ", i+1)
	steps := []step{{Name: title + name, To: c, Program: program}}
	if k.phase != keeperIdle {
		c.keepers[i] = exploredKeeper{}
		steps = append(steps, step{Name: title + "dies", To: c})
	}
	return steps
}

func letter(plan uint8) string {
	if plan == 0 {
		return ""
	}
	return nameOf(plan)
}

// decide has a keeper decide from what it read.
func (m *model) decide(k *exploredKeeper, plans exploredPlans) {
	a := m.settle(seen(k.typ, plans))
	k.plans = exploredPlans{}
	if k.phase, k.verb, k.plan = keeperWrites, a.verb, planNamed(a.plan); a.verb == rest {
		*k = exploredKeeper{}
	}
}

// write performs an action as package writer does, and says whether nothing was written since.
func (m *model) write(c *cluster, k *exploredKeeper) bool {
	if k.verb == annotatePlan || k.verb == unannotatePlan {
		p := *c.plan(k.plan)
		if !p.there || k.plansStale[k.plan-1] && !m.unconditional {
			return false
		}
		p.annotated = k.verb == annotatePlan
		c.storePlan(k.plan, p)
		return true
	}
	if stale := k.typeStale && k.typ.there || c.typ.there != k.typ.there; stale && (!m.unconditional || !c.typ.there) {
		return false
	}
	t := c.typ
	switch k.verb {
	case confirmRecord:
		t.confirmed = true
	case createType:
		t = exploredType{there: true, ours: true}
	case recordPlan:
		if !t.there {
			t = exploredType{there: true, ours: true}
		}
		t.recorded, t.followed = k.plan, true
	case clearRecord:
		t.recorded, t.followed = 0, false
	case removeType:
		t = exploredType{}
	default:
		panic("no write: " + k.verb)
	}
	c.storeType(t)
	c.typ.confirmed = t.confirmed && k.verb == confirmRecord
	if k.verb == recordPlan && c.plan(k.plan).live() && c.plan(k.plan).annotated {
		c.kept = k.plan
	}
	return true
}

// A clientPhase is how far svcat, or kubectl, is.
type clientPhase uint8

const (
	clientIdle clientPhase = iota
	// clientReads reads the type and its plans.
	clientReads
	// clientRecords asks for the record to be written, if the type is as it was read: admission
	// is next.
	clientRecords
	// clientSwaps was admitted.
	clientSwaps
	// clientAsks asks for the annotation: admission is next.
	clientAsks
	// clientMarks was admitted.
	clientMarks
)

// An exploredClient is a switch by svcat, or an annotation by kubectl, which is the second half of
// one.
type exploredClient struct {
	phase clientPhase
	plan  uint8
	// there and marked say that the type's object was there, and the plan annotated.
	there, marked        bool
	typeStale, planStale bool
}

func (m *model) client(c cluster, i int) []step {
	u := c.clients[i]
	if u.phase == clientIdle {
		return nil
	}
	name, to, title := "", &c.clients[i], fmt.Sprintf("client %d ", i+1)
	p := c.plan(u.plan)
	switch u.phase {
	case clientReads:
		name = "reads the type and the plans"
		*to = exploredClient{phase: clientRecords, plan: u.plan, there: c.typ.there, marked: p.annotated}
		switch {
		case c.typ.recorded == u.plan && p.live() && !p.annotated:
			*to = exploredClient{phase: clientAsks, plan: u.plan}
		case c.typ.recorded == u.plan, !p.there:
			*to = exploredClient{}
		}
	case clientRecords:
		name = "is admitted to record " + nameOf(u.plan)
		if to.phase = clientSwaps; !p.live() {
			name, *to = "may not record "+nameOf(u.plan), exploredClient{}
		}
	case clientSwaps:
		name = m.swap(&c, i)
	case clientAsks:
		name = "is admitted to annotate " + nameOf(u.plan)
		if to.phase = clientMarks; !p.there || p.annotated || !m.admits(&c, u.plan) {
			name, *to = "may not annotate "+nameOf(u.plan), exploredClient{}
		}
	case clientMarks:
		name = "annotates " + nameOf(u.plan)
		if *to = (exploredClient{}); u.planStale {
			name, *to = "is to be admitted once more", exploredClient{phase: clientAsks, plan: u.plan}
		} else {
			marked := *p
			marked.annotated = true
			c.storePlan(u.plan, marked)
		}
	case clientIdle:
	}
	steps := []step{{Name: title + name, To: c, Program: true}}
	c.clients[i] = exploredClient{}
	if u.phase == clientReads {
		return steps // it has done nothing yet
	}
	return append(steps, step{Name: title + "dies", To: c})
}

// swap is the compare-and-swap of the record by svcat.
func (m *model) swap(c *cluster, i int) string {
	u := c.clients[i]
	if u.there && u.typeStale || c.typ.there != u.there {
		c.clients[i] = exploredClient{phase: clientReads, plan: u.plan}
		return "conflicts"
	}
	c.clients[i] = exploredClient{phase: clientAsks, plan: u.plan}
	if u.marked {
		c.clients[i] = exploredClient{}
	}
	c.record(u.plan)
	return "records " + nameOf(u.plan)
}

// record is a user's write of the record.
func (c *cluster) record(n uint8) {
	t := c.typ
	t.there, t.recorded, t.followed = true, n, t.followed && t.recorded == n
	c.storeType(t)
	if c.kept = 0; c.plan(n).live() {
		c.kept = n
	}
}

// admits is admission of an annotation, as package offering decides it from what is stored.
func (m *model) admits(c *cluster, n uint8) bool {
	stands := uint8(0)
	if recorded := c.typ.recorded; recorded != 0 {
		alone := exploredPlans{}
		alone[recorded-1] = *c.plan(recorded)
		believed := m.choose(alone, recorded).recorded
		agreed := c.typ.confirmed || c.typ.followed
		if stands = recorded; believed && !c.plan(recorded).annotated && agreed {
			stands = 0
		} else if believed && recorded == n {
			return true
		}
	}
	without := c.plans
	without[n-1] = exploredPlan{}
	held := m.choose(without, stands)
	return held.plan == 0 && !held.ambiguous
}
