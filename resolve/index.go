package resolve

// linearLimit is how many entries are searched one by one. A request's own slice of the catalog is shorter than that,
// and building a map for it would cost more than the whole choice.
const linearLimit = 16

// An index finds entries by key, and builds its map only when asked about a long list.
type index[T any] struct {
	items []T
	key   func(*T) Ref
	byKey map[Ref]*T
}

// get returns the entry with the key, or nil.
func (x *index[T]) get(key Ref) *T {
	if len(x.items) > linearLimit {
		return x.lookup(key)
	}
	for i := range x.items {
		if x.key(&x.items[i]) == key {
			return &x.items[i]
		}
	}
	return nil
}

func (x *index[T]) lookup(key Ref) *T {
	if x.byKey == nil {
		x.byKey = make(map[Ref]*T, len(x.items))
		for i := range x.items {
			x.byKey[x.key(&x.items[i])] = &x.items[i]
		}
	}
	return x.byKey[key]
}

func classKey(c *ClassEntry) Ref { return c.Ref }

func planKey(p *PlanEntry) Ref { return p.Ref }

// recordKey is the name of the record's own object: a ServiceType is named after its type, and lives where its plan
// does.
func recordKey(r *Record) Ref { return Ref{Namespace: r.Plan.Namespace, Name: r.Type} }

// A tally counts entries and keeps the first, which is the one wanted when there is no other.
type tally[T any] struct {
	first *T
	n     int
}

func (t *tally[T]) add(entry *T) {
	if t.n == 0 {
		t.first = entry
	}
	t.n++
}
