package schema

import (
	"context"

	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// unchecked is what the API server says where it could not apply rules.
const unchecked = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"

// Validate is all that the API server holds against an object of the kind over an
// old one, nil on a create, in its order: metadata, shape, and then the rules,
// unless the object is not of a shape that they can look at.
func (k *Kind) Validate(ctx context.Context, object, old *unstructured.Unstructured) field.ErrorList {
	errs := metavalidation.ValidateObjectMetaAccessor(object, k.Namespaced, metavalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	var before map[string]any
	if old != nil {
		before = old.Object
	}
	errs = append(errs, k.Shape(object.Object, before)...)
	if blocks(errs) {
		return append(errs, field.Invalid(nil, nil, unchecked))
	}
	return append(errs, k.Rules(ctx, object.Object, before)...)
}

// blocks says that an object is of such a shape that its rules are not looked at.
func blocks(errs field.ErrorList) bool {
	for _, err := range errs {
		switch err.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return true
		default:
		}
	}
	return false
}
