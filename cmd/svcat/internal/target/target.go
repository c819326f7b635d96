package target

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// Current reads the object of a name in the current namespace, with find, and returns it
// with the client that read it.
func Current[T client.Object](
	ctx context.Context, env *cli.Env, find func(ctx context.Context, reader client.Reader, namespace, name string) (T, error), name string,
) (c client.Client, object T, err error) {
	namespace, _, err := env.Namespace()
	if err != nil {
		return nil, object, err
	}
	c, err = env.Client()
	if err != nil {
		return nil, object, err
	}
	object, err = find(ctx, c, namespace, name)
	return c, object, err
}

// Instance reads an instance; a *catalog.NameError lists those that there are.
func Instance(ctx context.Context, reader client.Reader, namespace, name string) (*v1beta1.ServiceInstance, error) {
	instance := &v1beta1.ServiceInstance{}
	err := read(ctx, reader, namespace, name, instance)
	if absent(err) {
		return nil, unknown(ctx, reader, "instance", &v1beta1.ServiceInstanceList{}, namespace, name)
	}
	return instance, err
}

// Binding is as Instance.
func Binding(ctx context.Context, reader client.Reader, namespace, name string) (*v1beta1.ServiceBinding, error) {
	binding := &v1beta1.ServiceBinding{}
	err := read(ctx, reader, namespace, name, binding)
	if absent(err) {
		return nil, unknown(ctx, reader, "binding", &v1beta1.ServiceBindingList{}, namespace, name)
	}
	return binding, err
}

// errNoName is of a name that no object can have.
var errNoName = errors.New("nothing has such a name")

func read(ctx context.Context, reader client.Reader, namespace, name string, object client.Object) error {
	if len(content.IsPathSegmentName(name)) > 0 {
		return errNoName
	}
	return reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, object)
}

// absent says that nothing has the name, or that nothing can have it.
func absent(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsInvalid(err) || errors.Is(err, errNoName)
}

// unknown is the error of a name that nothing has. A user who may not list is not told
// which names there are.
func unknown(ctx context.Context, reader client.Reader, kind string, list client.ObjectList, namespace, name string) error {
	err := catalog.Unknown(ctx, reader, kind, namespace, name, list)
	if apierrors.IsForbidden(err) {
		return fmt.Errorf("no %s %q in namespace %q", kind, name, namespace)
	}
	return err
}

// Dedicated reads the binding of that name that has an instance of its own; nil where there
// is none.
func Dedicated(ctx context.Context, reader client.Reader, namespace, name string) (*v1beta1.ServiceBinding, error) {
	binding := &v1beta1.ServiceBinding{}
	err := read(ctx, reader, namespace, name, binding)
	if absent(err) || err == nil && !binding.Dedicated() {
		return nil, nil
	}
	return binding, err
}

// BindingsOf are the bindings that refer to an instance, sorted by name, whether or not
// the instance exists, and the one whose own it is.
func BindingsOf(ctx context.Context, reader client.Reader, namespace, instance string) ([]*v1beta1.ServiceBinding, error) {
	var found []*v1beta1.ServiceBinding
	err := catalog.Pages(ctx, reader, &v1beta1.ServiceBindingList{}, func(object runtime.Object) error {
		if binding, ok := object.(*v1beta1.ServiceBinding); ok && IsFor(binding, instance) {
			found = append(found, binding)
		}
		return nil
	}, client.InNamespace(namespace), client.MatchingFields{v1beta1.FieldInstanceRefName: instance})
	if err != nil {
		return nil, err
	}
	of := &v1beta1.ServiceInstance{}
	if read(ctx, reader, namespace, instance, of) == nil {
		owner, err := catalog.OwnerOf(ctx, reader, of)
		if err != nil {
			return nil, err
		}
		if owner != nil {
			found = append(found, owner)
		}
	}
	slices.SortFunc(found, func(a, b *v1beta1.ServiceBinding) int { return strings.Compare(a.Name, b.Name) })
	return found, nil
}

// IsFor says whether a binding is for an instance of its own namespace.
func IsFor(binding *v1beta1.ServiceBinding, instance string) bool {
	if binding.Dedicated() {
		return catalog.InstanceOf(binding).Name == instance
	}
	ref := binding.Spec.InstanceRef
	return ref != nil && ref.Name == instance && cmp.Or(ref.Namespace, binding.Namespace) == binding.Namespace
}

// Names are the names of bindings, with commas.
func Names(bindings []*v1beta1.ServiceBinding) string {
	names := make([]string, len(bindings))
	for i, binding := range bindings {
		names[i] = binding.Name
	}
	return strings.Join(names, ", ")
}
