package controller

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
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// publishes says that a binding's transforms may publish a key. A spec is final once its
// plan is decided on, so that of one that publishes none there is no ConfigMap.
func publishes(b *v1beta1.ServiceBinding) bool {
	return slices.ContainsFunc(b.Spec.SecretTransforms, func(t v1beta1.SecretTransform) bool { return t.PublishKey != nil })
}

// publish makes the ConfigMap beside the Secret hold what of the credentials is not secret.
// Where nothing is, there is none.
func (s secrets) publish(ctx context.Context, b *v1beta1.ServiceBinding, public map[string][]byte) error {
	if len(public) == 0 {
		if !publishes(b) {
			return nil
		}
		return s.removeOwn(ctx, b, kindConfigMap, secretName(b))
	}
	wanted, err := s.configMap(b, public)
	if err != nil {
		return err
	}
	err = s.client.Create(ctx, wanted.DeepCopy(), client.FieldOwner(v1beta1.FieldOwnerController))
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	var has corev1.ConfigMap
	if err := s.live.Get(ctx, client.ObjectKeyFromObject(wanted), &has); err != nil {
		return fmt.Errorf("cannot read ConfigMap %q: %w", wanted.Name, err)
	}
	if !metav1.IsControlledBy(&has, b) {
		return foreignError{kind: kindConfigMap.Kind, name: has.Name}
	}
	if ptr.Deref(has.Immutable, false) { // somebody made it so, and it cannot be taken back
		if err := s.delete(ctx, kindConfigMap.Kind, &has); err != nil {
			return err
		}
		return s.client.Create(ctx, wanted, client.FieldOwner(v1beta1.FieldOwnerController))
	}
	next := has.DeepCopy()
	next.Data, next.BinaryData = wanted.Data, wanted.BinaryData
	label(&next.ObjectMeta)
	return s.client.Update(ctx, next, client.FieldOwner(v1beta1.FieldOwnerController))
}

// configMap is the ConfigMap of a binding, with what is to be in it. What is no text goes
// to its binary data.
func (s secrets) configMap(b *v1beta1.ServiceBinding, public map[string][]byte) (*corev1.ConfigMap, error) {
	made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: secretName(b)}}
	label(&made.ObjectMeta)
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
	if err := controllerutil.SetControllerReference(b, made, s.scheme); err != nil {
		return nil, fmt.Errorf("cannot own ConfigMap %q: %w", made.Name, err)
	}
	return made, nil
}

// label marks an object as one that the controller wrote.
func label(meta *metav1.ObjectMeta) {
	if meta.Labels == nil {
		meta.Labels = map[string]string{}
	}
	meta.Labels[v1beta1.LabelManagedBy] = v1beta1.ManagedByController
}
