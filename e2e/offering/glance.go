package offering

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/e2e/env"
)

// A Glance is what the objects of one scope say of a type. They are read one after
// the other: only while nothing moves is it a state that there was.
type Glance struct {
	// Annotated are the plans of the test that claim to be a default, sorted.
	Annotated []string
	// Kept says that the type has its object, Record is the plan that it names,
	// and Confirmed says that this is confirmed.
	Kept      bool
	Record    string
	Confirmed bool
}

// Settled says that record and annotation name the same single plan, or both none.
func Settled(now Glance) bool {
	if len(now.Annotated) == 0 {
		return now.Record == ""
	}
	return slices.Equal(now.Annotated, []string{now.Record}) && now.Confirmed
}

// GlanceAt reads the plans and types of a scope.
func GlanceAt(e *env.Env, s Scope, serviceType string) (Glance, error) {
	at, now := "", Catalogue{}
	if s.Namespaced {
		at = e.Namespace
	}
	plans, serviceTypes := s.Lists()
	for _, list := range []client.ObjectList{plans, serviceTypes} {
		if err := e.Client().List(e.Context(), list, client.InNamespace(at)); err != nil {
			return Glance{}, err
		}
		if err := meta.EachListItem(list, now.Put); err != nil {
			return Glance{}, err
		}
	}
	return now.Glance(e, serviceType), nil
}

// SettleTimeout bounds how long a contest may take to settle: longer than the
// Lease of a keeper that was killed lasts.
const SettleTimeout = time.Minute
