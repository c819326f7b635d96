package lifecycle

import (
	"maps"
	"slices"
	"testing"
	"time"
)

// FuzzStateMachine goes where the bytes say, further than TestStateMachine comes, with the same rules.
func FuzzStateMachine(f *testing.F) {
	f.Add([]byte{0, 9, 9, 9})
	f.Add([]byte{3, 1, 20, 3, 60, 200, 9, 1, 5, 7, 30, 44, 2})
	f.Add([]byte{5, 255, 128, 7, 66, 12, 201, 33, 90, 14, 2, 77, 180})
	f.Add([]byte{9, 4, 250, 80, 3, 17, 17, 40, 41, 42, 43, 99, 100})
	f.Add([]byte{8, 7, 6, 5, 4, 3, 2, 1, 0, 250, 240, 230, 220, 210, 200})
	f.Fuzz(func(t *testing.T, path []byte) {
		if len(path) == 0 || len(path) > 200 {
			return
		}
		all := scenarios()
		w := stateMachine{t: t, scenario: all[int(path[0])%len(all)], seen: map[string]bool{}, ended: map[string]bool{}}
		w.visit(w.scenario.start())
		for _, b := range path[1:] {
			at := w.queue[0]
			w.queue = nil
			if b%4 == 0 {
				w.events(at)
			} else {
				w.anyDay(at, int(b/4))
			}
			if len(w.queue) == 0 { // it was released, or there is nothing new
				next := *at
				next.passes(at.now.Add(time.Hour))
				w.queue = []*state{&next}
			}
			w.queue = w.queue[int(b)%len(w.queue):]
			w.seen = map[string]bool{}
		}
	})
}

// anyDay takes a step on a good day, or seldom on a bad one.
func (w *stateMachine) anyDay(at *state, choice int) {
	others := w.scenario.otherFacts(at)
	names := slices.Sorted(maps.Keys(others))
	if choice < len(names) {
		w.step(at, names[choice], others[names[choice]])
		return
	}
	w.step(at, "", w.scenario.facts(at))
}
