package restore

import (
	"reflect"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// When a field of the old object is kept although the new one lacks it.
type When uint8

const (
	// Always is the restore of a field that admission generates, or whose absence has
	// no meaning.
	Always When = iota
	// UnlessCleared is the restore of a field that old clients do not know; an explicit
	// empty value clears it.
	UnlessCleared
	// OnceDecided is the restore of a field that says what was decided.
	OnceDecided
	// WithClass is OnceDecided, unless the write names the class by another of its names.
	WithClass
	// WithPlan is OnceDecided, unless the write names the plan by another of its names.
	WithPlan
)

// A Field is a row of the restore table (DESIGN.md section 4) of a spec S.
type Field[S any] struct {
	Name string
	When When
	// Value returns the field of a spec, nil when it is absent.
	Value func(*S) any
	// Copy sets the field of the first spec to that of the second.
	Copy func(to, from *S)
}

// Text is a field that holds a text; an empty one is absent.
func Text[S any](name string, when When, field func(*S) *string) Field[S] {
	return Field[S]{
		Name: name, When: when,
		Value: func(s *S) any {
			if value := *field(s); value != "" {
				return value
			}
			return nil
		},
		Copy: func(to, from *S) { *field(to) = *field(from) },
	}
}

// Counter is a field that counts; zero is absent.
func Counter[S any](name string, when When, field func(*S) *int64) Field[S] {
	return Field[S]{
		Name: name, When: when,
		Value: func(s *S) any {
			if value := *field(s); value != 0 {
				return value
			}
			return nil
		},
		Copy: func(to, from *S) { *field(to) = *field(from) },
	}
}

// Object is a field that holds an object.
func Object[S, T any](name string, when When, field func(*S) **T) Field[S] {
	return Field[S]{
		Name: name, When: when,
		Value: func(s *S) any {
			if value := *field(s); value != nil {
				return *value
			}
			return nil
		},
		Copy: func(to, from *S) { *field(to) = *field(from) },
	}
}

// Keep copies from old what a write left out of spec, unless the write drops it, and returns the
// names of the fields that a person may have meant to remove.
func Keep[S any](fields []Field[S], spec, old *S, drops func(*Field[S]) bool) []string {
	var meant []string
	for i := range fields {
		field := &fields[i]
		if field.Value(spec) != nil || field.Value(old) == nil || drops(field) {
			continue
		}
		field.Copy(spec, old)
		if field.When != Always {
			meant = append(meant, "spec."+field.Name)
		}
	}
	return meant
}

// PatchFields adds to the patch each field of a spec that differs from what the
// requester wrote.
func PatchFields[S any](p *review.Patch, fields []Field[S], spec, given *S) {
	for _, field := range fields {
		value, wrote := field.Value(spec), field.Value(given)
		if _, text := wrote.(string); text && value == nil {
			// A patch only adds, and an empty text is absent.
			value = ""
		}
		if value != nil && !reflect.DeepEqual(value, wrote) {
			p.Add(value, "spec", field.Name)
		}
	}
}

// UnlessZero is a value, nil where it is the zero value.
func UnlessZero[T comparable](value T) any {
	var zero T
	if value == zero {
		return nil
	}
	return value
}

// Items is a kept field that is a list; an empty one is absent.
func Items[S, T any](name string, when When, field func(*S) *[]T) Field[S] {
	return Field[S]{
		Name: name, When: when,
		Value: func(s *S) any {
			if all := *field(s); len(all) > 0 {
				return all
			}
			return nil
		},
		Copy: func(to, from *S) { *field(to) = *field(from) },
	}
}

// GuardAnnotations undoes edits of what admission wrote.
func GuardAnnotations(now, old *review.ObjectMeta, annotations map[string]string) {
	for _, key := range []string{v1beta1.AnnotationMintedExternalID, v1beta1.AnnotationAppliedDefaults} {
		if was := old.Annotations[key]; now.Annotations[key] != was {
			annotations[key] = was
		}
	}
}
