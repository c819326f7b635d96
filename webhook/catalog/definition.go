package catalog

import (
	"cmp"
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/quota"
	"github.com/defaultplan/defaultplan/webhook/suggest"
)

// A Definition is a plan with its class, as far as admission reads them. The
// specs belong to the cache: they are only read.
type Definition struct {
	Plan  resolve.PlanEntry
	Class resolve.ClassEntry

	PlanSpec  *v1beta1.CommonServicePlanSpec
	ClassSpec *v1beta1.CommonServiceClassSpec

	// PreventsDeletion says that what is decided on the plan is annotated against deletion.
	PreventsDeletion bool
}

// AgreesWithType says that the definition is of the type, or of none.
func (d *Definition) AgreesWithType(serviceType string) bool {
	own := d.Type()
	return serviceType == "" || own == "" || own == serviceType
}

// Brokers says why plan and class are not of the same broker, completing "it is
// …"; empty if they are.
func (d *Definition) Brokers() string { return resolve.Disagreement(&d.Class, &d.Plan) }

// Gone says whether the plan can no longer be chosen: it does not exist (nil),
// or it or its class is removed or being deleted.
func (d *Definition) Gone() bool {
	return d == nil || d.Plan.Gone != "" || d.Class.Gone != ""
}

// Type is the effective type of the plan: its own, or else its class's.
func (d *Definition) Type() string {
	if d.Plan.Type != "" {
		return d.Plan.Type
	}
	return d.Class.Type
}

// Bindable says that the broker lets an instance of the plan be bound to. A class that no
// broker has listed yet does not say.
func (d *Definition) Bindable() bool {
	switch {
	case d.PlanSpec.Bindable != nil:
		return *d.PlanSpec.Bindable
	case d.Class.Broker.Name == "":
		return true
	}
	return d.ClassSpec.Bindable
}

// Title is the definition as people know it: class/plan.
func (d *Definition) Title() string {
	return cmp.Or(d.Class.ExternalName, d.Class.Name) + "/" + cmp.Or(d.Plan.ExternalName, d.Plan.Name)
}

// ToSee is the command that shows the schemas of the plan, and its
// introduction.
func (d *Definition) ToSee() (string, suggest.Ways) {
	return "see what plan " + d.Title() + " takes", suggest.PlanOf(&d.Plan, &d.Class).Show()
}

// Define reads a plan and its class from the cache, or live where the cache lacks
// one of them. It returns nil if there is no such plan, or if its class is absent.
func (c *Catalog) Define(ctx context.Context, plan resolve.Ref) (*Definition, error) {
	found, err := defineFrom(ctx, Scope{Reader: c.Cached, Namespace: plan.Namespace}, plan.Name)
	if err != nil || found != nil {
		return found, err
	}
	return c.DefineLive(ctx, plan)
}

// DefineChoice is define for a plan that was just chosen: the cache is believed
// where it has the very plan and class that the choice was made of, so that a
// choice read live is not filled with what stood there before. It returns nil if
// another plan has taken the name meanwhile, or the plan has gone to another class.
func (c *Catalog) DefineChoice(ctx context.Context, choice *resolve.Choice) (*Definition, error) {
	plan := choice.Plan.Ref
	found, err := defineFrom(ctx, Scope{Reader: c.Cached, Namespace: plan.Namespace}, plan.Name)
	if err != nil || (found.is(choice) && found.asOld(choice)) {
		return found, err
	}
	if found, err = c.DefineLive(ctx, plan); err != nil || !found.is(choice) {
		return nil, err
	}
	return found, nil
}

// is says that the definition is of the chosen plan and class.
func (d *Definition) is(choice *resolve.Choice) bool {
	return d != nil && d.Plan.UID == choice.Plan.UID && d.Class.Ref == choice.Class.Ref
}

// asOld says that plan and class are in the state in which they were chosen.
func (d *Definition) asOld(choice *resolve.Choice) bool {
	return d.Plan.ResourceVersion == choice.Plan.ResourceVersion && d.Class.ResourceVersion == choice.Class.ResourceVersion
}

// DefineLive is define on what the API server has now.
func (c *Catalog) DefineLive(ctx context.Context, plan resolve.Ref) (*Definition, error) {
	return defineFrom(ctx, Scope{Reader: c.Live, Namespace: plan.Namespace}, plan.Name)
}

// InForce reads from the cache the plan of a class that has this ID at its broker. It returns nil if there is none.
func (c *Catalog) InForce(ctx context.Context, class resolve.Ref, externalID string) (*Definition, error) {
	return inForceFrom(ctx, Scope{Reader: c.Cached, Namespace: class.Namespace}, class.Name, externalID)
}

// InForceLive is InForce on what the API server has now.
func (c *Catalog) InForceLive(ctx context.Context, class resolve.Ref, externalID string) (*Definition, error) {
	return inForceFrom(ctx, Scope{Reader: c.Live, Namespace: class.Namespace}, class.Name, externalID)
}

func inForceFrom(ctx context.Context, s Scope, class, externalID string) (*Definition, error) {
	found, err := s.PlansOf(ctx, class)
	if err != nil {
		return nil, err
	}
	plan := resolve.InForce(found.Plans, externalID)
	if plan == nil {
		return nil, nil
	}
	return defineFrom(ctx, s, plan.Name)
}

func defineFrom(ctx context.Context, s Scope, name string) (*Definition, error) {
	plan, class := v1beta1.NewPlan(s.Namespace), v1beta1.NewClass(s.Namespace)
	if found, err := s.Read(ctx, name, plan); err != nil || !found {
		return nil, err
	}
	if found, err := s.Read(ctx, plan.GetClassName(), class); err != nil || !found {
		return nil, err
	}
	return &Definition{
		Plan: PlanEntry(plan), Class: ClassEntry(class), PlanSpec: plan.GetSpec(), ClassSpec: class.GetSpec(),
		PreventsDeletion: preventsDeletion(plan, class),
	}, nil
}

// preventsDeletion reads the annotation of a plan, or else of its class. Another value than "true" and
// "false" is none.
func preventsDeletion(plan, class client.Object) bool {
	for _, o := range []client.Object{plan, class} {
		switch o.GetAnnotations()[v1beta1.AnnotationPreventDeletion] {
		case "true":
			return true
		case "false":
			return false
		}
	}
	return false
}

// AtBroker are the plans that an instance has at its broker, as the API server has them: none where there are more than a
// few that may be it. Each class is read once.
func (c *Catalog) AtBroker(ctx context.Context, sent quota.IDs) ([]*Definition, error) {
	s := Scope{Reader: c.Live, Namespace: sent.Namespace}
	plans, err := s.Plans(ctx, client.MatchingFields{v1beta1.FieldExternalID: sent.Plan})
	if err != nil {
		return nil, err
	}
	plans = sent.Candidates(plans)
	classes := map[string]Slice{}
	var found []*Definition
	for i := range plans {
		class, read := classes[plans[i].Class]
		if !read {
			if class, err = s.Class(ctx, plans[i].Class); err != nil {
				return nil, err
			}
			classes[plans[i].Class] = class
		}
		for _, of := range class.Classes {
			if offer := quota.OfferOf(of, plans[i]); offer.Is(sent) {
				found = append(found, &Definition{Plan: plans[i], Class: of})
			}
		}
	}
	return found, nil
}
