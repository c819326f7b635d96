package controller

import (
	"context"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// offered reads what the instance is of, as far as it is there.
func (s *bindingSubject) offered(ctx context.Context, thing *lifecycle.Thing, instance *v1beta1.ServiceInstance, found *gathered) error {
	o, _, err := s.catalog.offering(ctx, &instance.Spec.DecidedReference, instance.Namespace)
	if err != nil || o == nil {
		return err
	}
	s.offering = o
	found.Fetchable, found.MaxPolling = o.class.BindingRetrievable, o.maxPolling()
	complete(thing, &o.target)
	completeInstance(thing, instance)
	return nil
}

// completeInstance adds what the retired catalog did not record.
func completeInstance(thing *lifecycle.Thing, instance *v1beta1.ServiceInstance) {
	for _, sent := range []*lifecycle.Sent{thing.Record.Accepted, thing.Record.InProgress} {
		if sent != nil && sent.InstanceID == "" {
			sent.InstanceID = idOf(instance)
		}
	}
}

// idOf is the ID of an instance at its broker.
func idOf(instance *v1beta1.ServiceInstance) string {
	if instance.Status.ExternalID != "" {
		return instance.Status.ExternalID
	}
	return instance.Spec.ExternalID
}
