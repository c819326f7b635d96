package webhook

import (
	"context"
	"fmt"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/resolve"
)

// settling is how long a class counts as new: its plans may still be created,
// so "its only plan" is read live.
const settling = time.Minute

// A catalog reads the part of the catalog that a request can mean. The fast
// answer is the cache's, except for what must be fresh (DESIGN.md section 4);
// the live answer is the API server's.
type catalog struct {
	cached client.Reader
	live   client.Reader
	clock  clock.PassiveClock
	reads  fresh[slice]
}

// A slice is a piece of the catalog as one scope gives it.
type slice struct {
	resolve.Catalog
	// newest is when the youngest class of the slice was created.
	newest time.Time
}

func (p *slice) add(others ...slice) {
	for _, other := range others {
		p.Classes = append(p.Classes, other.Classes...)
		p.Plans = append(p.Plans, other.Plans...)
		p.Records = append(p.Records, other.Records...)
		if other.newest.After(p.newest) {
			p.newest = other.newest
		}
	}
}

// choose resolves req from the fast part of the catalog, filtered by see. It
// says whether the answer is already the API server's.
func (c *catalog) choose(ctx context.Context, req resolve.Request, see filter) (choice resolve.Choice, live bool, err error) {
	found, live, err := c.fast(ctx, req)
	if err == nil {
		err = see(ctx, &req, &found, false)
	}
	if err != nil {
		return resolve.Choice{}, live, fmt.Errorf("cannot read the catalog: %w", err)
	}
	choice, err = resolve.Plan(req, found.Catalog)
	if live && err != nil {
		choice, err = seen(ctx, &req, &found, see)
		return choice, true, err
	}
	if live || err != nil || choice.Rule != resolve.RuleOnlyPlan || c.clock.Since(found.newest) > settling {
		return choice, live, err
	}
	choice, err = c.confirm(ctx, req, see)
	return choice, true, err
}

// confirm resolves req from what the API server has now.
func (c *catalog) confirm(ctx context.Context, req resolve.Request, see filter) (resolve.Choice, error) {
	found, err := c.whole(ctx, req)
	if err != nil {
		return resolve.Choice{}, fmt.Errorf("cannot read the catalog: %w", err)
	}
	return seen(ctx, &req, &found, see)
}

// seen resolves req from what was read live, most likely to refuse it.
func seen(ctx context.Context, req *resolve.Request, found *slice, see filter) (resolve.Choice, error) {
	if err := see(ctx, req, found, true); err != nil {
		return resolve.Choice{}, fmt.Errorf("cannot read the policies: %w", err)
	}
	return resolve.Plan(*req, found.Catalog)
}

// fast returns no more than what is needed to choose. It says whether that is
// the same as the live answer of whole.
func (c *catalog) fast(ctx context.Context, req resolve.Request) (found slice, live bool, err error) {
	switch {
	case req.Class.Value != "":
		found, err = c.named(ctx, req)
	case req.Type != "" && req.Selector == nil:
		return c.byType(ctx, req)
	case req.Type != "":
		found, err = readAll(ctx, across(scopesOf(c.cached, req.Namespace), ofType(req.Type), typeRecord(req.Type))...)
	case req.Selector != nil:
		found, err = readAll(ctx, across(scopesOf(c.cached, req.Namespace), everything())...)
	}
	return found, false, err
}

// whole reads everything that req could mean live, so that a denial can list
// it.
func (c *catalog) whole(ctx context.Context, req resolve.Request) (slice, error) {
	switch {
	case req.Class.Value != "":
		return c.wholeNamed(ctx, req)
	case req.Type != "":
		return c.shared(ctx, across(scopesOf(c.live, req.Namespace), ofType(req.Type), typeRecord(req.Type))...)
	case req.Selector != nil:
		return c.shared(ctx, across(scopesOf(c.live, req.Namespace), everything())...)
	}
	return slice{}, nil
}

