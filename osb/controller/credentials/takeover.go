package credentials

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/owned"
)

// Offered says that a user offers a Secret to a binding that is to be adopted: it is no
// object's, and its annotation says that it holds the credentials of the binding's ID. A user
// who may not write the Secret cannot say so, and a binding alone takes over none.
func Offered(secret client.Object, b *v1beta1.ServiceBinding) bool {
	return b.Spec.ExternalID != "" && MetadataOf(secret).ID == b.Spec.ExternalID &&
		len(secret.GetOwnerReferences()) == 0 && secret.GetDeletionTimestamp() == nil
}

// TakeOver makes a binding the owner of the Secret that is offered to it, with what is known
// of the credentials. It changes no data, and no type.
func (s Secrets) TakeOver(ctx context.Context, b *v1beta1.ServiceBinding, of Metadata) error {
	var has corev1.Secret
	at := client.ObjectKey{Namespace: b.Namespace, Name: SecretName(b)}
	if err := s.Live.Get(ctx, at, &has); err != nil {
		return fmt.Errorf("cannot read Secret %q: %w", at.Name, err)
	}
	switch {
	case !Offered(&has, b):
		return owned.ForeignError{Kind: owned.Secret.Kind, Name: at.Name}
	case !isBindingType(has.Type):
		return TypeError{Name: at.Name, Type: has.Type}
	}
	next := has.DeepCopy()
	of.Annotate(next)
	if err := s.Adopt(b, owned.Secret.Kind, next); err != nil {
		return err
	}
	return s.Client.Update(ctx, next, client.FieldOwner(v1beta1.FieldOwnerController))
}

// A TypeError says that a Secret is of a type that no binding's Secret has.
type TypeError struct {
	Name string
	Type corev1.SecretType
}

func (e TypeError) Error() string {
	return fmt.Sprintf("the Secret %q is of type %q, and a binding's is of type Opaque or %s*: create it again with one of these", e.Name, e.Type, secretTypePrefix)
}
