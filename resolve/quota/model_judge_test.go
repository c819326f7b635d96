package quota_test

import (
	"maps"
	"slices"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

// judge holds the broker's books against the limits.
func (m *model) judge() {
	for name, p := range m.policies {
		n := 0
		for _, plan := range m.broker {
			if slices.Contains(selects[plan], name) {
				n++
			}
		}
		require.LessOrEqual(m.t, n, int(p.ceiling), "over %s", name)
		if m.entitled(name) <= int(p.limit) {
			p.ceiling = p.limit
			m.policies[name] = p
		}
	}
}

// entitled are those who have a slot, are at the broker, or may be on their way there:
// when a limit is lowered, no other gets a slot until their number fits the limit.
func (m *model) entitled(name string) int {
	uids := map[types.UID]bool{}
	for _, uid := range m.policies[name].granted {
		uids[uid] = true
	}
	for uid, plan := range m.broker {
		uids[uid] = uids[uid] || slices.Contains(selects[plan], name)
	}
	for uid, o := range m.objects {
		uids[uid] = uids[uid] || slices.Contains(selects[o.sent], name)
	}
	n := 0
	for _, counts := range uids {
		if counts {
			n++
		}
	}
	return n
}

// rest lets everything come to rest, and says that no slot is left that a demand
// waits for.
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
