package catalog

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
)

// Choose resolves req from the fast part of the catalog, filtered by see. It
// says whether the answer is already the API server's.
func (c *Catalog) Choose(ctx context.Context, req resolve.Request, see Filter) (choice resolve.Choice, live bool, err error) {
	found, live, err := c.fast(ctx, req)
	if err == nil {
		err = see(ctx, &req, &found, false)
	}
	if err != nil {
		return resolve.Choice{}, live, fmt.Errorf("cannot read the catalog: %w", err)
	}
	choice, err = resolve.Plan(req, found.Catalog)
	if err != nil && (live || isByType(&req)) {
		choice, err = c.refuse(ctx, &req, &found, see, live)
		return choice, live, err
	}
	if live || err != nil || choice.Rule != resolve.RuleOnlyPlan || c.clock.Since(found.newest) > settling {
		return choice, live, err
	}
	choice, err = c.Confirm(ctx, req, see)
	return choice, true, err
}

// refuse resolves req again, which found does not settle, most likely to refuse it. A refusal
// by type names all plans of the type, of which the cache was asked for a few.
func (c *Catalog) refuse(ctx context.Context, req *resolve.Request, found *Slice, see Filter, live bool) (resolve.Choice, error) {
	if !live {
		all, err := readInTurn(ctx, across(scopesOf(c.Cached, req.Namespace), ofType(req.Type))...)
		if err != nil {
			return resolve.Choice{}, fmt.Errorf("cannot read the catalog: %w", err)
		}
		*found = union(*found, all)
	}
	return seen(ctx, req, found, see)
}

// isByType says that only the type is named.
func isByType(req *resolve.Request) bool {
	return req.Type != "" && req.Class.Value == "" && req.Selector == nil
}

// fast returns no more than what is needed to choose. It says whether that is
// the same as the live answer of whole.
func (c *Catalog) fast(ctx context.Context, req resolve.Request) (found Slice, live bool, err error) {
	switch {
	case req.Class.Value != "":
		found, err = c.named(ctx, req)
	case isByType(&req):
		return c.byType(ctx, req)
	case req.Type != "":
		found, err = readAll(ctx, across(scopesOf(c.Cached, req.Namespace), ofType(req.Type), typeRecord(req.Type))...)
	case req.Selector != nil:
		found, err = readAll(ctx, across(scopesOf(c.Cached, req.Namespace), everything())...)
	}
	return found, false, err
}

