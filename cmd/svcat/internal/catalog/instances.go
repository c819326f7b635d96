package catalog

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// Instance reads the instance of that name in a namespace. Its error is a
// *NameError where there is none.
func Instance(ctx context.Context, reader client.Reader, namespace, name string) (*v1beta1.ServiceInstance, error) {
	return named(ctx, reader, client.ObjectKey{Namespace: namespace, Name: name}, "instance", &v1beta1.ServiceInstance{}, &v1beta1.ServiceInstanceList{})
}

// Binding is as Instance.
func Binding(ctx context.Context, reader client.Reader, namespace, name string) (*v1beta1.ServiceBinding, error) {
	return named(ctx, reader, client.ObjectKey{Namespace: namespace, Name: name}, "binding", &v1beta1.ServiceBinding{}, &v1beta1.ServiceBindingList{})
}

// named reads an object of a namespace; list is of its kind, to say which there are.
func named[O client.Object](ctx context.Context, reader client.Reader, at client.ObjectKey, kind string, object O, list client.ObjectList) (none O, err error) {
	err = reader.Get(ctx, at, object)
	if !apierrors.IsNotFound(err) {
		return object, err
	}
	return none, Unknown(ctx, reader, kind, at.Namespace, at.Name, list)
}

// Unknown returns the *NameError of a name that no object of a namespace has, or the error
// of listing those that there are.
func Unknown(ctx context.Context, reader client.Reader, kind, namespace, name string, list client.ObjectList) error {
	wanted := NameError{Kind: kind, Name: name, Where: cli.ScopeOf(namespace).String()}
	err := Pages(ctx, reader, list, func(object runtime.Object) error {
		if o, ok := object.(client.Object); ok {
			wanted.Known = append(wanted.Known, o.GetName())
		}
		return nil
	}, client.InNamespace(namespace))
	if err != nil {
		return err
	}
	return wanted.sorted()
}
