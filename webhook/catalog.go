package webhook

import (
	"context"
	"fmt"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/resolve"
)

// settling is how long a class is taken for young: while its plans may still be
// arriving, "its only plan" is asked of the API server.
const settling = time.Minute

// A catalog finds the part of the catalog that a request can mean. The fast
// answer is the cache's, but for what DESIGN.md section 4 wants fresh; the live
// answer is the API server's.
type catalog struct {
	cached client.Reader
	live   client.Reader
	clock  clock.PassiveClock
	reads  fresh[part]
}

// A part is a piece of the catalog as one shelf gives it.
type part struct {
	resolve.Catalog
	// newest is when the youngest class of the part was created.
	newest time.Time
}

func (p *part) add(others ...part) {
	for _, other := range others {
		p.Classes = append(p.Classes, other.Classes...)
		p.Plans = append(p.Plans, other.Plans...)
		p.Records = append(p.Records, other.Records...)
		if other.newest.After(p.newest) {
			p.newest = other.newest
		}
	}
}

// choose resolves req from the fast part of the catalog, after closed has hidden
// what is not to be seen.
func (c *catalog) choose(ctx context.Context, req resolve.Request, closed func(*part)) (resolve.Choice, error) {
	found, err := c.fast(ctx, req)
	if err != nil {
		return resolve.Choice{}, err
	}
	closed(&found)
	choice, err := resolve.Plan(req, found.Catalog)
	if err != nil || choice.Rule != resolve.RuleOnlyPlan || c.clock.Since(found.newest) > settling {
		return choice, err
	}
	return c.confirm(ctx, req, closed)
}

// confirm resolves req from what the API server has now.
func (c *catalog) confirm(ctx context.Context, req resolve.Request, closed func(*part)) (resolve.Choice, error) {
	found, err := c.whole(ctx, req)
	if err != nil {
		return resolve.Choice{}, err
	}
	closed(&found)
	return resolve.Plan(req, found.Catalog)
}

// fast returns what is needed to choose, and no more.
func (c *catalog) fast(ctx context.Context, req resolve.Request) (part, error) {
	if req.Class.Value == "" && req.Selector == nil && req.Type != "" {
		return c.fastByType(ctx, req)
	}
	return c.gather(ctx, req, c.cached, false)
}

// whole returns everything that req could mean, read live, so that a refusal can
// list it.
func (c *catalog) whole(ctx context.Context, req resolve.Request) (part, error) {
	return c.gather(ctx, req, c.live, true)
}

// gather reads from reader what req can mean. With all, every plan of a named
// class is read, not only the named one.
func (c *catalog) gather(ctx context.Context, req resolve.Request, reader client.Reader, all bool) (part, error) {
	switch {
	case req.Class.Value != "":
		return c.ofNamedClass(ctx, req, reader, all)
	case req.Type != "":
		return c.ofType(ctx, req, reader)
	case req.Selector != nil:
		return gatherFrom(ctx, shelves(reader, req.Namespace), shelf.everything)
	}
	return part{}, nil
}

// ofNamedClass reads the classes with the name that req gives, and their plans.
func (c *catalog) ofNamedClass(ctx context.Context, req resolve.Request, reader client.Reader, all bool) (part, error) {
	s := shelf{reader: reader}
	if req.Namespaced {
		s.namespace = req.Namespace
	}
	found, err := s.classesNamed(ctx, req.Class)
	if err != nil {
		return part{}, err
	}
	for _, class := range found.Classes {
		read := s.plansOf
		if !all && req.Plan.Value != "" && req.Plan.By == resolve.ByExternalName {
			// What is not all is of the cache, which has an index for it.
			read = func(ctx context.Context, class string) (part, error) { return s.planCalled(ctx, class, req.Plan.Value) }
		}
		plans, err := read(ctx, class.Name)
		if err != nil {
			return part{}, err
		}
		if !all && req.Plan.Value != "" {
			plans.Plans = onlyNamed(plans.Plans, req.Plan)
		}
		found.add(plans)
	}
	if req.Plan.Value == "" {
		return s.withRecords(ctx, found)
	}
	if req.Plan.By == resolve.ByName && len(found.Classes) > 0 {
		// The plan may be of another class: then the refusal says of which.
		return s.withPlan(ctx, found, req.Plan.Value)
	}
	return found, nil
}

