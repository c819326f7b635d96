package moving

import (
	"cmp"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// Title is an object in a sentence, as KIND NAMESPACE/NAME.
func Title(object client.Object) string {
	return KindOf(object) + " " + cli.Qualified(object.GetNamespace(), object.GetName())
}

// What to do about an obstacle.
const (
	finishFirst = "; let the old side finish, then export again"
	repairFirst = "; repair or delete it on the old side, then export again"
)

// state is what instances and bindings say alike of themselves.
type state struct {
	object     client.Object
	operation  string
	async      bool
	mitigating bool
	conditions []v1beta1.Condition
	observed   int64
	id         string
}

// Obstacle is why an object cannot be moved as it was exported, and what to do about it; empty:
// it can. Only what is at rest can be adopted without a call that changes anything.
func Obstacle(object client.Object) string {
	switch o := object.(type) {
	case *v1beta1.ServiceInstance:
		return ofInstance(o)
	case *v1beta1.ServiceBinding:
		return ofBinding(o)
	}
	return ""
}

// Obstacle is why an object of the file cannot be moved: that of the object itself, or another one
// that has its ID. Two of a kind cannot both own what is at the broker.
func (c *Contents) Obstacle(object client.Object) string {
	return cmp.Or(Obstacle(object), c.Shared(object))
}

// Shared says which other object of the file has the ID of one; empty: none.
func (c *Contents) Shared(object client.Object) string {
	for _, holder := range c.holdersOf(object) {
		if holder.GetNamespace() != object.GetNamespace() || holder.GetName() != object.GetName() {
			return SharedWith(holder)
		}
	}
	return ""
}

// SharedWith says what to do about an object that has the ID of another one, which stays where it is.
func SharedWith(holder client.Object) string {
	return Title(holder) + " has the same ID at the broker; let one of the two go on the old side, without a call to the broker, then export again"
}

// holdersOf are the objects of the file that have the ID of one, and are of its kind.
func (c *Contents) holdersOf(object client.Object) []client.Object {
	key := func(o client.Object) string { return KindOf(o) + " " + IDOf(o) }
	if c.holders == nil {
		c.holders = map[string][]client.Object{}
		for _, instance := range c.Instances {
			c.holders[key(instance)] = append(c.holders[key(instance)], instance)
		}
		for _, binding := range c.Bindings {
			c.holders[key(binding)] = append(c.holders[key(binding)], binding)
		}
	}
	if IDOf(object) == "" {
		return nil
	}
	return c.holders[key(object)]
}

func ofInstance(instance *v1beta1.ServiceInstance) string {
	status := &instance.Status
	s := state{
		instance, string(status.CurrentOperation), status.AsyncOpInProgress, status.OrphanMitigationInProgress,
		status.Conditions, max(status.ObservedGeneration, status.ReconciledGeneration), IDOf(instance),
	}
	switch why := s.moving(); {
	case why != "":
		return why
	case dedicated(instance):
		return "it is the own instance of a binding, and admission chooses the ID of such an instance; provision and bind on the new side, then unbind on the old one"
	case !instance.Spec.Decided():
		return "no plan was decided on" + repairFirst
	case status.ProvisionStatus != v1beta1.Provisioned:
		return "it was never provisioned: create it on the new side"
	}
	return s.unready()
}

func ofBinding(binding *v1beta1.ServiceBinding) string {
	status := &binding.Status
	s := state{
		binding, string(status.CurrentOperation), status.AsyncOpInProgress, status.OrphanMitigationInProgress,
		status.Conditions, binding.Generation, IDOf(binding),
	}
	switch why := s.moving(); {
	case why != "":
		return why
	case binding.Dedicated():
		return "it has an instance of its own, whose ID admission chooses; bind on the new side, then unbind on the old one"
	case status.Rotation != nil:
		return "its credentials are being replaced" + finishFirst
	}
	for i, transform := range binding.Spec.SecretTransforms {
		if from := transform.AddKeysFrom; from != nil && from.SecretRef != nil && cmp.Or(from.SecretRef.Namespace, binding.Namespace) != binding.Namespace {
			return fmt.Sprintf("spec.secretTransforms[%d].addKeysFrom names a Secret of namespace %q, which an import would read with your rights; "+
				"copy the Secret into namespace %q and bind on the new side", i, from.SecretRef.Namespace, binding.Namespace)
		}
	}
	return s.unready()
}

// moving is why an object is not at rest.
func (s *state) moving() string {
	failed, _ := v1beta1.FindCondition(s.conditions, v1beta1.ConditionFailed)
	switch {
	case s.object.GetDeletionTimestamp() != nil:
		return "it is being deleted; wait until it is gone"
	case s.mitigating:
		return "what a failed request left at the broker is being removed" + finishFirst
	case s.operation != "":
		return fmt.Sprintf("it is in the middle of an operation (%s)", s.operation) + finishFirst
	case s.async:
		return "its broker works on an operation" + finishFirst
	case failed.Status == v1beta1.ConditionTrue:
		return "it failed: " + failed.Reason + repairFirst
	}
	return ""
}

// unready is why an object that is at rest is not as its spec says.
func (s *state) unready() string {
	ready, _ := v1beta1.FindCondition(s.conditions, v1beta1.ConditionReady)
	switch {
	case s.id == "":
		return "it has no ID at a broker: create it on the new side"
	case ready.Status != v1beta1.ConditionTrue:
		return "it is not Ready: " + cmp.Or(ready.Reason, "nothing was said of it") + repairFirst
	case s.observed < s.object.GetGeneration():
		return "its spec changed, and the change has not reached the broker" + finishFirst
	}
	return ""
}
