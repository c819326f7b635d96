package queue

import "container/list"

// A waiting list holds the entries of one broker that wait. Their namespaces take turns.
type waiting struct {
	// order has the namespaces that wait, the next one first.
	order []string
	of    map[string]*list.List
}

func (w *waiting) empty() bool { return len(w.order) == 0 }

// add lets an entry wait behind those of its namespace.
func (w *waiting) add(e *entry) {
	namespace := e.item.Namespace
	if w.of == nil {
		w.of = map[string]*list.List{}
	}
	if w.of[namespace] == nil {
		w.of[namespace] = list.New()
		w.order = append(w.order, namespace)
	}
	e.place = w.of[namespace].PushBack(e)
}

// remove takes an entry out, wherever it stands.
func (w *waiting) remove(e *entry) {
	namespace := e.item.Namespace
	of := w.of[namespace]
	of.Remove(e.place)
	e.place = nil
	if of.Len() > 0 {
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
// and so do the entries of a namespace that is not free to go on.
func (w *waiting) next(free func(namespace string) bool) *entry {
	for _, namespace := range w.order {
		if !free(namespace) {
			continue
		}
		for at := w.of[namespace].Front(); at != nil; at = at.Next() {
			if e := at.Value.(*entry); !e.busy { //nolint:forcetypeassert // the list holds nothing else
				return e
			}
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