// named reads from the cache the classes with the name that req gives, and their
// plans: of a named plan only those with that name.
func (c *catalog) named(ctx context.Context, req resolve.Request) (slice, error) {
	s := scopeOfClass(c.cached, &req)
	found, err := s.classesNamed(ctx, req.Class)
	if err != nil {
		return slice{}, err
	}
	for _, class := range found.Classes {
		read := s.plansOf
		if req.Plan.Value != "" && req.Plan.By == resolve.ByExternalName {
			read = func(ctx context.Context, class string) (slice, error) {
				return s.planCalled(ctx, class, req.Plan.Value)
			}
		}
		plans, err := read(ctx, class.Name)
		if err != nil {
			return slice{}, err
		}
		if req.Plan.Value != "" {
			plans.Plans = onlyNamed(plans.Plans, req.Plan)
		}
		found.add(plans)
	}
	if req.Plan.Value == "" {
		return s.withRecords(ctx, found)
	}
	return s.withNamed(ctx, found, req.Plan)
}

// wholeNamed reads live the classes with the name that req gives, and all of
// their plans.
func (c *catalog) wholeNamed(ctx context.Context, req resolve.Request) (slice, error) {
	s := scopeOfClass(c.live, &req)
	found, err := c.shared(ctx, read{s, classNamed(req.Class, req.Plan.Value == "")})
	if err != nil || req.Plan.Value == "" {
		return found, err
	}
	return s.withNamed(ctx, found, req.Plan)
}

// byType chooses by the type's records, read live, if one of them decides;
// otherwise by the type's plans, all listed live, and the records at that time.
// With a record it waits for no list: a record is a single key, while a
// consistent list waits for etcd's progress notification, up to a tenth of a
// second.
func (c *catalog) byType(ctx context.Context, req resolve.Request) (found slice, live bool, err error) {
	scopes := scopesOf(c.live, req.Namespace)
	if found, err = c.shared(ctx, across(scopes, typeRecord(req.Type))...); err != nil {
		return slice{}, false, err
	}
	recorded, err := c.recordedPlans(ctx, &found)
	if err != nil {
		return slice{}, false, err
	}
	if settled := union(found, recorded); settles(req, &settled) {
		others, err := readAll(ctx, across(scopesOf(c.cached, req.Namespace), alternatives(req.Type))...)
		return union(settled, others), false, err
	}
	listed, err := c.shared(ctx, across(scopes, ofType(req.Type))...)
	if err != nil {
		return slice{}, false, err
	}
	// A record may have been written after it was read, and before the first of
	// these plans was annotated: it decides.
	if found, err = c.shared(ctx, across(scopes, typeRecord(req.Type))...); err != nil {
		return slice{}, false, err
	}
	found.add(listed)
	recorded, err = c.recordedPlans(ctx, &found)
	return union(found, recorded), true, err
}

// settles says that a record names the plan.
func settles(req resolve.Request, found *slice) bool {
	choice, err := resolve.Plan(req, found.Catalog)
	return err == nil && choice.Recorded
}

// recordedPlans finds the plans that the records of found name and that it lacks,
// with their classes: those of the cluster in the cache, or live where the cache
// does not have them yet.
func (c *catalog) recordedPlans(ctx context.Context, found *slice) (slice, error) {
	known := map[resolve.Ref]bool{}
	for _, plan := range found.Plans {
		known[plan.Ref] = true
	}
	var named slice
	for _, record := range found.Records {
		if known[record.Plan] {
			continue
		}
		one, err := c.recordedPlan(ctx, record.Plan)
		if err != nil {
			return slice{}, err
		}
		named.add(one)
	}
	return named, nil
}

func (c *catalog) recordedPlan(ctx context.Context, plan resolve.Ref) (slice, error) {
	if plan.Namespace == "" {
		found, err := scope{reader: c.cached}.withPlan(ctx, slice{}, plan.Name)
		if err != nil || (len(found.Plans) > 0 && len(found.Classes) > 0) {
			return found, err
		}
	}
	return scope{reader: c.live, namespace: plan.Namespace}.withPlan(ctx, slice{}, plan.Name)
}
