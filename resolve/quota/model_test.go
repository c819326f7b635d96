package quota_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/defaultplan/defaultplan/resolve/quota"
)

// selects says which policies select which plan; none limits the last.
var selects = map[int][]string{0: {"p"}, 1: {"q"}, 2: {"p", "q"}, 3: {}}

// A modelPolicy and a modelObject are what is stored; a version is a write.
type modelPolicy struct {
	version int
	limit   int32
	// ceiling is what there may be: more than the limit where that was lowered and not
	// enough is gone yet.
	ceiling int32
	granted []types.UID
}

// noPlan is where there is none.
const noPlan = -1

type modelObject struct {
	uid     types.UID
	version int
	since   int64
	// asked, sent and has are plans: of the spec, of the intent, and accepted.
	asked, sent, has int
	leaving          bool
}

// A model is a cluster, its broker, and programs that do one step at a time in any
// order, with old news, and that may die at any step.
type model struct {
	*rand.Rand

	t        *testing.T
	policies map[string]modelPolicy
	objects  map[types.UID]modelObject
	// former are objects and policies as they were some time ago: caches.
	formerPolicies map[string]modelPolicy
	formerObjects  map[types.UID]modelObject
	// broker has the plan of each.
	broker      map[types.UID]int
	keepers     []*modelKeeper
	controllers map[types.UID]*modelController
	made        int
}

func newModel(t *testing.T, seed uint64) *model {
	t.Helper()
	return &model{
		Rand: rand.New(rand.NewPCG(seed, 7)), t: t,
		policies: map[string]modelPolicy{"p": {limit: 2, ceiling: 2}, "q": {limit: 1, ceiling: 1}}, objects: map[types.UID]modelObject{},
		broker: map[types.UID]int{}, keepers: []*modelKeeper{{}, {}}, controllers: map[types.UID]*modelController{},
	}
}

// user does something that users and operators do.
func (m *model) user() {
	switch m.IntN(9) {
	case 0, 1, 2:
		if len(m.objects) < 6 {
			m.made++
			uid := types.UID(fmt.Sprintf("o%03d", m.made))
			m.objects[uid] = modelObject{uid: uid, since: int64(m.made), asked: m.IntN(4), sent: noPlan, has: noPlan}
		}
	case 3, 4, 5:
		m.edit(func(o *modelObject) { o.asked = m.IntN(4) })
	case 6:
		m.edit(func(o *modelObject) { o.leaving = true })
	case 7: // deleted and recreated, between two looks
		if m.forgotten() {
			return
		}
		name := []string{"p", "q"}[m.IntN(2)]
		p := m.policies[name]
		m.policies[name] = modelPolicy{version: p.version + 1, limit: p.limit, ceiling: p.ceiling}
	case 8: // lowered or raised
		name := []string{"p", "q"}[m.IntN(2)]
		p := m.policies[name]
		p.version, p.limit = p.version+1, m.Int32N(4)
		p.ceiling = max(p.ceiling, p.limit)
		m.policies[name] = p
	}
}

// forgotten says that a plan is being changed. If it is changed once more before that
// is over, its status does not tell any more what the broker may have: slots that were
// granted are kept then, but a policy that has just been recreated does not know of
// it.
func (m *model) forgotten() bool {
	for _, o := range m.objects {
		if plan, there := m.broker[o.uid]; there && plan != o.has || o.sent != noPlan && o.has != noPlan {
			return true
		}
	}
	return false
}

func (m *model) edit(change func(*modelObject)) {
	if len(m.objects) == 0 {
		return
	}
	all := slices.Sorted(maps.Keys(m.objects))
	o := m.objects[all[m.IntN(len(all))]]
	change(&o)
	o.version++
	m.objects[o.uid] = o
}

// A modelKeeper goes from step to step with what it saw.
type modelKeeper struct {
	step     int
	policies map[string]modelPolicy
	result   quota.Settlement
}

func (m *model) keep(k *modelKeeper) {
	switch k.step {
	case 0:
		k.policies = maps.Clone(m.policies)
	case 1:
		k.result = quota.Settle(k.seen(), m.demands())
	default:
		name := []string{"p", "q"}[k.step-2]
		now, then := m.policies[name], k.policies[name]
		if !slices.Equal(k.result.Granted[name], then.granted) {
			if now.version != then.version {
				k.step = 0
				return
			}
			m.policies[name] = modelPolicy{version: now.version + 1, limit: now.limit, ceiling: now.ceiling, granted: k.result.Granted[name]}
		}
	}
	k.step = (k.step + 1) % 4
}

func (k *modelKeeper) seen() []quota.Policy {
	var policies []quota.Policy
	for name, p := range k.policies {
		policies = append(policies, quota.Policy{Name: name, Limit: &p.limit, Granted: p.granted})
	}
	return policies
}

func (m *model) demands() []quota.Demand {
	var demands []quota.Demand
	for _, o := range m.objects {
		c := quota.Demand{UID: o.uid, Since: o.since, Leaving: o.leaving, Opaque: o.sent != noPlan, Stages: map[string]quota.Stage{}}
		for plan, stage := range map[int]quota.Stage{o.asked: quota.Asked, o.sent: quota.Doubtful, o.has: quota.Standing} {
			for _, name := range selects[plan] {
				c.Stages[name] = max(c.Stages[name], stage)
			}
		}
		// The same plan may be asked for and there.
		for _, name := range append(slices.Clone(selects[o.sent]), selects[o.has]...) {
			c.Stages[name] = max(c.Stages[name], quota.Doubtful)
		}
		for _, name := range selects[o.has] {
			c.Stages[name] = quota.Standing
		}
		demands = append(demands, c)
	}
	return demands
}

func (m *model) step() {
	switch m.IntN(12) {
	case 0:
		m.user()
	case 1:
		m.formerPolicies, m.formerObjects = maps.Clone(m.policies), maps.Clone(m.objects)
	case 2:
		m.keepers[m.IntN(2)].step = m.IntN(2) * m.IntN(4) / 3 // killed, most often
	case 3:
		for _, uid := range slices.Sorted(maps.Keys(m.controllers)) {
			m.controllers[uid].step = 0 // all in one process
		}
	case 4, 5, 6:
		m.keep(m.keepers[m.IntN(2)])
	default:
		if all := slices.Sorted(maps.Keys(m.objects)); len(all) > 0 {
			uid := all[m.IntN(len(all))]
			m.act(m.controller(uid), uid)
		}
	}
	m.judge()
}

// TestNeverOverAndNeverUnder: two keepers and the controller, each with old news and
// dying at any moment, never have more at the broker than there may be, and use all
// that there is.
func TestNeverOverAndNeverUnder(t *testing.T) {
	t.Parallel()
	models := uint64(500)
	if testing.Short() {
		models = 100
	}
	for seed := range models {
		m := newModel(t, seed)
		for range 600 {
			m.step()
		}
		m.rest()
	}
}
