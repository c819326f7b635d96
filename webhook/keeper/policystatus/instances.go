package policystatus

import (
	"context"

	"github.com/defaultplan/defaultplan/webhook/catalog"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/webhook/keeper/controller"
)

// instances counts the decided instances of all namespaces, if a policy is about
// them.
func (s *survey) instances(ctx context.Context) error {
	if len(s.binding) == 0 {
		return nil
	}
	known := map[resolve.Ref]policy.Target{}
	for _, place := range s.places {
		var list v1beta1.ServiceInstanceList
		if err := (catalog.Scope{Reader: s.reader, Namespace: place.Namespace}).List(ctx, &list, nil); err != nil {
			return err
		}
		for i := range list.Items {
			if err := s.instance(ctx, &list.Items[i], known); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *survey) instance(ctx context.Context, instance *v1beta1.ServiceInstance, known map[resolve.Ref]policy.Target) error {
	plan, ok := controller.PlanOf(instance)
	if !ok || instance.DeletionTimestamp != nil {
		return nil
	}
	target, ok := known[plan]
	if !ok {
		var err error
		if target, err = s.target(ctx, plan); err != nil {
			return err
		}
		known[plan] = target
	}
	target.Instance = &policy.Instance{Namespace: instance.Namespace, Name: instance.Name, Labels: instance.Labels}
	for r := range s.selecting(s.binding, target) {
		r.instances.add(instance.Name)
	}
	return nil
}

// target is what rules see of a plan that an instance has. Of one that is gone,
// its name is left.
func (s *survey) target(ctx context.Context, ref resolve.Ref) (policy.Target, error) {
	in := catalog.Scope{Reader: s.reader, Namespace: ref.Namespace}
	plan, err := in.Plan(ctx, ref.Name)
	if err != nil || len(plan) == 0 {
		return policy.Target{Plan: policy.Names{Kubernetes: ref.Name}}, err
	}
	found, err := in.Class(ctx, plan[0].Class)
	if err != nil {
		return policy.Target{}, err
	}
	class := resolve.ClassEntry{Ref: resolve.Ref{Namespace: ref.Namespace, Name: plan[0].Class}}
	if len(found.Classes) > 0 {
		class = found.Classes[0]
	}
	target := policy.TargetOf(class, plan[0])
	return target, catalog.Price(ctx, s.reader, s.rules, &target)
}
