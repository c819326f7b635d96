package controller

import (
	"context"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// offered reads what the instance is of, as far as it is there.
func (s *bindingResource) offered(ctx context.Context, thing *lifecycle.Resource, instance *v1beta1.ServiceInstance, found *inputs) error {
	o, _, err := s.catalog.OfInstance(ctx, instance)
	if err != nil || o == nil || o.ClassLost && mayBeFetched(thing) {
		return err
	}
	s.offering = o
	found.Fetchable, found.MaxPolling = o.Class.BindingRetrievable, o.MaxPolling()
	complete(thing, &o.Target)
	completeInstance(thing, instance)
	return nil
}

// mayBeFetched says whether the credentials of a binding exist at its broker,
// or are about to. Only its class says whether they can be fetched, and without
// it they would count as lost.
func mayBeFetched(t *lifecycle.Resource) bool {
	r := &t.Record
	return !t.Deleting && (r.Exists || r.FetchRequired || r.Async && r.Operation == lifecycle.Provisioning)
}

// completeInstance adds what the retired catalog did not record.
func completeInstance(thing *lifecycle.Resource, instance *v1beta1.ServiceInstance) {
	for _, sent := range []*lifecycle.Request{thing.Record.Applied, thing.Record.InProgress} {
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