// named reads from the cache the classes with the name that req gives, and their
// plans: of a named plan only those with that name.
func (c *Catalog) named(ctx context.Context, req resolve.Request) (Slice, error) {
	s := scopeOfClass(c.Cached, &req)
	found, err := s.classesNamed(ctx, req.Class)
	if err != nil {
		return Slice{}, err
	}
	for _, class := range found.Classes {
		read := s.PlansOf
		if req.Plan.Value != "" && req.Plan.By == resolve.ByExternalName {
			read = func(ctx context.Context, class string) (Slice, error) {
				return s.planCalled(ctx, class, req.Plan.Value)
			}
		}
		plans, err := read(ctx, class.Name)
		if err != nil {
			return Slice{}, err
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

// byType chooses from the type's defaults and suggestions in the cache, and by the record of the
// type as the API server has it: one key. So once a default was recorded or switched, every later
// create gets it, and none waits for a consistent list, which can take a tenth of a second.
// The plan of a record that the cache's state leads away from is read live; the type's plans are
// listed live only where a default is annotated and not recorded.
func (c *Catalog) byType(ctx context.Context, req resolve.Request) (found Slice, live bool, err error) {
	if !c.current() {
		found, err = c.liveByType(ctx, req)
		return found, true, err
	}
	if found, err = readInTurn(ctx, across(scopesOf(c.Cached, req.Namespace), annotated(req.Type), typeRecord(req.Type))...); err != nil {
		return Slice{}, false, err
	}
	if found.Records, err = c.liveRecords(ctx, req, &found); err != nil {
		return Slice{}, false, err
	}
	recorded, err := c.recordedPlans(ctx, &found, c.Cached, c.Live)
	if err != nil {
		return Slice{}, false, err
	}
	found = union(found, recorded)
	unrecorded, unfollowed := doubts(req, &found)
	if unfollowed {
		if found, err = c.withRecordedLive(ctx, found); err != nil {
			return Slice{}, false, err
		}
		unrecorded, _ = doubts(req, &found)
	}
	if unrecorded {
		found, err = c.liveByType(ctx, req)
		return found, true, err
	}
	return found, false, nil
}

// liveRecords reads the record of a type live: the cluster's, and that of the namespace where the
// cache has the type there, or a class or a plan of it.
func (c *Catalog) liveRecords(ctx context.Context, req resolve.Request, known *Slice) ([]resolve.Record, error) {
	scopes := scopesOf(c.Live, req.Namespace)
	own := slices.ContainsFunc(known.Classes, func(class resolve.ClassEntry) bool { return class.Namespace == req.Namespace }) ||
		slices.ContainsFunc(known.Plans, func(plan resolve.PlanEntry) bool { return plan.Namespace == req.Namespace }) ||
		slices.ContainsFunc(known.Records, func(r resolve.Record) bool { return r.Plan.Namespace == req.Namespace })
	if !own {
		// Plans that have the type themselves and are not annotated are not among those that are known.
		plans, err := Scope{Reader: c.Cached, Namespace: req.Namespace}.Plans(ctx, client.MatchingFields{v1beta1.FieldServiceType: req.Type})
		if err != nil {
			return nil, err
		}
		own = len(plans) > 0
	}
	if !own {
		scopes = scopes[len(scopes)-1:]
	}
	read, err := c.shared(ctx, across(scopes, typeRecord(req.Type))...)
	return read.Records, err
}

// doubts says why the cache's plans and the live records may not decide a request. The choice is
// unrecorded if it is a default by its annotation only: that may be one of several, or of a default
// that was taken off. A record is unfollowed if it comes before the choice and names another plan:
// the cache may have that plan in an older state. What cannot be chosen is not doubted: it is held
// against the API server before it is refused.
func doubts(req resolve.Request, found *Slice) (unrecorded, unfollowed bool) {
	choice, err := resolve.Plan(req, found.Catalog)
	if err != nil {
		return false, false
	}
	unfollowed = slices.ContainsFunc(found.Records, func(r resolve.Record) bool {
		consulted := r.Plan.Namespace == req.Namespace || choice.Rule != resolve.RuleNamespaceDefault
		return consulted && r.Plan.Name != "" && r.Plan != choice.Plan.Ref
	})
	return isDefault(choice.Rule) && !choice.Recorded, unfollowed
}

// withRecordedLive is found with the plans that its records name, and their classes, as the API
// server has them. A record that is not followed then is of a plan that is gone, or has another type.
func (c *Catalog) withRecordedLive(ctx context.Context, found Slice) (Slice, error) {
	var reads []read
	named := map[resolve.Ref]bool{}
	for _, record := range found.Records {
		if plan := record.Plan; plan.Name != "" && !named[plan] {
			named[plan] = true
			reads = append(reads, read{Scope{Reader: c.Live, Namespace: plan.Namespace}, planNamed(plan.Name)})
		}
	}
	live, err := c.shared(ctx, reads...)
	if err != nil {
		return Slice{}, err
	}
	found.Plans = slices.DeleteFunc(found.Plans, func(plan resolve.PlanEntry) bool { return named[plan.Ref] })
	live.Records, live.newest = found.Records, found.newest
	return union(live, found), nil
}

func isDefault(rule resolve.Rule) bool {
	return rule == resolve.RuleNamespaceDefault || rule == resolve.RuleClusterDefault
}

// recordedPlans finds the plans that the records of found name and that it lacks, with their
// classes: those of the cluster in the first of the readers that has them. The cache does not
// have those of each namespace, so they are read by the last one.
func (c *Catalog) recordedPlans(ctx context.Context, found *Slice, from ...client.Reader) (Slice, error) {
	known := map[resolve.Ref]bool{}
	for _, plan := range found.Plans {
		known[plan.Ref] = true
	}
	var named Slice
	for _, record := range found.Records {
		if known[record.Plan] {
			continue
		}
		one, err := recordedPlan(ctx, record.Plan, from)
		if err != nil {
			return Slice{}, err
		}
		named.add(one)
	}
	return named, nil
}

func recordedPlan(ctx context.Context, plan resolve.Ref, from []client.Reader) (found Slice, err error) {
	if plan.Namespaced() {
		from = from[len(from)-1:]
	}
	for _, reader := range from {
		found, err = Scope{Reader: reader, Namespace: plan.Namespace}.WithPlan(ctx, Slice{}, plan.Name)
		if err != nil || len(found.Plans) > 0 && len(found.Classes) > 0 {
			break
		}
	}
	return found, err
}
