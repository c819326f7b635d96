package catalog

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// InstanceOf is the instance that a binding is for: the one that it names, or its own
// once that was made; empty before.
func InstanceOf(binding *v1beta1.ServiceBinding) types.NamespacedName {
	if !binding.Dedicated() {
		return binding.InstanceKey()
	}
	if made := binding.Status.InstanceRef; made != nil {
		return types.NamespacedName{Namespace: binding.Namespace, Name: made.Name}
	}
	return types.NamespacedName{}
}

// InstanceTitle is that instance in a word: with its namespace where that is another
// than the binding's; empty where there is none yet.
func InstanceTitle(binding *v1beta1.ServiceBinding) string {
	of := InstanceOf(binding)
	if of.Namespace == binding.Namespace {
		return of.Name
	}
	if of.Name == "" {
		return ""
	}
	return of.String()
}

// OwnerOf is the binding whose own an instance is; nil where it is no binding's, or where
// that binding is gone or may not be read.
func OwnerOf(ctx context.Context, reader client.Reader, instance *v1beta1.ServiceInstance) (*v1beta1.ServiceBinding, error) {
	owner, is := instance.DedicatedTo()
	if !is {
		return nil, nil
	}
	binding := &v1beta1.ServiceBinding{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: instance.Namespace, Name: owner.Name}, binding)
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || err == nil && binding.UID != owner.UID {
		return nil, nil
	}
	return binding, err
}
