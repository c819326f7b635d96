package offline

import (
	"context"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	definitions "github.com/defaultplan/defaultplan/deploy/schema"
)

// A validated is the last write that was held against its CRD, with what the CRD says of it. The
// same write is often tried in a cluster and then in a clone, and to validate it is a third of its
// time.
type validated struct {
	kind        *definitions.Kind
	object, old *unstructured.Unstructured
	errs        field.ErrorList
}

// errors are what its CRD has against a write.
func (v *validated) errors(ctx context.Context, w *write) field.ErrorList {
	if v.kind != w.kind || !reflect.DeepEqual(v.old, w.old) || !reflect.DeepEqual(v.object, w.object) {
		// Who sent the object may change it afterwards.
		*v = validated{w.kind, w.object.DeepCopy(), w.old, w.kind.Validate(ctx, w.object, w.old)}
	}
	return v.errs
}