// ofType reads the plans of a type in the cluster and in the namespace of req,
// and the type's records.
func (c *catalog) ofType(ctx context.Context, req resolve.Request, reader client.Reader) (part, error) {
	return gatherFrom(ctx, shelves(reader, req.Namespace),
		func(s shelf, ctx context.Context) (part, error) { return s.ofType(ctx, req.Type) },
		func(s shelf, ctx context.Context) (part, error) { return s.record(ctx, req.Type) })
}

// fastByType chooses by the type's records, read live, where one names a plan
// that stands; else by the type's plans, listed live.
func (c *catalog) fastByType(ctx context.Context, req resolve.Request) (part, error) {
	records, err := c.shared(ctx, req, "record", func(s shelf, ctx context.Context) (part, error) {
		return s.record(ctx, req.Type)
	})
	if err != nil {
		return part{}, err
	}
	recorded, err := c.recordedPlans(ctx, records)
	if err != nil {
		return part{}, err
	}
	recorded.add(records)
	if c.settledBy(req, recorded) {
		return c.besides(ctx, req, recorded)
	}
	listed, err := c.shared(ctx, req, "type", func(s shelf, ctx context.Context) (part, error) {
		return s.ofType(ctx, req.Type)
	})
	listed.Records = append(listed.Records, records.Records...)
	return listed, err
}

// settledBy says whether a record names a plan that is live and of the type.
func (*catalog) settledBy(req resolve.Request, recorded part) bool {
	choice, err := resolve.Plan(req, recorded.Catalog)
	return err == nil && choice.Recorded
}

// besides adds to the recorded plans what else the cache knows that matters: a
// namespace's own plans, which come before the cluster's, and other plans
// annotated as default, which are worth a warning.
func (c *catalog) besides(ctx context.Context, req resolve.Request, recorded part) (part, error) {
	others, err := gatherFrom(ctx, shelves(c.cached, req.Namespace),
		func(s shelf, ctx context.Context) (part, error) {
			if s.namespace == "" {
				return s.annotated(ctx, req.Type)
			}
			return s.ofType(ctx, req.Type)
		})
	if err != nil {
		return part{}, err
	}
	return union(recorded, others), nil
}

// recordedPlans finds the plans that records name, with their classes: in the
// cache, or live where the cache does not have them yet.
func (c *catalog) recordedPlans(ctx context.Context, records part) (part, error) {
	var found part
	for _, record := range records.Records {
		s := shelf{reader: c.cached, namespace: record.Plan.Namespace}
		one, err := s.withPlan(ctx, part{}, record.Plan.Name)
		if err != nil {
			return part{}, err
		}
		if len(one.Plans) == 0 || len(one.Classes) == 0 {
			s.reader = c.live
			if one, err = s.withPlan(ctx, part{}, record.Plan.Name); err != nil {
				return part{}, err
			}
		}
		found.add(one)
	}
	return found, nil
}

// shared reads from the API server, together with the other requests that ask
// for the same at the same time.
func (c *catalog) shared(ctx context.Context, req resolve.Request, what string, read func(shelf, context.Context) (part, error)) (part, error) {
	return gatherFrom(ctx, shelves(c.live, req.Namespace), func(s shelf, ctx context.Context) (part, error) {
		// No name holds a slash: the key is one of its kind.
		key := what + "/" + s.namespace + "/" + req.Type
		return c.reads.do(ctx, key, func(ctx context.Context) (part, error) { return read(s, ctx) })
	})
}

// shelves are the scopes that a request in namespace can choose from.
func shelves(reader client.Reader, namespace string) []shelf {
	if namespace == "" {
		return []shelf{{reader: reader}}
	}
	return []shelf{{reader: reader, namespace: namespace}, {reader: reader}}
}

// gatherFrom adds up what the reads find on the shelves, each read on its own:
// most of them wait for the API server.
func gatherFrom(ctx context.Context, from []shelf, reads ...func(shelf, context.Context) (part, error)) (part, error) {
	type outcome struct {
		part
		err error
	}
	outcomes := make([]chan outcome, 0, len(from)*len(reads))
	for _, s := range from {
		for _, read := range reads {
			done := make(chan outcome, 1)
			outcomes = append(outcomes, done)
			go func() {
				var one outcome
				defer func() { done <- one }()
				defer contain(ctx, &one.err)
				one.part, one.err = read(s, ctx)
			}()
		}
	}
	var all part
	for _, done := range outcomes {
		one := <-done
		if one.err != nil {
			return part{}, fmt.Errorf("cannot read the catalog: %w", one.err)
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
