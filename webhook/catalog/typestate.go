package catalog

import (
	"context"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
)

// A TypeState is what a type's object says at one time.
type TypeState struct {
	Record resolve.Record
	// Exists says that the type has its object, and agreed that the record and the
	// annotation of its plan have agreed since the record was written: a keeper saw
	// it, or recorded what it saw annotated.
	Exists, Agreed bool
}

// TypeState reads the object of a type.
func (s Scope) TypeState(ctx context.Context, serviceType string) (TypeState, error) {
	kept := v1beta1.NewType(s.Namespace)
	there, err := s.Read(ctx, serviceType, kept)
	return TypeState{resolve.RecordFrom(kept), there, haveAgreed(kept)}, err
}

func haveAgreed(kept v1beta1.TypeObject) bool {
	status := kept.GetStatus()
	return status.Confirmed && status.ObservedGeneration == kept.GetGeneration() || v1beta1.RecordedByKeeper(kept.GetManagedFields())
}
