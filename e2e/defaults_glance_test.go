package e2e_test

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
)

// A glance is what the objects of one scope say of a type. They are read one after
// the other: only while nothing moves is it a state that there was.
type glance struct {
	// annotated are the plans of the world that claim to be a default, sorted.
	annotated []string
	// kept says that the type has its object, record is the plan that it names,
	// and confirmed says that this is confirmed.
	kept      bool
	record    string
	confirmed bool
}

// settled says that record and annotation name the same single plan, or both none.
func settled(now glance) bool {
	if len(now.annotated) == 0 {
		return now.record == ""
	}
	return slices.Equal(now.annotated, []string{now.record}) && now.confirmed
}

// glanceAt reads the plans and types of a scope.
func (w *world) glanceAt(s scope, serviceType string) (glance, error) {
	at, now := "", catalogue{}
	if s.namespaced {
		at = w.namespace
	}
	plans, serviceTypes := s.lists()
	for _, list := range []client.ObjectList{plans, serviceTypes} {
		if err := w.client.List(w.Context(), list, client.InNamespace(at)); err != nil {
			return glance{}, err
		}
		if err := meta.EachListItem(list, now.put); err != nil {
			return glance{}, err
		}
	}
	return now.glance(w, serviceType), nil
}

// lists are empty lists of the scope's plans and types.
func (s scope) lists() (plans, serviceTypes client.ObjectList) {
	if s.namespaced {
		return &api.ServicePlanList{}, &api.ServiceTypeList{}
	}
	return &api.ClusterServicePlanList{}, &api.ClusterServiceTypeList{}
}

// A catalogue is plans and types by kind and name.
type catalogue map[string]client.Object

func (s catalogue) put(item runtime.Object) error {
	object, ok := item.(client.Object)
	if !ok {
		return fmt.Errorf("%T is no object", item)
	}
	s[keyOf(object)] = object
	return nil
}

// entries are the plans, and what is recorded for the types.
func (s catalogue) entries() resolve.Catalog {
	var found resolve.Catalog
	for _, object := range s {
		switch o := object.(type) {
		case *api.ClusterServicePlan:
			found.Plans = append(found.Plans, resolve.PlanFrom(o))
		case *api.ServicePlan:
			found.Plans = append(found.Plans, resolve.PlanFrom(o))
		case *api.ClusterServiceType:
			found.Records = append(found.Records, resolve.RecordFrom(o))
		case *api.ServiceType:
			found.Records = append(found.Records, resolve.RecordFrom(o))
		}
	}
	return found
}

// glance is what they say of a type of the world.
func (s catalogue) glance(w *world, serviceType string) glance {
	var now glance
	found := s.entries()
	for _, p := range found.Plans {
		if p.Default && strings.HasSuffix(p.Name, "-"+w.suffix) {
			now.annotated = append(now.annotated, p.Name)
		}
	}
	slices.Sort(now.annotated)
	for _, r := range found.Records {
		if r.Type == serviceType {
			now.kept, now.record, now.confirmed = true, r.Plan.Name, s.confirmed(serviceType)
		}
	}
	return now
}

// confirmed says that the record is confirmed as it is now.
func (s catalogue) confirmed(serviceType string) bool {
	for _, object := range s {
		if object.GetName() != serviceType {
			continue
		}
		switch o := object.(type) {
		case *api.ClusterServiceType:
			return o.Status.Confirmed && o.Status.ObservedGeneration == o.Generation
		case *api.ServiceType:
			return o.Status.Confirmed && o.Status.ObservedGeneration == o.Generation
		}
	}
	return false
}

// tryPatch sends a merge patch that may be refused.
func (w *world) tryPatch(object client.Object, patch string) error {
	return w.client.Patch(w.Context(), object, client.RawPatch(types.MergePatchType, []byte(patch)))
}
