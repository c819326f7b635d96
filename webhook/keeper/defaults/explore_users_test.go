package defaults

import (
	"fmt"

	"github.com/defaultplan/defaultplan/e2e/explore"
)

// start is a cluster whose first plan is the default, and settled.
func (m *model) start(left int) cluster {
	c := cluster{left: uint8(left)}
	for i := range m.plans {
		c.plans[i].there = true
	}
	c.plans[0].annotated, c.plans[0].rank = true, 1
	c.typ = exploredType{there: true, ours: true, confirmed: true, followed: true, recorded: 1}
	if !m.mayLose {
		c.kept = 1
	}
	return c
}

// steps are all that can happen.
func (m *model) steps(c cluster) []step {
	var all []step
	for i := range m.keepers {
		all = append(all, m.keeper(c, i)...)
	}
	for i := range m.clients {
		all = append(all, m.client(c, i)...)
	}
	if c.left == 0 {
		return all
	}
	c.left--
	for n := uint8(1); n <= m.plans; n++ {
		all = append(all, m.requests(c, n)...)
		all = append(all, m.catalog(c, n)...)
	}
	return append(all, m.typeWrites(c)...)
}

// requests are what a user begins about a plan.
func (m *model) requests(c cluster, n uint8) []step {
	var all []step
	p := *c.plan(n)
	for i := range m.clients {
		if c.clients[i].phase != clientIdle {
			continue
		}
		begins := func(what string, phase clientPhase) {
			to := c
			to.clients[i] = exploredClient{phase: phase, plan: n}
			all = append(all, step{Name: fmt.Sprintf("client %d begins to %s %s", i+1, what, nameOf(n)), To: to})
		}
		begins("switch to", clientReads)
		if p.there && !p.annotated {
			begins("annotate", clientAsks)
		}
		break // the clients are alike
	}
	if c.typ.there && c.typ.recorded != n && p.live() {
		to := c
		to.record(n)
		all = append(all, step{Name: "kubectl records " + nameOf(n), To: to})
	}
	if p.annotated {
		to := c
		p.annotated = false
		to.storePlan(n, p)
		to.excuse(n)
		all = append(all, step{Name: "kubectl takes the annotation off " + nameOf(n), To: to})
	}
	return all
}

// catalog is what users and brokers do to a plan.
func (m *model) catalog(c cluster, n uint8) []step {
	var all []step
	p := *c.plan(n)
	write := func(what string, p exploredPlan) {
		to := c
		to.storePlan(n, p)
		to.excuse(n)
		all = append(all, step{Name: fmt.Sprintf("plan %s %s", nameOf(n), what), To: to})
	}
	if !p.there {
		named := c.typ.recorded == n
		if m.admits(&c, n) {
			write("is created, annotated", exploredPlan{there: true, annotated: true})
		}
		if !named || m.admits(&c, n) {
			write("is created", exploredPlan{there: true})
		}
		return all
	}
	write("is deleted", exploredPlan{})
	if p.dormant = !p.dormant; p.dormant {
		write("leaves its broker's catalog", p)
	} else {
		write("is listed again", p)
	}
	return all
}

// typeWrites are what users do to the type's object.
func (m *model) typeWrites(c cluster) []step {
	var all []step
	if !c.typ.there {
		return nil
	}
	to := c
	to.storeType(exploredType{})
	to.kept = 0
	all = append(all, step{Name: "the type's object is deleted", To: to})
	if recorded := c.typ.recorded; recorded != 0 && (!c.plan(recorded).live() || !c.plan(recorded).annotated) {
		to, t := c, c.typ
		t.recorded, t.followed = 0, false
		to.storeType(t)
		to.kept = 0
		all = append(all, step{Name: "kubectl clears the record", To: to})
	}
	return all
}

// explored is the model of a cluster with one keeper and one client at a time.
func explored() *model {
	return &model{chooser: chooser{map[resolving]choice{}}, plans: 2, keepers: 1, clients: 1, settle: settle}
}

func (m *model) run(left, mostStates int) explore.Result {
	steps := m.steps
	if m.mayLose {
		steps = func(c cluster) []step {
			all := m.steps(c)
			for i := range all {
				all[i].To.kept = 0
			}
			return all
		}
	}
	return explore.Run(explore.Model[cluster, cluster]{
		Start: m.start(left), Key: func(c cluster) cluster { return c },
		Steps: steps, Check: m.check, Settled: settledType, MostStates: mostStates,
	})
}
