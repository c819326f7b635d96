package queue

import "container/list"

// A waiting list holds the entries of one broker that wait. Their namespaces take turns.
type waiting struct {
	// order has the namespaces that wait, the next one first.
	order []string
	// of has the entries of each namespace by what they wait for: those of an operation that
	// has a pause do not keep the others waiting.
	of map[string]map[Operation]*list.List
	// last is the number of the entry that came last.
	last uint64
}

func (w *waiting) empty() bool { return len(w.order) == 0 }

// each does something with every entry that waits.
func (w *waiting) each(do func(*entry)) {
	for _, of := range w.of {
		for _, same := range of {
			for at := same.Front(); at != nil; at = at.Next() {
				do(entryAt(at))
			}
		}
	}
}

// add lets an entry wait behind those of its namespace, or where it has waited before.
func (w *waiting) add(e *entry, since uint64) {
	namespace := e.item.Namespace
	if w.of == nil {
		w.of = map[string]map[Operation]*list.List{}
	}
	of := w.of[namespace]
	if of == nil {
		of = map[Operation]*list.List{}
		w.of[namespace] = of
		w.order = append(w.order, namespace)
	}
	same := of[e.operation]
	if same == nil {
		same = list.New()
		of[e.operation] = same
	}
	if e.number = since; since == 0 {
		w.last++
		e.number = w.last
	}
	before := same.Back()
	for before != nil && entryAt(before).number > e.number {
		before = before.Prev()
	}
	if before == nil {
		e.place = same.PushFront(e)
		return
	}
	e.place = same.InsertAfter(e, before)
}

func entryAt(at *list.Element) *entry { return at.Value.(*entry) } //nolint:forcetypeassert // the lists hold nothing else

// remove takes an entry out, wherever it stands.
func (w *waiting) remove(e *entry) {
	namespace := e.item.Namespace
	of := w.of[namespace]
	same := of[e.operation]
	same.Remove(e.place)
	e.place = nil
	if same.Len() == 0 {
		delete(of, e.operation)
	}
	if len(of) > 0 {
		return
	}
	delete(w.of, namespace)
	for i, name := range w.order {
		if name == namespace {
			w.order = append(w.order[:i:i], w.order[i+1:]...)
			return
		}
	}
}

// next is the entry whose turn it is, or nil. One over which a pass runs keeps its place,
// and so do the entries of a namespace, or for an operation, that is not free to go on.
func (w *waiting) next(free func(namespace string, operation Operation) bool) *entry {
	for _, namespace := range w.order {
		var first *entry
		for operation, same := range w.of[namespace] {
			if e := idle(same); e != nil && (first == nil || e.number < first.number) && free(namespace, operation) {
				first = e
			}
		}
		if first != nil {
			return first
		}
	}
	return nil
}

// idle is the first entry of a list over which no pass runs, or nil.
func idle(same *list.List) *entry {
	for at := same.Front(); at != nil; at = at.Next() {
		if e := entryAt(at); !e.busy {
			return e
		}
	}
	return nil
}

// served puts a namespace that had its turn behind the others.
func (w *waiting) served(namespace string) {
	for i, name := range w.order {
		if name == namespace {
			w.order = append(append(w.order[:i:i], w.order[i+1:]...), namespace)
			return
		}
	}
}
