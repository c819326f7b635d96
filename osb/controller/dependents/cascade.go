package dependents

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// A cascade is which bindings are deleted with their instance.
type cascade int

const (
	// cascadeNone: they keep it.
	cascadeNone cascade = iota
	// cascadeHere: those of its namespace.
	cascadeHere
	// cascadeEverywhere: those of other namespaces, too. Their users did not
	// request it, so it requires that the instance's namespace is being
	// deleted, which would hang otherwise, or that the instance's sharing says
	// so (whenWithdrawn: Unbind).
	cascadeEverywhere
)

// cascadeOf is which bindings are deleted with an instance whose user requested
// a cascade.
func cascadeOf(instance *v1beta1.ServiceInstance) cascade {
	switch sharing := instance.Spec.Sharing; {
	case instance.Annotations[v1beta1.AnnotationCascade] != "true":
		return cascadeNone
	case sharing != nil && sharing.WhenWithdrawn == v1beta1.WithdrawnUnbind:
		return cascadeEverywhere
	}
	return cascadeHere
}

// takes says whether a binding is deleted.
func (c cascade) takes(b *v1beta1.ServiceBinding) bool {
	if b.Shares() {
		return c == cascadeEverywhere
	}
	return c != cascadeNone
}

// holderName is a binding as the status of its instance calls it.
func holderName(b *v1beta1.ServiceBinding) string {
	if b.Shares() {
		return b.Namespace + "/" + b.Name
	}
	return b.Name
}

// take deletes a binding with its instance. An event tells users of another
// namespace why.
func (h Reader) take(ctx context.Context, b *v1beta1.ServiceBinding) error {
	if err := h.Client.Delete(ctx, b, client.Preconditions{UID: &b.UID}); err != nil {
		if err = client.IgnoreNotFound(err); err != nil {
			err = fmt.Errorf("cannot delete binding %q with its instance: %w", b.Name, err)
		}
		return err
	}
	if h.Events != nil && b.Shares() {
		h.Events.Tell(b, &lifecycle.Event{Warning: true, Reason: reasonTaken, Message: fmt.Sprintf("deleted with its instance %q, which its owner deleted", b.InstanceKey())})
	}
	return nil
}

// reasonTaken is the reason of a binding that is deleted with its instance.
const reasonTaken = "DeletedWithInstance"
