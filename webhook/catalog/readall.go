package catalog

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/coalesce"
)

// A query is a read that any scope can serve.
type query struct {
	// key identifies the query: its kind, and its arguments.
	key  string
	read func(Scope, context.Context) (Slice, error)
}

func everything() query { return query{"everything", Scope.everything} }

// ofType reads the plans of a type.
func ofType(serviceType string) query {
	return query{"type/" + serviceType, func(s Scope, ctx context.Context) (Slice, error) { return s.OfType(ctx, serviceType) }}
}

// typeRecord reads what a type records as its default.
func typeRecord(serviceType string) query {
	return query{"record/" + serviceType, func(s Scope, ctx context.Context) (Slice, error) { return s.record(ctx, serviceType) }}
}

// annotated reads the plans of a type that are annotated as its default or as suggested.
func annotated(serviceType string) query {
	return query{"annotated/" + serviceType, func(s Scope, ctx context.Context) (Slice, error) { return s.annotated(ctx, serviceType) }}
}

// planNamed asks for the plan with a Kubernetes name, and its class.
func planNamed(name string) query {
	return query{"plan/" + name, func(s Scope, ctx context.Context) (Slice, error) { return s.WithPlan(ctx, Slice{}, name) }}
}

// classNamed reads the classes of that name with their plans, and, with
// records, what the types of those plans record.
func classNamed(named resolve.Named, records bool) query {
	return query{fmt.Sprintf("class/%d/%t/%s", named.By, records, named.Value), func(s Scope, ctx context.Context) (Slice, error) {
		found, err := s.classesNamed(ctx, named)
		if err != nil {
			return Slice{}, err
		}
		for _, class := range found.Classes {
			plans, err := s.PlansOf(ctx, class.Name)
			if err != nil {
				return Slice{}, err
			}
			found.add(plans)
		}
		if !records {
			return found, nil
		}
		return s.withRecords(ctx, found)
	}}
}

// A read is a query and the scope that it is asked of.
type read struct {
	at  Scope
	ask query
}

// across pairs each query with each scope.
func across(from []Scope, queries ...query) []read {
	reads := make([]read, 0, len(from)*len(queries))
	for _, s := range from {
		for _, q := range queries {
			reads = append(reads, read{s, q})
		}
	}
	return reads
}

// scopesOf are the scopes that a request in namespace can choose from, its own
// first.
func scopesOf(reader client.Reader, namespace string) []Scope {
	cluster := Scope{Reader: reader}
	return v1beta1.PerScope(namespace, []Scope{cluster}, []Scope{{Reader: reader, Namespace: namespace}, cluster})
}

// scopeOfClass is the scope in which req names its class.
func scopeOfClass(reader client.Reader, req *resolve.Request) Scope {
	if req.Namespaced {
		return Scope{Reader: reader, Namespace: req.Namespace}
	}
	return Scope{Reader: reader}
}

// shared reads all from the API server. Concurrent requests share equal reads:
// however many denials are confirmed at once, a query has one read in progress.
func (c *Catalog) shared(ctx context.Context, reads ...read) (Slice, error) {
	once := make([]read, len(reads))
	for i, l := range reads {
		// No namespace holds a slash.
		key := l.at.Namespace + "/" + l.ask.key
		once[i] = read{l.at, query{key, func(s Scope, ctx context.Context) (Slice, error) {
			return c.reads.Do(ctx, key, func(ctx context.Context) (Slice, error) { return l.ask.read(s, ctx) })
		}}}
	}
	return readAll(ctx, once...)
}

// readAll runs the reads concurrently, because most wait for the API server,
// and merges what they find. The caller may change the result.
func readAll(ctx context.Context, reads ...read) (Slice, error) {
	type outcome struct {
		Slice
		err error
	}
	outcomes := make([]chan outcome, 0, len(reads))
	for _, l := range reads {
		done := make(chan outcome, 1)
		outcomes = append(outcomes, done)
		go func() {
			var one outcome
			defer func() { done <- one }()
			defer coalesce.Contain(ctx, &one.err)
			one.Slice, one.err = l.ask.read(l.at, ctx)
		}()
	}
	var all Slice
	for _, done := range outcomes {
		one := <-done
		if one.err != nil {
			return Slice{}, one.err
		}
		all.add(one.Slice)
	}
	return all, nil
}

// readInTurn runs reads of the cache, which do not wait, and merges what they find.
func readInTurn(ctx context.Context, reads ...read) (Slice, error) {
	var all Slice
	for _, one := range reads {
		found, err := one.ask.read(one.at, ctx)
		if err != nil {
			return Slice{}, err
		}
		all.add(found)
	}
	return all, nil
}

// union adds to a the entries of b that it lacks.
func union(a, b Slice) Slice {
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
		if named.Fits(plan.Name, plan.ExternalName, plan.ExternalID) {
			kept = append(kept, plan)
		}
	}
	return kept
}
