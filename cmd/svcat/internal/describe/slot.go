package describe

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/resolve/quota"
)

// reasonSlot is why an object is not ready that waits for a slot of a policy with a limit.
const reasonSlot = "WaitingForSlot"

// A waiter is an object that may wait for a slot.
type waiter struct {
	kind       quota.Kind
	object     client.Object
	conditions []v1beta1.Condition
	// plan is the one that it asks for.
	plan resolve.Ref
}

func waitingInstance(instance *v1beta1.ServiceInstance) *waiter {
	return &waiter{quota.Instances, instance, instance.Status.Conditions, quota.OfInstance(instance)[0].Ref}
}

// waitingBinding is as waitingInstance; instance is nil where none can be read.
func waitingBinding(binding *v1beta1.ServiceBinding, instance *v1beta1.ServiceInstance) *waiter {
	return &waiter{quota.Bindings, binding, binding.Status.Conditions, quota.OfBinding(binding, instance)[0].Ref}
}

// slot is the policy whose slot an object waits for, with how many slots are taken of how
// many. Empty where it waits for none, and where one may not read what it takes to tell.
func (w *waiter) slot(ctx context.Context, reader client.Reader) (string, error) {
	ready, _ := v1beta1.FindCondition(w.conditions, v1beta1.ConditionReady)
	if ready.Reason != reasonSlot {
		return "", nil
	}
	short, err := w.shortage(ctx, reader)
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil || short == nil {
		return "", err
	}
	return fmt.Sprintf("ProvisioningPolicy %q (%d of %s taken)", short.Policy, short.Granted, w.kind.Count(short.Limit)), nil
}

func (w *waiter) shortage(ctx context.Context, reader client.Reader) (*quota.Shortage, error) {
	var policies v1beta1.ProvisioningPolicyList
	if err := reader.List(ctx, &policies); err != nil {
		return nil, err
	}
	var namespace corev1.Namespace
	if err := reader.Get(ctx, client.ObjectKey{Name: w.object.GetNamespace()}, &namespace); err != nil {
		return nil, err
	}
	target, err := w.target(ctx, reader)
	if err != nil {
		return nil, err
	}
	place := policy.Place{Namespace: namespace.Name, Labels: namespace.Labels}
	return w.kind.Short(quota.Grantings(policies.Items), []quota.Use{{Target: target, Stage: quota.Asked}}, place, w.object.GetUID()), nil
}

// target is the plan that is asked for, as policies see it.
func (w *waiter) target(ctx context.Context, reader client.Reader) (policy.Target, error) {
	object := v1beta1.NewPlan(w.plan.Namespace)
	if err := reader.Get(ctx, client.ObjectKey{Namespace: w.plan.Namespace, Name: w.plan.Name}, object); err != nil {
		return policy.Target{}, err
	}
	plan, _ := catalog.PlanOf(object)
	class, err := catalog.ClassOfPlan(ctx, reader, plan)
	if err != nil {
		return policy.Target{}, err
	}
	target := policy.TargetOf(class.ClassEntry(), plan.PlanEntry())
	if target.Original.ExternalID == "" {
		return target, nil
	}
	var originals []resolve.PlanEntry
	query := catalog.Query{Scope: cli.Scope{Cluster: true}, Fields: client.MatchingFields{v1beta1.FieldExternalID: target.Original.ExternalID}}
	err = catalog.Plans(ctx, reader, query, func(plan catalog.Plan) error {
		originals = append(originals, plan.PlanEntry())
		return nil
	})
	return target.PricedBy(originals), err
}
