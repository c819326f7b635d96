package webhook

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/resolve"
)

// A query is something to ask of a shelf.
type query struct {
	// key is the query's own among all: what kind it is, and what it asks for.
	key  string
	read func(shelf, context.Context) (part, error)
}

func everything() query { return query{"everything", shelf.everything} }

// ofType asks for the plans of a type.
func ofType(serviceType string) query {
	return query{"type/" + serviceType, func(s shelf, ctx context.Context) (part, error) { return s.ofType(ctx, serviceType) }}
}

// typeRecord asks for what a type records as its default.
func typeRecord(serviceType string) query {
	return query{"record/" + serviceType, func(s shelf, ctx context.Context) (part, error) { return s.record(ctx, serviceType) }}
}

// beside asks for what matters beside the cluster's record of a type: a
// namespace's own plans, which come first, and other plans annotated as default,
// which are worth a warning.
func beside(serviceType string) query {
	return query{"beside/" + serviceType, func(s shelf, ctx context.Context) (part, error) {
		if s.namespace == "" {
			return s.annotated(ctx, serviceType)
		}
		return s.ofType(ctx, serviceType)
	}}
}

// classNamed asks for the classes of that name with their plans, and, with
// records, for what the types of those record.
func classNamed(named resolve.Named, records bool) query {
	return query{fmt.Sprintf("class/%d/%t/%s", named.By, records, named.Value), func(s shelf, ctx context.Context) (part, error) {
		found, err := s.classesNamed(ctx, named)
		if err != nil {
			return part{}, err
		}
		for _, class := range found.Classes {
			plans, err := s.plansOf(ctx, class.Name)
			if err != nil {
				return part{}, err
			}
			found.add(plans)
		}
		if !records {
			return found, nil
		}
		return s.withRecords(ctx, found)
	}}
}

// A look is a query and the shelf that it is asked of.
type look struct {
	at  shelf
	ask query
}

// across asks each query of each shelf.
func across(from []shelf, queries ...query) []look {
	looks := make([]look, 0, len(from)*len(queries))
	for _, s := range from {
		for _, q := range queries {
			looks = append(looks, look{s, q})
		}
	}
	return looks
}

// shelves are the scopes that a request in namespace can choose from, its own
// first.
func shelves(reader client.Reader, namespace string) []shelf {
	if namespace == "" {
		return []shelf{{reader: reader}}
	}
	return []shelf{{reader: reader, namespace: namespace}, {reader: reader}}
}

// shelfOfClass is the scope in which req names its class.
func shelfOfClass(reader client.Reader, req *resolve.Request) shelf {
	if req.Namespaced {
		return shelf{reader: reader, namespace: req.Namespace}
	}
	return shelf{reader: reader}
}

// shared gathers from the API server, each look together with the other requests
// that take the same at the same time: however many are refused at once, a query
// has one read under way.
func (c *catalog) shared(ctx context.Context, looks ...look) (part, error) {
	once := make([]look, len(looks))
	for i, l := range looks {
		// No namespace holds a slash.
		key := l.at.namespace + "/" + l.ask.key
		once[i] = look{l.at, query{key, func(s shelf, ctx context.Context) (part, error) {
			return c.reads.do(ctx, key, func(ctx context.Context) (part, error) { return l.ask.read(s, ctx) })
		}}}
	}
	return gather(ctx, once...)
}

// gather adds up what the looks find, each taken on its own: most of them wait
// for the API server. What it returns is the caller's to change.
func gather(ctx context.Context, looks ...look) (part, error) {
	type outcome struct {
		part
		err error
	}
	outcomes := make([]chan outcome, 0, len(looks))
	for _, l := range looks {
		done := make(chan outcome, 1)
		outcomes = append(outcomes, done)
		go func() {
			var one outcome
			defer func() { done <- one }()
			defer contain(ctx, &one.err)
			one.part, one.err = l.ask.read(l.at, ctx)
		}()
	}
	var all part
	for _, done := range outcomes {
		one := <-done
		if one.err != nil {
			return part{}, one.err
		}
		all.add(one.part)
	}
	return all, nil
}

// union adds to a what of b is not in it.
func union(a, b part) part {
	classes, plans := map[resolve.Ref]bool{}, map[resolve.Ref]bool{}
	for _, class := range a.Classes {
		classes[class.Ref] = true
	}
	for _, plan := range a.Plans {
		plans[plan.Ref] = true
	}
	for _, class := range b.Classes {
		if !classes[class.Ref] {
			classes[class.Ref] = true
			a.Classes = append(a.Classes, class)
		}
	}
	for _, plan := range b.Plans {
		if !plans[plan.Ref] {
			plans[plan.Ref] = true
			a.Plans = append(a.Plans, plan)
		}
	}
	return a
}

// onlyNamed are the plans that have the name.
func onlyNamed(plans []resolve.PlanEntry, named resolve.Named) []resolve.PlanEntry {
	var kept []resolve.PlanEntry
	for _, plan := range plans {
		switch {
		case named.By == resolve.ByName && plan.Name == named.Value,
			named.By == resolve.ByExternalName && plan.ExternalName == named.Value,
			named.By == resolve.ByExternalID && plan.ExternalID == named.Value:
			kept = append(kept, plan)
		}
	}
	return kept
}
