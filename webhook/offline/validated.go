package offline

import (
	"context"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// A lastValidation is the last write that was held against its CRD, with what the CRD says of it.
// The same write is often tried in a cluster and then in a clone, and to validate it is a third of
// its time.
type lastValidation struct {
	object, old *unstructured.Unstructured
	errs        field.ErrorList
}

// errors are what its CRD has against a write.
func (v *lastValidation) errors(ctx context.Context, w *write) field.ErrorList {
	if reflect.DeepEqual(v.old, w.old) && reflect.DeepEqual(v.object, w.object) {
		return v.errs
	}
	errs := w.kind.Validate(ctx, w.object, w.old)
	if ctx.Err() == nil { // otherwise rules may not have been looked at to their end
		// The write's own objects are completed after this, and are the caller's in the end.
		*v = lastValidation{w.object.DeepCopy(), w.old.DeepCopy(), errs}
	}
	return errs
}
