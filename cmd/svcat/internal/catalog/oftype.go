package catalog

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/resolve"
)

// AddClusterDefaults adds what the cluster has of the types that namespaces of the catalog only
// have a suggested plan of: a default there comes first. It is for a catalog without
// the cluster's part. Who may not read the cluster's does without.
func AddClusterDefaults(ctx context.Context, reader client.Reader, entries *resolve.Catalog) error {
	var types []string
	for group, choice := range choices(entries) {
		if choice.Rule == resolve.RuleNamespaceSuggested {
			types = append(types, group.Name)
		}
	}
	slices.Sort(types)
	cluster, err := ClusterOfTypes(ctx, reader, slices.Compact(types)...)
	*entries = Joined(entries, &cluster)
	return err
}

// Overruled are those of the types whose suggested plans in namespaces no instance gets: the
// cluster has a default, or two. It reads as AddClusterDefaults does.
func Overruled(ctx context.Context, reader client.Reader, types ...string) (map[string]bool, error) {
	cluster, err := ClusterOfTypes(ctx, reader, types...)
	if err != nil {
		return nil, err
	}
	overruled := map[string]bool{}
	for _, serviceType := range types {
		choice, err := resolve.Plan(resolve.Request{Type: serviceType}, cluster)
		rule := choice.Rule
		if refused, ok := errors.AsType[*resolve.Error](err); ok {
			rule = refused.Rule
		}
		overruled[serviceType] = rule == resolve.RuleClusterDefault
	}
	return overruled, nil
}

// ClusterOfTypes are OfTypes of the cluster, beside those of a namespace: none
// for whom may not read them.
func ClusterOfTypes(ctx context.Context, reader client.Reader, types ...string) (resolve.Catalog, error) {
	entries, err := OfTypes(ctx, reader, "", types...)
	if apierrors.IsForbidden(err) {
		return resolve.Catalog{}, nil
	}
	return entries, err
}

// OfTypes are the plans of a scope (the empty namespace is the cluster) and of
// these types, with their classes and the types' records.
func OfTypes(ctx context.Context, reader client.Reader, namespace string, types ...string) (resolve.Catalog, error) {
	read := typeReader{reader: reader, at: cli.ScopeOf(namespace)}
	for _, serviceType := range types {
		if serviceType == "" {
			continue
		}
		if err := read.ofType(ctx, serviceType); err != nil {
			return resolve.Catalog{}, err
		}
	}
	return read.entries, nil
}

// typeReader collects the plans of one scope that contend for types.
type typeReader struct {
	reader  client.Reader
	at      cli.Scope
	entries resolve.Catalog
	classes map[string]bool
	plans   map[string]bool
}

func (c *typeReader) ofType(ctx context.Context, serviceType string) error {
	query := Query{Scope: c.at, Fields: client.MatchingFields{v1beta1.FieldServiceType: serviceType}}
	var classes []Class
	if err := Classes(ctx, c.reader, query, func(class Class) error {
		classes = append(classes, class)
		return nil
	}); err != nil {
		return err
	}
	for _, class := range classes {
		c.addClass(class)
		if err := Plans(ctx, c.reader, plansOf(class), func(plan Plan) error {
			// Those of another type would be judged without their rivals.
			if plan.Spec.ServiceType == "" || plan.Spec.ServiceType == serviceType {
				c.addPlan(plan)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	if err := c.ofOwnType(ctx, query); err != nil {
		return err
	}
	return Types(ctx, c.reader, Query{Scope: c.at, Fields: client.MatchingFields{"metadata.name": serviceType}}, func(t Type) error {
		c.entries.Records = append(c.entries.Records, t.Record())
		return nil
	})
}

// ofOwnType adds the plans that have the type themselves, with their classes.
func (c *typeReader) ofOwnType(ctx context.Context, query Query) error {
	var plans []Plan
	if err := Plans(ctx, c.reader, query, func(plan Plan) error {
		plans = append(plans, plan)
		c.addPlan(plan)
		return nil
	}); err != nil {
		return err
	}
	for _, plan := range plans {
		if c.classes[plan.ClassName] {
			continue
		}
		class, err := ClassOfPlan(ctx, c.reader, plan)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return err
		}
		c.addClass(class)
	}
	return nil
}

func (c *typeReader) addClass(class Class) {
	if c.classes == nil {
		c.classes = map[string]bool{}
	}
	if name := class.Object.GetName(); !c.classes[name] {
		c.classes[name] = true
		c.entries.Classes = append(c.entries.Classes, class.ClassEntry())
	}
}

func (c *typeReader) addPlan(plan Plan) {
	if c.plans == nil {
		c.plans = map[string]bool{}
	}
	if name := plan.Object.GetName(); !c.plans[name] {
		c.plans[name] = true
		c.entries.Plans = append(c.entries.Plans, plan.PlanEntry())
	}
}
