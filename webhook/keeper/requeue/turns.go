package requeue

// turns is the order of a queue in which namespaces take turns, and the objects
// of one are first in, first out. So however many objects a user causes to be
// touched in one namespace, those of another wait for one touch.
type turns struct {
	// order is of the namespaces in which something waits.
	order   []string
	waiting map[string][]waiter
	len     int
}

func newTurns() *turns { return &turns{waiting: map[string][]waiter{}} }

// Touch is called for an item that waits already, which keeps its place.
func (t *turns) Touch(waiter) {}

func (t *turns) Push(w waiter) {
	namespace := w.at.Namespace
	if len(t.waiting[namespace]) == 0 {
		t.order = append(t.order, namespace)
	}
	t.waiting[namespace] = append(t.waiting[namespace], w)
	t.len++
}

func (t *turns) Len() int { return t.len }

func (t *turns) Pop() waiter {
	namespace := t.order[0]
	t.order = t.order[1:]
	first, rest := t.waiting[namespace][0], t.waiting[namespace][1:]
	if len(rest) == 0 {
		delete(t.waiting, namespace)
	} else {
		t.waiting[namespace] = rest
		t.order = append(t.order, namespace)
	}
	t.len--
	return first
}
