package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/resolve"
)

// Confirm resolves req from what the API server has now.
func (c *Catalog) Confirm(ctx context.Context, req resolve.Request, see Filter) (resolve.Choice, error) {
	found, err := c.whole(ctx, req)
	if err != nil {
		return resolve.Choice{}, fmt.Errorf("cannot read the catalog: %w", err)
	}
	choice, err := seen(ctx, &req, &found, see)
	if refused, is := errors.AsType[*resolve.Error](err); is && refused.IsUnknownType() {
		c.suggestType(ctx, req, refused, see)
	}
	return choice, err
}

// suggestType adds to a refusal the type that was probably meant, if it has a plan that policies
// allow here. What it goes by is the cache's: without it the refusal says less.
func (c *Catalog) suggestType(ctx context.Context, req resolve.Request, refused *resolve.Error, see Filter) {
	req.Type = refused.NearType(c.types(ctx, req.Namespace))
	if req.Type == "" {
		return
	}
	found, err := readInTurn(ctx, across(scopesOf(c.Cached, req.Namespace), ofType(req.Type))...)
	if err != nil || see(ctx, &req, &found, true) != nil {
		return
	}
	if slices.ContainsFunc(found.Plans, func(plan resolve.PlanEntry) bool { return plan.Denied == "" && plan.Gone == "" }) {
		refused.SuggestType(req.Type)
	}
}

// seen resolves req from what was read live, most likely to refuse it.
func seen(ctx context.Context, req *resolve.Request, found *Slice, see Filter) (resolve.Choice, error) {
	if err := see(ctx, req, found, true); err != nil {
		return resolve.Choice{}, fmt.Errorf("cannot read the policies: %w", err)
	}
	return resolve.Plan(*req, found.Catalog)
}

// mostTypes bounds the types of a scope that an unknown one is compared with: a tenant may make as
// many as fit into a namespace, and each refusal would compare all of them.
const mostTypes = 100

// types are those that a request in namespace can ask for, as the cache has them.
func (c *Catalog) types(ctx context.Context, namespace string) []string {
	var names []string
	for _, s := range scopesOf(c.Cached, namespace) {
		objects, err := s.TypeObjects(ctx, client.Limit(mostTypes))
		if err != nil {
			return nil
		}
		for _, object := range objects {
			names = append(names, object.GetName())
		}
	}
	return names
}

// whole reads everything that req could mean live, so that a denial can list
// it.
func (c *Catalog) whole(ctx context.Context, req resolve.Request) (Slice, error) {
	switch {
	case req.Class.Value != "":
		return c.wholeNamed(ctx, req)
	case isByType(&req):
		return c.liveByType(ctx, req)
	case req.Type != "":
		return c.shared(ctx, across(scopesOf(c.Live, req.Namespace), ofType(req.Type), typeRecord(req.Type))...)
	case req.Selector != nil:
		return c.shared(ctx, across(scopesOf(c.Live, req.Namespace), everything())...)
	}
	return Slice{}, nil
}

// wholeNamed reads live the classes with the name that req gives, and all of
// their plans.
func (c *Catalog) wholeNamed(ctx context.Context, req resolve.Request) (Slice, error) {
	s := scopeOfClass(c.Live, &req)
	found, err := c.shared(ctx, read{s, classNamed(req.Class, req.Plan.Value == "")})
	if err != nil || req.Plan.Value == "" {
		return found, err
	}
	return s.withNamed(ctx, found, req.Plan)
}

// liveByType reads the type's plans, and then its records: one may have been written after
// the plans were listed, and before the first of them was annotated, and then it decides.
func (c *Catalog) liveByType(ctx context.Context, req resolve.Request) (Slice, error) {
	scopes := scopesOf(c.Live, req.Namespace)
	found, err := c.shared(ctx, across(scopes, ofType(req.Type))...)
	if err != nil {
		return Slice{}, err
	}
	records, err := c.shared(ctx, across(scopes, typeRecord(req.Type))...)
	if err != nil {
		return Slice{}, err
	}
	found.Records = records.Records
	recorded, err := c.recordedPlans(ctx, &found, c.Live)
	return union(found, recorded), err
}
