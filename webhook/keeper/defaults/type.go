package defaults

import (
	"context"

	"github.com/defaultplan/defaultplan/webhook/catalog"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

const (
	// labelManagedBy marks the types that the keeper made, which it removes when
	// they are not in use any more; those that someone else made stay.
	labelManagedBy = "app.kubernetes.io/managed-by"
	managedByUs    = "defaultplan"
)

// A typeObject is a service type of either scope; the zero value stands for one
// that does not exist.
type typeObject struct{ v1beta1.TypeObject }

// newTypeObject is a type that is not stored yet.
func newTypeObject(at client.ObjectKey) typeObject {
	t := v1beta1.NewType(at.Namespace)
	t.SetNamespace(at.Namespace)
	t.SetName(at.Name)
	return typeObject{t}
}

// readType reads a type of the scope.
func readType(ctx context.Context, s catalog.Scope, name string) (typeObject, error) {
	t := v1beta1.NewType(s.Namespace)
	found, err := s.Read(ctx, name, t)
	if !found {
		return typeObject{}, err
	}
	return typeObject{t}, nil
}

func (t typeObject) there() bool { return t.TypeObject != nil }

func (t typeObject) ending() bool { return t.there() && t.GetDeletionTimestamp() != nil }

func (t typeObject) ours() bool { return t.there() && t.GetLabels()[labelManagedBy] == managedByUs }

// recorded is the plan that the type names as its default, empty for none.
func (t typeObject) recorded() string {
	if !t.there() || t.ending() || t.GetSpec().DefaultPlanRef == nil {
		return ""
	}
	return t.GetSpec().DefaultPlanRef.Name
}

// confirmed says whether record and annotation agreed in this generation: a
// later write of the record invalidates it.
func (t typeObject) confirmed() bool {
	return t.there() && t.GetStatus().Confirmed && t.GetStatus().ObservedGeneration == t.GetGeneration()
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
	ambiguous, _ := v1beta1.FindCondition(t.GetStatus().Conditions, v1beta1.ConditionAmbiguous)
	return ambiguous.Status == v1beta1.ConditionTrue && ambiguous.Reason == reasonAwaitsChoice
}

// copied is a copy that can be changed.
func (t typeObject) copied() v1beta1.TypeObject {
	copied, _ := t.DeepCopyObject().(v1beta1.TypeObject)
	return copied
}
