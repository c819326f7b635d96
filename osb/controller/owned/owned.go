// Package owned finds, marks and deletes what a ServiceBinding owns in its
// namespace: its Secret, ConfigMap, Service and EndpointSlices. Objects of
// other owners are never changed.
package owned

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// The kinds of what a binding owns.
var (
	Secret    = corev1.SchemeGroupVersion.WithKind("Secret")
	ConfigMap = corev1.SchemeGroupVersion.WithKind("ConfigMap")
	Service   = corev1.SchemeGroupVersion.WithKind("Service")
)

// A State says who owns the object of a name.
type State int

// Absent: there is no such object. Own: the binding controls it. Foreign: it does not, or the
// object could not be read.
const (
	Absent State = iota
	Own
	Foreign
)

// Objects reads and deletes what bindings own. Each object is read by its name,
// because the controller may not list them.
type Objects struct {
	// Client writes.
	Client client.Client
	// Live reads from the API server, not from a cache.
	Live   client.Reader
	Scheme *runtime.Scheme
}

// Find reads the metadata of an object in a binding's namespace, and says who owns it. The
// object is nil if it is absent.
func (o Objects) Find(ctx context.Context, b *v1beta1.ServiceBinding, kind schema.GroupVersionKind, name string) (client.Object, State, error) {
	found := &metav1.PartialObjectMetadata{}
	found.SetGroupVersionKind(kind)
	err := o.Live.Get(ctx, client.ObjectKey{Namespace: b.Namespace, Name: name}, found)
	switch {
	case apierrors.IsNotFound(err):
		return nil, Absent, nil
	case err != nil:
		return nil, Foreign, fmt.Errorf("cannot read %s %q: %w", kind.Kind, name, err)
	case metav1.IsControlledBy(found, b):
		return found, Own, nil
	}
	return found, Foreign, nil
}

// Remove deletes an object if the binding owns it.
func (o Objects) Remove(ctx context.Context, b *v1beta1.ServiceBinding, kind schema.GroupVersionKind, name string) error {
	found, state, err := o.Find(ctx, b, kind, name)
	if err != nil || state != Own {
		return err
	}
	return o.Delete(ctx, kind.Kind, found)
}

// Delete deletes the object that was read, and no later one of its name. kind
// is for the error.
func (o Objects) Delete(ctx context.Context, kind string, object client.Object) error {
	uid := object.GetUID()
	if err := o.Client.Delete(ctx, object, client.Preconditions{UID: &uid}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("cannot delete %s %q: %w", kind, object.GetName(), err)
	}
	return nil
}

// Adopt makes the binding the controlling owner of an object that is to be created, and
// labels it as the controller's. kind is for the error.
func (o Objects) Adopt(b *v1beta1.ServiceBinding, kind string, object metav1.Object) error {
	Label(object)
	if err := controllerutil.SetControllerReference(b, object, o.Scheme); err != nil {
		return fmt.Errorf("cannot own %s %q: %w", kind, object.GetName(), err)
	}
	return nil
}

// Label marks an object as written by the controller.
func Label(object metav1.Object) {
	labels := object.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[v1beta1.LabelManagedBy] = v1beta1.ManagedByController
	object.SetLabels(labels)
}

// A ForeignError says that an object is not the binding's own.
type ForeignError struct{ Kind, Name string }

func (e ForeignError) Error() string {
	return fmt.Sprintf("the %s %q is not of this binding; it is left as it is", e.Kind, e.Name)
}

// IsForeign says that an error is a ForeignError.
func IsForeign(err error) bool { return errors.As(err, new(ForeignError)) }
