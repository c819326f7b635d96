package simulation

import (
	"cmp"
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/simulation/world"
	"github.com/defaultplan/defaultplan/webhook/keeper/controller"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// A comparison compares a cluster now and then.
type comparison struct {
	report  *Report
	changes []world.Change
	options *options.Options
	// parametersUnknown says that schemas cannot be held against parameters.
	parametersUnknown bool
	now, then         *side
	// every judges all objects, and not only those for which something may be different.
	every bool
}

// compare fills in the report.
func (c *comparison) compare(ctx context.Context) error {
	plans := planEntries{}
	c.now.read(plans)
	c.then.read(plans)
	for _, of := range []func(context.Context) error{c.types, c.instances, c.bindings} {
		if err := of(ctx); err != nil {
			return err
		}
	}
	if len(c.changes) > 0 || c.every {
		limits(c)
	}
	c.report.Costs, c.report.Changed = costsOf(c.now, c.then), c.changed()
	return nil
}

// changed are the objects that others depend on and that are read otherwise then.
func (c *comparison) changed() []Object {
	var all []Object
	for i := range c.changes {
		switch change := &c.changes[i]; change.Kind {
		case kindInstance, kindBinding, "Namespace":
		default:
			if rewritten(change) || unlisted(change) != "" || begins(change) {
				all = append(all, Object{change.Kind, change.Namespace, change.Name})
			}
		}
	}
	return all
}

// rewritten is matters, but for slots, which the keeper writes.
func rewritten(change *world.Change) bool {
	if _, is := change.After.(*v1beta1.ProvisioningPolicy); is && change.Before != nil {
		return !equality.Semantic.DeepEqual(controller.View(change.Before), controller.View(change.After))
	}
	return matters(change)
}

// begins says that the deletion of an object begins.
func begins(change *world.Change) bool {
	return change.After != nil && change.After.GetDeletionTimestamp() != nil && (change.Before == nil || change.Before.GetDeletionTimestamp() == nil)
}

// matters says whether admission may decide otherwise because of a change of an object.
func matters(change *world.Change) bool {
	if change.Before == nil || change.After == nil {
		return true
	}
	if b, is := change.Before.(*v1beta1.ProvisioningPolicy); is {
		a, _ := change.After.(*v1beta1.ProvisioningPolicy)
		return !equality.Semantic.DeepEqual(b.Spec, a.Spec) || !equality.Semantic.DeepEqual(b.Status.Slots, a.Status.Slots)
	}
	if b, is := change.Before.(v1beta1.PlanObject); is {
		a, _ := change.After.(v1beta1.PlanObject)
		if !equality.Semantic.DeepEqual(b.GetSpec().InstanceUpdateParameterSchema, a.GetSpec().InstanceUpdateParameterSchema) {
			return true
		}
	}
	return !equality.Semantic.DeepEqual(controller.View(change.Before), controller.View(change.After))
}

func (r *Report) sort() {
	slices.SortFunc(r.Changed, func(a, b Object) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	slices.SortStableFunc(r.Types, func(a, b Type) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Namespace, b.Namespace))
	})
	slices.SortStableFunc(r.Refusals, func(a, b Refusal) int {
		if a.Change || b.Change { // first, and in their own order
			return cmp.Compare(unless(a.Change), unless(b.Change))
		}
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for _, effects := range [][]Effect{r.Instances, r.Bindings} {
		slices.SortStableFunc(effects, func(a, b Effect) int {
			return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
		})
	}
	slices.SortStableFunc(r.Limits, func(a, b Limit) int {
		return cmp.Or(cmp.Compare(a.Policy, b.Policy), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind))
	})
}

// unless is 0 for true, which sorts first.
func unless(is bool) int {
	if is {
		return 0
	}
	return 1
}
