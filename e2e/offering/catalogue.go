package offering

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/resolve"
)

// A Catalogue is plans and types by kind and name.
type Catalogue map[string]client.Object

// Put adds an object, or replaces it.
func (s Catalogue) Put(item runtime.Object) error {
	object, ok := item.(client.Object)
	if !ok {
		return fmt.Errorf("%T is no object", item)
	}
	s[KeyOf(object)] = object
	return nil
}

// Entries are the plans, and what is recorded for the types.
func (s Catalogue) Entries() resolve.Catalog {
	var found resolve.Catalog
	for _, object := range s {
		switch o := object.(type) {
		case api.PlanObject:
			found.Plans = append(found.Plans, resolve.PlanFrom(o))
		case api.TypeObject:
			found.Records = append(found.Records, resolve.RecordFrom(o))
		}
	}
	return found
}

// Glance is what they say of a type of the test.
func (s Catalogue) Glance(e *env.Env, serviceType string) Glance {
	var now Glance
	found := s.Entries()
	for _, p := range found.Plans {
		if p.Default && strings.HasSuffix(p.Name, "-"+e.Suffix) {
			now.Annotated = append(now.Annotated, p.Name)
		}
	}
	slices.Sort(now.Annotated)
	for _, r := range found.Records {
		if r.Type == serviceType {
			now.Kept, now.Record, now.Confirmed = true, r.Plan.Name, s.Confirmed(serviceType)
		}
	}
	return now
}

// Confirmed says that the record is confirmed as it is now.
func (s Catalogue) Confirmed(serviceType string) bool {
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

// KeyOf is the key of an object in a Catalogue.
func KeyOf(object client.Object) string {
	return fmt.Sprintf("%T %s", object, object.GetName())
}
