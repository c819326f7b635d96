package importing

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/moving"
)

// A bindingStep adopts the bindings of the file.
type bindingStep struct {
	*side

	contents  *moving.Contents
	instances map[types.NamespacedName]movedInstance
}

// moveBindings adopts the bindings of the file, each after its instance.
func moveBindings(ctx context.Context, s *side, contents *moving.Contents, instances map[types.NamespacedName]movedInstance) {
	step := &bindingStep{s, contents, instances}
	outcomes := make([]*outcome, 0, len(contents.Bindings))
	for _, exported := range contents.Bindings {
		o := &outcome{exported: exported}
		o.attempt(ctx, func() error { return step.one(ctx, exported, o) })
		outcomes = append(outcomes, o)
	}
	s.settle(ctx, outcomes)
}

func (b *bindingStep) one(ctx context.Context, exported *v1beta1.ServiceBinding, o *outcome) error {
	if why := b.contents.Obstacle(exported); why != "" {
		o.endf(moving.NotMoved, "%s", why)
		return nil
	}
	instance, is := b.instances[exported.InstanceKey()]
	switch {
	case b.collides(exported, o):
		return nil
	case !is:
		o.endf(moving.NotMoved, "its instance %s is not in the file: export it, too", exported.InstanceKey())
		return nil
	case instance.result == moving.WouldMove:
		o.endf(moving.WouldMove, "not tried: its instance is not here yet")
		return nil
	case !instance.arrived():
		o.endf(moving.NotMoved, "its instance %s was not moved", exported.InstanceKey())
		return nil
	}
	wanted := b.wanted(exported, instance.offer)
	if done, err := b.already(ctx, wanted, o); done || err != nil {
		return err
	}
	why, err := b.secrets(ctx, exported, instance.offer.class.Spec.BindingRetrievable)
	if err != nil || why != "" {
		o.endf(moving.NotMoved, "%s", why)
		return err
	}
	b.tellAddresses(exported, instance.offer.class.Object)
	return b.adopt(ctx, wanted, o)
}

// tellAddresses says of a binding that its Service may lead to addresses that are not the word of the
// cluster's operators: the controller asks whether its user may create EndpointSlices, and that is who
// imports it, no more who made it.
func (b *bindingStep) tellAddresses(exported *v1beta1.ServiceBinding, class v1beta1.ClassObject) {
	if len(exported.Spec.EndpointsFrom) > 0 || class.GetBroker().ServiceBrokerName != "" {
		b.report.Add(exported, b.names, moving.Note, "it is imported in your name: if the controller makes Services of bindings (--endpoints), "+
			"the addresses that its broker and credentials give are taken by your right to create EndpointSlices")
	}
}

// secrets makes the Secrets be here that the binding needs, and returns why one is not. The one of
// its credentials has to be here first where the broker does not give them again.
func (b *bindingStep) secrets(ctx context.Context, exported *v1beta1.ServiceBinding, retrievable bool) (string, error) {
	for key := range moving.ParameterSecrets(exported.Spec.ParametersFrom, exported.Namespace) {
		if why, err := b.need(ctx, b.contents.Secret(key), b.names.Key(key)); err != nil || why != "" {
			return why, err
		}
	}
	for _, key := range moving.TransformSecrets(exported) {
		if why, err := b.need(ctx, b.contents.Secret(key), b.names.Key(key)); err != nil || why != "" {
			return why, err
		}
	}
	if retrievable {
		return "", nil
	}
	old := moving.SecretOf(exported)
	key := b.names.Key(old)
	carried := b.contents.Secret(old)
	if carried != nil {
		secret := placed(carried, key)
		secret.Annotations = moving.StripSecret(carried, nil).Annotations
		if secret.Annotations == nil {
			secret.Annotations = map[string]string{}
		}
		secret.Annotations[v1beta1.AnnotationCredentialsOf] = moving.IDOf(exported)
		return b.store(ctx, secret)
	}
	there, err := b.there(ctx, key)
	if err != nil || there {
		return "", err // the controller says whether it can be taken over
	}
	return fmt.Sprintf("its credentials are neither in the file nor here, and its broker does not give them again: export with --with-secrets, or create Secret %s with them and the annotation %s=%s",
		key, v1beta1.AnnotationCredentialsOf, moving.IDOf(exported)), nil
}

// wanted is the binding as it is to be here. It has the references of its instance, by which
// admission takes it as decided: then no default is merged into it.
func (b *bindingStep) wanted(exported *v1beta1.ServiceBinding, found offer) *v1beta1.ServiceBinding {
	wanted := exported.DeepCopy()
	place, instance := b.names.Place(exported), b.names.Instance(exported.InstanceKey())
	bare(wanted, place)
	wanted.Status = v1beta1.ServiceBindingStatus{}
	spec := &wanted.Spec
	spec.UserInfo, spec.ExternalID, spec.SecretName = nil, moving.IDOf(exported), moving.SecretOf(exported).Name
	spec.DecidedReference = found.references()
	spec.InstanceRef = &v1beta1.InstanceReference{Name: instance.Name}
	if instance.Namespace != place.Namespace {
		spec.InstanceRef.Namespace = instance.Namespace
	}
	for i := range spec.SecretTransforms {
		if from := spec.SecretTransforms[i].AddKeysFrom; from != nil && from.SecretRef != nil && len(from.SecretRef.Namespace) > 0 {
			from.SecretRef.Namespace = b.names.New(from.SecretRef.Namespace)
		}
	}
	return wanted
}
