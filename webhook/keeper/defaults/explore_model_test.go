package defaults

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/defaultplan/defaultplan/resolve"
)

// The explorations visit every order of the steps of admission, keeper and svcat about the
// default of one type. settle and resolve.Plan make the decisions.

// mostPlans bounds the plans of a model. A plan is named by its number from 1; 0 is none.
const mostPlans = 3

// An exploredPlan is a plan of the type as it is stored.
type exploredPlan struct {
	there, dormant, annotated bool
	// rank orders the annotated plans, the first to be annotated first.
	rank uint8
}

func (p exploredPlan) live() bool { return p.there && !p.dormant }

type exploredPlans [mostPlans]exploredPlan

// An exploredType is the type's object as it is stored.
type exploredType struct {
	there, ours, confirmed, followed bool
	recorded                         uint8
}

// A cluster is what is stored, and what each program is about to do.
type cluster struct {
	plans   exploredPlans
	typ     exploredType
	keepers [2]exploredKeeper
	clients [2]exploredClient
	// kept is the plan that every request has to get: the record was set to it, and no user did
	// anything since by which it may lose that.
	kept uint8
	// left is how many more things users may do.
	left uint8
}

func nameOf(plan uint8) string { return string(rune('a' - 1 + plan)) }

func planNamed(name string) uint8 {
	if name == "" {
		return 0
	}
	return name[0] - 'a' + 1
}

func (c *cluster) plan(n uint8) *exploredPlan { return &c.plans[n-1] }

// seen is the input of settle for a type and plans that were read. Ranks stand for the times of
// annotations, which are of one cluster that always had a keeper.
func seen(typ exploredType, plans exploredPlans) state {
	v := state{exists: typ.there, ours: typ.ours, confirmed: typ.confirmed, followed: typ.followed}
	if typ.recorded != 0 {
		v.recorded = nameOf(typ.recorded)
	}
	for i, p := range plans {
		if !p.there {
			continue
		}
		c := contender{name: nameOf(uint8(i + 1)), annotated: p.annotated, annotatedAt: time.Unix(int64(p.rank), 0)}
		c.uid = types.UID(c.name)
		if p.dormant {
			c.state = planDormant
		}
		v.inUse = v.inUse || p.live()
		v.contenders = append(v.contenders, c)
	}
	return v
}

// storeType writes the type's object. All who read it before have an old version.
func (c *cluster) storeType(t exploredType) {
	if t.recorded != c.typ.recorded || !t.there {
		t.confirmed = false
	}
	c.typ = t
	for i := range c.keepers {
		c.keepers[i].typeStale = c.keepers[i].phase != keeperIdle
	}
	for i := range c.clients {
		c.clients[i].typeStale = c.clients[i].phase != clientIdle
	}
}

// storePlan writes a plan.
func (c *cluster) storePlan(n uint8, p exploredPlan) {
	if p.annotated && !c.plan(n).annotated {
		p.rank = mostPlans + 1
	}
	if !p.annotated {
		p.rank = 0
	}
	*c.plan(n) = p
	c.rank()
	for i := range c.keepers {
		if k := &c.keepers[i]; k.phase == keeperGets || k.phase == keeperWrites {
			k.plansStale[n-1] = true
		}
	}
	for i := range c.clients {
		if u := &c.clients[i]; u.phase == clientMarks && u.plan == n {
			u.planStale = true
		}
	}
}

// rank numbers the annotated plans again, so that clusters that differ in the numbers alone are one.
func (c *cluster) rank() {
	for next, after := uint8(1), uint8(0); ; next++ {
		first := -1
		for i, p := range c.plans {
			if p.rank > after && (first < 0 || p.rank < c.plans[first].rank) {
				first = i
			}
		}
		if first < 0 {
			return
		}
		after = c.plans[first].rank
		c.plans[first].rank = next
	}
}

// excuse notes that a user did something by which a plan may lose the record.
func (c *cluster) excuse(n uint8) {
	if c.kept == n {
		c.kept = 0
	}
}

// A chooser resolves requests for the type. It remembers what resolve.Plan answered.
type chooser struct{ known map[resolving]choice }

type resolving struct {
	plans    exploredPlans
	recorded uint8
}

// A choice is what resolve.Plan chose: no plan where it refused.
type choice struct {
	plan                uint8
	recorded, ambiguous bool
}

func (r *chooser) choose(plans exploredPlans, recorded uint8) choice {
	for i := range plans {
		plans[i].rank = 0
	}
	key := resolving{plans, recorded}
	if made, is := r.known[key]; is {
		return made
	}
	made := choose(plans, recorded)
	r.known[key] = made
	return made
}

func choose(plans exploredPlans, recorded uint8) choice {
	catalog := resolve.Catalog{Classes: []resolve.ClassEntry{{Ref: resolve.Ref{Name: "class"}, ExternalName: "class"}}}
	for i, p := range plans {
		if !p.there {
			continue
		}
		entry := resolve.PlanEntry{Ref: resolve.Ref{Name: nameOf(uint8(i + 1))}, Class: "class", Type: "mysql", Default: p.annotated}
		if entry.ExternalName = entry.Name; p.dormant {
			entry.Gone = "removed from its broker's catalog"
		}
		catalog.Plans = append(catalog.Plans, entry)
	}
	if recorded != 0 {
		catalog.Records = []resolve.Record{{Type: "mysql", Plan: resolve.Ref{Name: nameOf(recorded)}}}
	}
	got, err := resolve.Plan(resolve.Request{Namespace: "dev", Type: "mysql"}, catalog)
	if refused := (*resolve.Error)(nil); errors.As(err, &refused) {
		return choice{ambiguous: refused.Reason == resolve.Ambiguous}
	}
	return choice{plan: planNamed(got.Plan.Name), recorded: got.Recorded}
}

// check is what holds in every state.
func (r *chooser) check(c cluster) error {
	made := r.choose(c.plans, c.typ.recorded)
	switch {
	case c.kept != 0 && made.plan != c.kept:
		return fmt.Errorf("the default %s is lost", nameOf(c.kept))
	case made.ambiguous && c.typ.recorded != 0 && c.plan(c.typ.recorded).live():
		return fmt.Errorf("there are two defaults, although %s is recorded", nameOf(c.typ.recorded))
	}
	return nil
}

// settledType says what record and annotations lack where no program has anything to do.
func settledType(c cluster) error {
	annotated, inUse := []string{}, false
	for i, p := range c.plans {
		inUse = inUse || p.live()
		if p.live() && p.annotated {
			annotated = append(annotated, nameOf(uint8(i+1)))
		}
	}
	t := c.typ
	switch {
	case t.there != inUse && (inUse || t.ours && t.recorded == 0):
		return errors.New("the type's object is not there, or is there for nothing")
	case t.recorded == 0 && len(annotated) > 0:
		return fmt.Errorf("%v annotated, and none recorded", annotated)
	case t.recorded == 0:
		return nil
	}
	holder := c.plan(t.recorded)
	switch {
	case !holder.there:
		return errors.New("a plan is recorded that does not exist")
	case holder.dormant && len(annotated) > 0:
		return errors.New("a plan that cannot be chosen is recorded, and another is annotated")
	case holder.live() && (len(annotated) != 1 || annotated[0] != nameOf(t.recorded)):
		return fmt.Errorf("%s is recorded, and %v annotated", nameOf(t.recorded), annotated)
	case holder.live() && !t.confirmed:
		return errors.New("the record is not confirmed")
	}
	return nil
}
