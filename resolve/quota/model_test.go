package quota_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/defaultplan/defaultplan/resolve/quota"
)

// selects says which policies select which plan; nobody limits the last.
var selects = map[int][]string{0: {"p"}, 1: {"q"}, 2: {"p", "q"}, 3: {}}

// A modelPolicy and a modelObject are what is stored; a version is a write.
type modelPolicy struct {
	version int
	limit   int32
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
		policies: map[string]modelPolicy{"p": {limit: 2}, "q": {limit: 1}}, objects: map[types.UID]modelObject{},
		broker: map[types.UID]int{}, keepers: []*modelKeeper{{}, {}}, controllers: map[types.UID]*modelController{},
	}
}

// user does something that users and operators do.
func (m *model) user() {
	switch m.IntN(8) {
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
	case 7: // deleted and made anew, between two looks
		if m.forgotten() {
			return
		}
		name := []string{"p", "q"}[m.IntN(2)]
		p := m.policies[name]
		m.policies[name] = modelPolicy{version: p.version + 1, limit: p.limit}
	}
}

// forgotten says that a plan is being changed. If it is changed once more before that
// is over, its status does not tell any more what the broker may have: slots that were
// granted are kept then, but a policy that is made anew just now does not know of it.
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
		k.result = quota.Settle(k.seen(), m.claims())
	default:
		name := []string{"p", "q"}[k.step-2]
		now, then := m.policies[name], k.policies[name]
		if !slices.Equal(k.result.Granted[name], then.granted) {
			if now.version != then.version {
				k.step = 0
				return
			}
			m.policies[name] = modelPolicy{version: now.version + 1, limit: now.limit, granted: k.result.Granted[name]}
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

func (m *model) claims() []quota.Claim {
	var claims []quota.Claim
	for _, o := range m.objects {
		c := quota.Claim{UID: o.uid, Since: o.since, Leaving: o.leaving, Opaque: o.sent != noPlan, Stages: map[string]quota.Stage{}}
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
		claims = append(claims, c)
	}
	return claims
}

// judge holds the broker's books against the limits.
func (m *model) judge() {
	for name, p := range m.policies {
		n := 0
		for _, plan := range m.broker {
			if slices.Contains(selects[plan], name) {
				n++
			}
		}
		require.LessOrEqual(m.t, n, int(p.limit), "over %s", name)
	}
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

// rest lets everything come to rest, and says that no slot is left that somebody waits
// for.
func (m *model) rest() {
	m.formerPolicies, m.formerObjects = nil, nil
	for range 40 {
		for m.keep(m.keepers[0]); m.keepers[0].step != 0; {
			m.keep(m.keepers[0])
		}
		for _, uid := range slices.Sorted(maps.Keys(m.objects)) {
			for range 5 {
				m.act(m.controller(uid), uid)
				m.judge()
			}
		}
	}
	for _, o := range m.objects {
		if o.has == o.asked || o.leaving || o.sent != noPlan {
			continue
		}
		room := true
		for _, name := range selects[o.asked] {
			p := m.policies[name]
			room = room && (slices.Contains(p.granted, o.uid) || len(p.granted)+m.doubtful(name) < int(p.limit))
		}
		require.False(m.t, room, "%v waits although there is room: %v", o, m.policies)
	}
}

// doubtful are those without a slot that may be at the broker: they count.
func (m *model) doubtful(name string) int {
	n := 0
	for _, o := range m.objects {
		if o.sent != noPlan && slices.Contains(selects[o.sent], name) && !slices.Contains(m.policies[name].granted, o.uid) {
			n++
		}
	}
	return n
}

// TestNeverOverAndNeverUnder: two keepers and the controller, each with old news and
// dying at any moment, never have more at the broker than there may be, and use all
// that there is.
func TestNeverOverAndNeverUnder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		m := newModel(t, seed)
		for range 600 {
			m.step()
		}
		m.rest()
	}
}
