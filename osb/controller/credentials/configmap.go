package credentials

import (
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/owned"
)

// Publishes says that a binding's transforms may publish a key. A spec is final once its
// plan is decided on, so that of one that publishes none there is no ConfigMap.
func Publishes(b *v1beta1.ServiceBinding) bool {
	return slices.ContainsFunc(b.Spec.SecretTransforms, func(t v1beta1.SecretTransform) bool { return t.PublishKey != nil })
}

// publish writes the keys that are not secret to the ConfigMap beside the
// Secret. Without such keys there is no ConfigMap.
func (s Secrets) publish(ctx context.Context, b *v1beta1.ServiceBinding, public map[string][]byte) error {
	if len(public) == 0 {
		if !Publishes(b) {
			return nil
		}
		return s.Remove(ctx, b, owned.ConfigMap, SecretName(b))
	}
	wanted, err := s.configMap(b, public)
	if err != nil {
		return err
	}
	err = s.Client.Create(ctx, wanted.DeepCopy(), client.FieldOwner(v1beta1.FieldOwnerController))
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	var has corev1.ConfigMap
	if err := s.Live.Get(ctx, client.ObjectKeyFromObject(wanted), &has); err != nil {
		return fmt.Errorf("cannot read ConfigMap %q: %w", wanted.Name, err)
	}
	if !metav1.IsControlledBy(&has, b) {
		return owned.ForeignError{Kind: owned.ConfigMap.Kind, Name: has.Name}
	}
	if ptr.Deref(has.Immutable, false) { // a user made it so, and it cannot be undone
		if err := s.Delete(ctx, owned.ConfigMap.Kind, &has); err != nil {
			return err
		}
		return s.Client.Create(ctx, wanted, client.FieldOwner(v1beta1.FieldOwnerController))
	}
	next := has.DeepCopy()
	next.Data, next.BinaryData = wanted.Data, wanted.BinaryData
	owned.Label(&next.ObjectMeta)
	return s.Client.Update(ctx, next, client.FieldOwner(v1beta1.FieldOwnerController))
}

// configMap is the desired ConfigMap of a binding. Values that are not text go
// to its binaryData.
func (s Secrets) configMap(b *v1beta1.ServiceBinding, public map[string][]byte) (*corev1.ConfigMap, error) {
	made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: SecretName(b)}}
	for key, value := range public {
		if !utf8.Valid(value) {
			if made.BinaryData == nil {
				made.BinaryData = map[string][]byte{}
			}
			made.BinaryData[key] = value
			continue
		}
		if made.Data == nil {
			made.Data = map[string]string{}
		}
		made.Data[key] = string(value)
	}
	return made, s.Adopt(b, owned.ConfigMap.Kind, made)
}
