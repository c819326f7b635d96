package defaults

import (
	"context"
	"fmt"

	"github.com/defaultplan/defaultplan/webhook/catalog"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

const (
	// labelManagedBy marks the types that the keeper made, which it removes when
	// they are not in use any more; those that someone else made stay.
	labelManagedBy = "app.kubernetes.io/managed-by"
	managedByUs    = "defaultplan"
)

// A typeObject is a ClusterServiceType or a ServiceType; the zero value stands
// for one that does not exist.
type typeObject struct {
	client.Object

	spec   *v1beta1.ServiceTypeSpec
	status *v1beta1.ServiceTypeStatus
}

// newTypeObject is a type that is not stored yet.
func newTypeObject(at client.ObjectKey) typeObject {
	meta := metav1.ObjectMeta{Namespace: at.Namespace, Name: at.Name}
	if at.Namespace != "" {
		return localType(&v1beta1.ServiceType{ObjectMeta: meta})
	}
	return clusterType(&v1beta1.ClusterServiceType{ObjectMeta: meta})
}

func clusterType(t *v1beta1.ClusterServiceType) typeObject { return typeObject{t, &t.Spec, &t.Status} }

func localType(t *v1beta1.ServiceType) typeObject { return typeObject{t, &t.Spec, &t.Status} }

// typeObjectOf is an object of either kind, as an informer gives it.
func typeObjectOf(object any) typeObject {
	switch t := object.(type) {
	case *v1beta1.ClusterServiceType:
		return clusterType(t)
	case *v1beta1.ServiceType:
		return localType(t)
	}
	return typeObject{}
}

// readType reads a type of the scope.
func readType(ctx context.Context, s catalog.Scope, at client.ObjectKey) (typeObject, error) {
	t := newTypeObject(at)
	err := s.Reader.Get(ctx, at, t.Object, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		return typeObject{}, nil
	}
	if err != nil {
		return typeObject{}, fmt.Errorf("cannot get service type %q: %w", at, err)
	}
	return t, nil
}

func (t typeObject) there() bool { return t.Object != nil }

func (t typeObject) ending() bool { return t.there() && t.GetDeletionTimestamp() != nil }

func (t typeObject) ours() bool { return t.there() && t.GetLabels()[labelManagedBy] == managedByUs }

// recorded is the plan that the type names as its default, empty for none.
func (t typeObject) recorded() string {
	if !t.there() || t.ending() || t.spec.DefaultPlanRef == nil {
		return ""
	}
	return t.spec.DefaultPlanRef.Name
}

// confirmed says whether record and annotation agreed in this generation: a
// later write of the record invalidates it.
func (t typeObject) confirmed() bool {
	return t.there() && t.status.Confirmed && t.status.ObservedGeneration == t.GetGeneration()
}

// followed says that a keeper wrote the record, and that nothing changed it since.
func (t typeObject) followed() bool {
	return t.there() && v1beta1.RecordedByKeeper(t.GetManagedFields())
}

// awaiting says that the status leaves the choice to the operator.
func (t typeObject) awaiting() bool {
	if !t.there() {
		return false
	}
	ambiguous, _ := v1beta1.FindCondition(t.status.Conditions, v1beta1.ConditionAmbiguous)
	return ambiguous.Status == v1beta1.ConditionTrue && ambiguous.Reason == reasonAwaitsChoice
}

// copied is a copy that can be changed.
func (t typeObject) copied() typeObject {
	object, _ := t.DeepCopyObject().(client.Object)
	return typeObjectOf(object)
}

// eachType visits the types of the scope.
func eachType(ctx context.Context, s catalog.Scope, visit func(typeObject)) error {
	if s.Namespace != "" {
		return eachLocalType(ctx, s, visit)
	}
	var list v1beta1.ClusterServiceTypeList
	if err := s.Reader.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("cannot list %T: %w", &list, err)
	}
	for i := range list.Items {
		visit(clusterType(&list.Items[i]))
	}
	return nil
}

// eachLocalType visits the types of the scope's namespace, or of all.
func eachLocalType(ctx context.Context, s catalog.Scope, visit func(typeObject)) error {
	var list v1beta1.ServiceTypeList
	if err := s.Reader.List(ctx, &list, client.InNamespace(s.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("cannot list %T: %w", &list, err)
	}
	for i := range list.Items {
		visit(localType(&list.Items[i]))
	}
	return nil
}
