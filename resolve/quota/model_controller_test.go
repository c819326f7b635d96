package quota_test

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// A modelController is the worker of one object: it looks, stores its intent, looks
// once more, calls, and stores the outcome.
type modelController struct {
	step int
	seen modelObject
}

func (m *model) act(c *modelController, uid types.UID) {
	stored, there := m.objects[uid]
	if !there {
		return
	}
	switch c.step {
	case 0:
		c.seen = stored
		if old, known := m.formerObjects[uid]; known && m.IntN(2) == 0 {
			c.seen = old
		}
		policies := m.policies
		if m.formerPolicies != nil && m.IntN(2) == 0 {
			policies = m.formerPolicies
		}
		if c.seen.leaving {
			m.remove(c, stored)
			return
		}
		if c.seen.asked == c.seen.has && c.seen.sent == noPlan || lacks(policies, c.seen) {
			return
		}
	case 1: // the intent, if the object is as it was seen
		if stored.version != c.seen.version {
			c.step = 0
			return
		}
		m.edit1(uid, func(o *modelObject) { o.sent = c.seen.asked })
	case 2: // the look at the policies after it
		if lacks(m.policies, c.seen) {
			m.edit1(uid, func(o *modelObject) { o.sent = c.seen.sent })
			c.step = 0
			return
		}
	case 3:
		m.broker[uid] = c.seen.asked
	case 4:
		m.edit1(uid, func(o *modelObject) { o.has, o.sent = c.seen.asked, noPlan })
	}
	c.step = (c.step + 1) % 5
}

// remove removes what leaves: never from old news, for the intent would fail.
func (m *model) remove(c *modelController, stored modelObject) {
	if stored.version == c.seen.version {
		delete(m.broker, stored.uid)
		delete(m.objects, stored.uid)
	}
}

func (m *model) edit1(uid types.UID, change func(*modelObject)) {
	o := m.objects[uid]
	change(&o)
	o.version++
	m.objects[uid] = o
}

func lacks(policies map[string]modelPolicy, o modelObject) bool {
	for _, plan := range []int{o.asked, o.sent, o.has} {
		for _, name := range selects[plan] {
			if !slices.Contains(policies[name].granted, o.uid) {
				return true
			}
		}
	}
	return false
}

func (m *model) controller(uid types.UID) *modelController {
	if m.controllers[uid] == nil {
		m.controllers[uid] = &modelController{}
	}
	return m.controllers[uid]
}
