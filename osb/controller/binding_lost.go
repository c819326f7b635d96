package controller

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/credentials"
	"github.com/defaultplan/defaultplan/osb/controller/owned"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// reasonConfigMapLost is why a binding is not published.
const reasonConfigMapLost = "ConfigMapLost"

// lost says whether the Secret of a bound binding is gone or belongs to another
// object; or its ConfigMap, if the broker returns the credentials again. If it
// does not, a lost ConfigMap is only reported and valid credentials are not put
// at risk: permission to delete a ConfigMap is no permission to revoke
// credentials.
func (s *bindingResource) lost(ctx context.Context, found *inputs) (bool, error) {
	if err := s.findSecret(ctx); err != nil {
		return false, err
	}
	if has, err := s.has(ctx); err != nil || !has || len(s.binding.Status.ConfigMaps) == 0 {
		return err == nil && !has, err
	}
	_, state, err := s.secrets.Find(ctx, s.binding, owned.ConfigMap, credentials.SecretName(s.binding))
	if err != nil {
		return false, err
	}
	found.PartLost = state != owned.Own && found.Fetchable
	s.written.unpublished = new(state != owned.Own && !found.Fetchable)
	return found.PartLost, nil
}

// recovers checks whether the Secret has the credentials of a bind whose
// outcome was not recorded because of a crash, and whether the response had
// facts that only status would hold.
func (s *bindingResource) recovers(ctx context.Context, r *lifecycle.Record, found *inputs) error {
	if r.InProgress == nil || r.Async || r.Mitigating {
		return nil
	}
	if err := s.findSecret(ctx); err != nil {
		return err
	}
	if found.Stored = *s.secret == owned.Own && s.stored(r); !found.Stored {
		return nil
	}
	found.ToldMore = s.holding.ToldInStatus
	if !credentials.Publishes(s.binding) {
		return nil
	}
	_, state, err := s.secrets.Find(ctx, s.binding, owned.ConfigMap, credentials.SecretName(s.binding))
	s.written.published = new(state == owned.Own)
	return err
}

// stored says that the Secret has the credentials of the ID of a record.
func (s *bindingResource) stored(r *lifecycle.Record) bool {
	if r.ID == "" || s.holding.ID != r.ID {
		return false
	}
	s.issued = s.holding.State(s.binding)
	return true
}

// tellUnpublished writes into status whether a ConfigMap is lost that cannot be
// written again.
func (s *bindingResource) tellUnpublished(status *v1beta1.ServiceBindingStatus) {
	w := &s.written
	switch {
	case w.unpublished != nil && *w.unpublished && w.published == nil:
		status.Conditions = v1beta1.SetCondition(status.Conditions, v1beta1.Condition{
			Type: v1beta1.ConditionPublished, Status: v1beta1.ConditionFalse, Reason: reasonConfigMapLost,
			Message: fmt.Sprintf("the ConfigMap %q is gone, or another's, and the broker does not give the credentials again; "+
				"new ones bring it back: raise spec.rotation.requests", credentials.SecretName(s.binding)),
		}, s.binding.Generation, metav1.Time{Time: s.now}.Rfc3339Copy())
	case w.unpublished != nil || w.published != nil:
		if _, has := v1beta1.FindCondition(status.Conditions, v1beta1.ConditionPublished); has {
			status.Conditions = v1beta1.RemoveCondition(status.Conditions, v1beta1.ConditionPublished)
		}
	}
}

// repeats is the desired request. Lost credentials that replaced a predecessor
// are requested by the very request that created them: a broker would treat any
// other as a conflicting one for the same ID.
func (s *bindingResource) repeats(ctx context.Context, r *lifecycle.Record, instance *v1beta1.ServiceInstance, found *inputs) error {
	_, _, took := lifecycle.Repeating(s.binding, lifecycle.Request{})
	if !r.Exists || !took {
		return s.asks(ctx, instance, found)
	}
	if err := s.aims(ctx, instance, found); err != nil {
		return err
	}
	s.redact(ctx)
	s.ask.Request, s.predecessor, _ = lifecycle.Repeating(s.binding, s.ask.Request)
	return nil
}
