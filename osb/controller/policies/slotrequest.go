package policies

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
	"github.com/defaultplan/defaultplan/resolve/quota"
)

// A SlotRequest is an object that may need slots.
type SlotRequest struct {
	kind   quota.Kind
	object client.Object
	// named are the plans that it is of, as a reader shows them.
	named func(context.Context, client.Reader) ([]quota.Named, error)
}

// InstanceRequest is for an instance as it was read: what the intent was stored for.
func InstanceRequest(instance *v1beta1.ServiceInstance) *SlotRequest {
	return &SlotRequest{kind: quota.Instances, object: instance, named: func(context.Context, client.Reader) ([]quota.Named, error) {
		return quota.OfInstance(instance), nil
	}}
}

// BindingRequest is for a binding, with the plans that its instance has or asks for.
func BindingRequest(binding *v1beta1.ServiceBinding) *SlotRequest {
	return &SlotRequest{kind: quota.Bindings, object: binding, named: func(ctx context.Context, reader client.Reader) ([]quota.Named, error) {
		instance := &v1beta1.ServiceInstance{}
		at := binding.InstanceKey()
		err := reader.Get(ctx, at, instance)
		if apierrors.IsNotFound(err) {
			return quota.OfBinding(binding, nil), nil
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read instance %q: %w", at.Name, err)
		}
		return quota.OfBinding(binding, instance), nil
	}}
}

// NeedsSlot says whether the desired state of an instance needs slots: that of an instance
// that does not exist at its broker yet, and a change of plan. Everything else
// continues regardless of limits.
func NeedsSlot(instance *lifecycle.Resource, desired *lifecycle.Desired) bool {
	return !instance.Record.Exists || instance.Changes(desired).Plan
}

// granted says whether a policy granted the object a slot, as far as is known.
func (n *SlotRequest) granted(g *quota.Granting) bool {
	return slices.Contains(n.kind.Granted(g.Status, n.object.GetNamespace()), n.object.GetUID())
}

// lacks says whether a policy limits the kind and granted the object nothing, as far as is known.
func (n *SlotRequest) lacks(g *quota.Granting) bool {
	return n.kind.Of(g.Rule.Limits) != nil && !n.granted(g)
}
