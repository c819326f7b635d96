package controller

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// reasonConfigMapLost is why a binding is not published.
const reasonConfigMapLost = "ConfigMapLost"

// lost says that the Secret of a binding that is bound is gone, or another's; or the
// ConfigMap beside it, where the broker gives the credentials again. Where it does not, a
// ConfigMap is no reason to venture credentials that are valid: whoever may delete one is
// not thereby allowed to end them. Then it is only told.
func (s *bindingSubject) lost(ctx context.Context, found *gathered) (bool, error) {
	if err := s.findSecret(ctx); err != nil {
		return false, err
	}
	if has, err := s.has(ctx); err != nil || !has || len(s.binding.Status.ConfigMaps) == 0 {
		return err == nil && !has, err
	}
	_, state, err := s.secrets.whose(ctx, s.binding, kindConfigMap, secretName(s.binding))
	if err != nil {
		return false, err
	}
	found.PartLost = state != secretOwned && found.Fetchable
	s.written.unpublished = new(state != secretOwned && !found.Fetchable)
	return found.PartLost, nil
}

// tellUnpublished has status say whether there was a ConfigMap that cannot be written again.
func (s *bindingSubject) tellUnpublished(status *v1beta1.ServiceBindingStatus) {
	w := &s.written
	switch {
	case w.unpublished != nil && *w.unpublished && w.published == nil:
		status.Conditions = v1beta1.SetCondition(status.Conditions, v1beta1.Condition{
			Type: v1beta1.ConditionPublished, Status: v1beta1.ConditionFalse, Reason: reasonConfigMapLost,
			Message: fmt.Sprintf("the ConfigMap %q is gone, or another's, and the broker does not give the credentials again; new ones bring it back: raise spec.rotation.requests", secretName(s.binding)),
		}, s.binding.Generation, metav1.Time{Time: s.now}.Rfc3339Copy())
	case w.unpublished != nil || w.published != nil:
		if _, has := v1beta1.FindCondition(status.Conditions, v1beta1.ConditionPublished); has {
			status.Conditions = v1beta1.RemoveCondition(status.Conditions, v1beta1.ConditionPublished)
		}
	}
}

// repeats is what is asked for. Credentials that took over from a predecessor, and are
// lost, are asked for by the request that they were made by: a broker would take any other
// for one of something else under the same ID.
func (s *bindingSubject) repeats(ctx context.Context, r *lifecycle.Record, instance *v1beta1.ServiceInstance, found *gathered) error {
	_, _, took := lifecycle.Repeating(s.binding, lifecycle.Sent{})
	if !r.Exists || !took {
		return s.asks(ctx, instance, found)
	}
	if err := s.aims(ctx, instance, found); err != nil {
		return err
	}
	s.hide(ctx)
	s.ask.Sent, s.predecessor, _ = lifecycle.Repeating(s.binding, s.ask.Sent)
	return nil
}
