package offering

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// A defaultChange is the effect of one write on defaults: on one plan, or on
// the plans of a class that have no type of their own.
type defaultChange struct {
	req *admission.Request
	// at is the scope, read live.
	at catalog.Scope
	// class is the plans' class as it will be, empty if it is absent.
	class resolve.ClassEntry
	// was and now are the plans' effective type before and after the write.
	was, now string
	plans    []turn
	// field is the field that the write changes.
	field string
}

// A turn is a plan after the write.
type turn struct {
	resolve.PlanEntry

	// annotated says that it is annotated as default already.
	annotated bool
	// fresh says that the write creates it.
	fresh bool
}

// A standing is what is recorded as a type's default.
type standing struct {
	// kept says that the object of the type exists.
	kept bool
	// plan is what the record names, empty for nothing, and believed says that
	// resolve accepts it as the default.
	plan     resolve.Ref
	believed bool
}

// validate denies a second default, and a write that changes defaults without
// permission to decide them.
func (o *oneDefault) validate(ctx context.Context, c *defaultChange) (decided review.Result, err error) {
	if len(c.plans) == 0 {
		return decided, nil
	}
	before, err := stands(ctx, c.at, c.was)
	if err != nil {
		return decided, err
	}
	after := before
	if c.now != c.was {
		if after, err = stands(ctx, c.at, c.now); err != nil {
			return decided, err
		}
	}
	if decided.Denied, err = o.refuse(ctx, c, before, after); err == nil && decided.Denied == nil {
		c.tellMove(ctx, before, after, &decided)
	}
	return decided, err
}

// refuse is validate given the records of the type before and of the type after
// the write.
func (o *oneDefault) refuse(ctx context.Context, c *defaultChange, before, after standing) (denied *review.Denial, err error) {
	deciding := map[string]bool{}
	for i := range c.plans {
		plan := &c.plans[i]
		if c.leaves(plan, before) {
			deciding[c.was] = true
		}
		if !c.enters(plan, after) {
			continue
		}
		if c.decides(plan, after) {
			deciding[c.now] = true
		}
		if denied != nil {
			continue
		}
		if denied, err = c.second(ctx, plan, after); err != nil {
			return nil, err
		}
	}
	return o.withRights(ctx, c, denied, slices.Sorted(maps.Keys(deciding)))
}

// stands reads what is recorded for a type, which may be empty: the type first,
// and then its plan. If record and annotation had agreed, removing the
// annotation invalidates the record, which the keeper is about to clear: the
// next default need not wait for that.
func stands(ctx context.Context, at catalog.Scope, serviceType string) (standing, error) {
	kept, err := at.TypeState(ctx, serviceType)
	if err != nil || !kept.Exists {
		return standing{}, err
	}
	now := standing{kept: true}
	if kept.Record.Plan.Name == "" {
		return now, nil
	}
	found, err := at.WithPlan(ctx, catalog.Slice{Catalog: resolve.Catalog{Records: []resolve.Record{kept.Record}}}, kept.Record.Plan.Name)
	if err != nil {
		return standing{}, err
	}
	choice, err := resolve.Plan(resolve.Request{Namespace: at.Namespace, Type: serviceType}, found.Catalog)
	believed := err == nil && choice.Recorded
	if believed && !choice.Plan.Default && kept.Agreed {
		return now, nil
	}
	now.plan, now.believed = kept.Record.Plan, believed
	return now, nil
}

// leaves says whether the plan is the default of its former type, and will not
// be any more. A plan without a type was at most its class's default.
func (c *defaultChange) leaves(plan *turn, before standing) bool {
	if c.was == "" || (c.was == c.now && (plan.Default || !plan.annotated)) {
		return false
	}
	if before.believed {
		return before.plan == plan.Ref
	}
	return plan.annotated
}

// enters says whether the write makes the plan a default. A plan that returns
// to a type whose record still names it becomes the default without an
// annotation.
func (c *defaultChange) enters(plan *turn, after standing) bool {
	if c.was == c.now {
		return plan.Default && !plan.annotated
	}
	return plan.Default || after.names(plan)
}

// decides says whether the write requires permission to decide the type's
// default. A plan that returns, such as with a class that was deleted and
// listed again, does not: a user with that permission recorded it.
func (c *defaultChange) decides(plan *turn, after standing) bool {
	if c.now == "" {
		return false
	}
	return plan.Default != plan.annotated || !after.names(plan)
}

func (s standing) names(plan *turn) bool { return s.plan.Name != "" && s.plan == plan.Ref }

// withRights adds to denied a denial for each type whose default the requester
// may not decide.
func (o *oneDefault) withRights(ctx context.Context, c *defaultChange, denied *review.Denial, types []string) (*review.Denial, error) {
	for _, serviceType := range types {
		refused, err := o.access.DefaultNotDecidable(ctx, c.req.UserInfo, c.typeRef(serviceType), c.field)
		if err != nil {
			return nil, fmt.Errorf("cannot validate the default of type %q: %w", serviceType, err)
		}
		denied = denied.Also(refused)
	}
	return denied, nil
}
