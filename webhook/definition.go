package webhook

import (
	"cmp"
	"context"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/suggest"
)

// A definition is a plan with its class, as far as admission reads them. The
// specs belong to the cache: they are only read.
type definition struct {
	Plan  resolve.PlanEntry
	Class resolve.ClassEntry

	plan  *v1beta1.CommonServicePlanSpec
	class *v1beta1.CommonServiceClassSpec
}

// agreesWithType says that the definition is of the type, or of none.
func (d *definition) agreesWithType(serviceType string) bool {
	own := d.serviceType()
	return serviceType == "" || own == "" || own == serviceType
}

// brokers says why plan and class are not of the same broker, completing "it is
// …"; empty if they are.
func (d *definition) brokers() string { return resolve.Disagreement(&d.Class, &d.Plan) }

// gone says whether the plan can no longer be chosen: it does not exist (nil),
// or it or its class is removed or being deleted.
func (d *definition) gone() bool {
	return d == nil || d.Plan.Gone != "" || d.Class.Gone != ""
}

func (d *definition) serviceType() string {
	if d.Plan.Type != "" {
		return d.Plan.Type
	}
	return d.Class.Type
}

// title is the definition as people know it: class/plan.
func (d *definition) title() string {
	return cmp.Or(d.Class.ExternalName, d.Class.Name) + "/" + cmp.Or(d.Plan.ExternalName, d.Plan.Name)
}

// toSee is the command that shows the schemas of the plan, and its
// introduction.
func (d *definition) toSee() (string, suggest.Ways) {
	return "see what plan " + d.title() + " takes", suggest.PlanOf(&d.Plan, &d.Class).Show()
}

// define reads a plan and its class from the cache, or live where the cache lacks
// one of them. It returns nil if there is no such plan, or if its class is absent.
func (c *catalog) define(ctx context.Context, plan resolve.Ref) (*definition, error) {
	found, err := defineFrom(ctx, scope{reader: c.cached, namespace: plan.Namespace}, plan.Name)
	if err != nil || found != nil {
		return found, err
	}
	return c.defineLive(ctx, plan)
}

// defineChoice is define for a plan that was just chosen: the cache is believed
// where it has the very plan and class that the choice was made of, so that a
// choice read live is not filled with what stood there before. It returns nil if
// another plan has taken the name meanwhile, or the plan has gone to another class.
func (c *catalog) defineChoice(ctx context.Context, choice *resolve.Choice) (*definition, error) {
	plan := choice.Plan.Ref
	found, err := defineFrom(ctx, scope{reader: c.cached, namespace: plan.Namespace}, plan.Name)
	if err != nil || (found.is(choice) && found.asOld(choice)) {
		return found, err
	}
	if found, err = c.defineLive(ctx, plan); err != nil || !found.is(choice) {
		return nil, err
	}
	return found, nil
}

// is says that the definition is of the chosen plan and class.
func (d *definition) is(choice *resolve.Choice) bool {
	return d != nil && d.Plan.UID == choice.Plan.UID && d.Class.Ref == choice.Class.Ref
}

// asOld says that plan and class are in the state in which they were chosen.
func (d *definition) asOld(choice *resolve.Choice) bool {
	return d.Plan.ResourceVersion == choice.Plan.ResourceVersion && d.Class.ResourceVersion == choice.Class.ResourceVersion
}

// defineLive is define on what the API server has now.
func (c *catalog) defineLive(ctx context.Context, plan resolve.Ref) (*definition, error) {
	return defineFrom(ctx, scope{reader: c.live, namespace: plan.Namespace}, plan.Name)
}

// inForce reads from the cache the plan of a class that has this ID at its broker. It returns nil if there is none.
func (c *catalog) inForce(ctx context.Context, class resolve.Ref, externalID string) (*definition, error) {
	return inForceFrom(ctx, scope{reader: c.cached, namespace: class.Namespace}, class.Name, externalID)
}

// inForceLive is inForce on what the API server has now.
func (c *catalog) inForceLive(ctx context.Context, class resolve.Ref, externalID string) (*definition, error) {
	return inForceFrom(ctx, scope{reader: c.live, namespace: class.Namespace}, class.Name, externalID)
}

func inForceFrom(ctx context.Context, s scope, class, externalID string) (*definition, error) {
	found, err := s.plansOf(ctx, class)
	if err != nil {
		return nil, err
	}
	plan := resolve.InForce(found.Plans, externalID)
	if plan == nil {
		return nil, nil
	}
	return defineFrom(ctx, s, plan.Name)
}

func defineFrom(ctx context.Context, s scope, name string) (*definition, error) {
	if s.namespace == "" {
		plan, class := &v1beta1.ClusterServicePlan{}, &v1beta1.ClusterServiceClass{}
		if found, err := s.read(ctx, name, plan); err != nil || !found {
			return nil, err
		}
		if found, err := s.read(ctx, plan.Spec.ClusterServiceClassRef.Name, class); err != nil || !found {
			return nil, err
		}
		return &definition{
			Plan: planEntry(plan), Class: classEntry(class),
			plan: &plan.Spec.CommonServicePlanSpec, class: &class.Spec.CommonServiceClassSpec,
		}, nil
	}
	plan, class := &v1beta1.ServicePlan{}, &v1beta1.ServiceClass{}
	if found, err := s.read(ctx, name, plan); err != nil || !found {
		return nil, err
	}
	if found, err := s.read(ctx, plan.Spec.ServiceClassRef.Name, class); err != nil || !found {
		return nil, err
	}
	return &definition{
		Plan: planEntry(plan), Class: classEntry(class),
		plan: &plan.Spec.CommonServicePlanSpec, class: &class.Spec.CommonServiceClassSpec,
	}, nil
}
