package webhook

import (
	"strings"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// When a field of the old object is kept although the new one lacks it.
type keeping uint8

const (
	// keptAlways: admission generated it, or an absent value has no meaning.
	keptAlways keeping = iota
	// keptUnlessCleared: an old client does not know the field; an explicit empty
	// value clears it.
	keptUnlessCleared
	// keptOnceDecided: it says what was decided.
	keptOnceDecided
	// keptWithClass and keptWithPlan: as keptOnceDecided, unless the write names
	// the class or the plan by another of its names.
	keptWithClass
	keptWithPlan
)

// A keptField is a row of the restore table (DESIGN.md section 4) of a spec S.
type keptField[S any] struct {
	name string
	when keeping
	// value returns the field of a spec, nil when it is absent.
	value func(*S) any
	// copy sets the field of the first spec to that of the second.
	copy func(to, from *S)
}

// keptFields is the restore table of instances: what an UPDATE that leaves a field out does
// not change. It is also the table of what a patch may set in spec.
var keptFields = []keptField[v1beta1.ServiceInstanceSpec]{
	text("externalID", keptAlways, func(s *v1beta1.ServiceInstanceSpec) *string { return &s.ExternalID }),
	counter("updateRequests", keptAlways, func(s *v1beta1.ServiceInstanceSpec) *int64 { return &s.UpdateRequests }),

	text("serviceType", keptUnlessCleared, func(s *v1beta1.ServiceInstanceSpec) *string { return &s.ServiceType }),
	object("planSelector", keptUnlessCleared, func(s *v1beta1.ServiceInstanceSpec) **labelSelector { return &s.PlanSelector }),
	object("sharing", keptUnlessCleared, func(s *v1beta1.ServiceInstanceSpec) **v1beta1.Sharing { return &s.Sharing }),

	object("clusterServiceClassRef", keptOnceDecided, func(s *v1beta1.ServiceInstanceSpec) **v1beta1.ClusterObjectReference {
		return &s.ClusterServiceClassRef
	}),
	object("clusterServicePlanRef", keptOnceDecided, func(s *v1beta1.ServiceInstanceSpec) **v1beta1.ClusterObjectReference { return &s.ClusterServicePlanRef }),
	object("serviceClassRef", keptOnceDecided, func(s *v1beta1.ServiceInstanceSpec) **v1beta1.LocalObjectReference { return &s.ServiceClassRef }),
	object("servicePlanRef", keptOnceDecided, func(s *v1beta1.ServiceInstanceSpec) **v1beta1.LocalObjectReference { return &s.ServicePlanRef }),

	text("clusterServiceClassExternalName", keptWithClass, func(s *v1beta1.ServiceInstanceSpec) *string { return &s.ClusterServiceClassExternalName }),
	text("clusterServiceClassExternalID", keptWithClass, func(s *v1beta1.ServiceInstanceSpec) *string { return &s.ClusterServiceClassExternalID }),
	text("clusterServiceClassName", keptWithClass, func(s *v1beta1.ServiceInstanceSpec) *string { return &s.ClusterServiceClassName }),
	text("serviceClassExternalName", keptWithClass, func(s *v1beta1.ServiceInstanceSpec) *string { return &s.ServiceClassExternalName }),
	text("serviceClassExternalID", keptWithClass, func(s *v1beta1.ServiceInstanceSpec) *string { return &s.ServiceClassExternalID }),
	text("serviceClassName", keptWithClass, func(s *v1beta1.ServiceInstanceSpec) *string { return &s.ServiceClassName }),

	text("clusterServicePlanExternalName", keptWithPlan, func(s *v1beta1.ServiceInstanceSpec) *string { return &s.ClusterServicePlanExternalName }),
	text("clusterServicePlanExternalID", keptWithPlan, func(s *v1beta1.ServiceInstanceSpec) *string { return &s.ClusterServicePlanExternalID }),
	text("clusterServicePlanName", keptWithPlan, func(s *v1beta1.ServiceInstanceSpec) *string { return &s.ClusterServicePlanName }),
	text("servicePlanExternalName", keptWithPlan, func(s *v1beta1.ServiceInstanceSpec) *string { return &s.ServicePlanExternalName }),
	text("servicePlanExternalID", keptWithPlan, func(s *v1beta1.ServiceInstanceSpec) *string { return &s.ServicePlanExternalID }),
	text("servicePlanName", keptWithPlan, func(s *v1beta1.ServiceInstanceSpec) *string { return &s.ServicePlanName }),
}

func text[S any](name string, when keeping, field func(*S) *string) keptField[S] {
	return keptField[S]{
		name: name, when: when,
		value: func(s *S) any {
			if value := *field(s); value != "" {
				return value
			}
			return nil
		},
		copy: func(to, from *S) { *field(to) = *field(from) },
	}
}

func counter[S any](name string, when keeping, field func(*S) *int64) keptField[S] {
	return keptField[S]{
		name: name, when: when,
		value: func(s *S) any {
			if value := *field(s); value != 0 {
				return value
			}
			return nil
		},
		copy: func(to, from *S) { *field(to) = *field(from) },
	}
}

func object[S, T any](name string, when keeping, field func(*S) **T) keptField[S] {
	return keptField[S]{
		name: name, when: when,
		value: func(s *S) any {
			if value := *field(s); value != nil {
				return *value
			}
			return nil
		},
		copy: func(to, from *S) { *field(to) = *field(from) },
	}
}

// restore puts back into m.spec what the write left out, and returns the names
// of the restored fields that a person may have meant to remove.
func (m *instanceMutation) restore() []string {
	decided := m.Old.Spec.Decided()
	newClass, newPlan := m.renames(keptWithClass), m.renames(keptWithPlan)
	var told []string
	for _, field := range keptFields {
		switch {
		case field.value(&m.spec) != nil, field.value(m.Old.Spec) == nil:
			continue
		case field.when == keptUnlessCleared && m.Writes(field.name):
			continue
		case field.when >= keptOnceDecided && !decided,
			field.when == keptWithClass && newClass,
			field.when == keptWithPlan && newPlan:
			continue
		}
		field.copy(&m.spec, m.Old.Spec)
		if field.when != keptAlways {
			told = append(told, "spec."+field.name)
		}
	}
	return told
}

// renames says whether the write sets a name of the kind that the old object
// does not have, or changes it.
func (m *instanceMutation) renames(kind keeping) bool {
	for _, field := range keptFields {
		if field.when != kind {
			continue
		}
		if value := field.value(m.New.Spec); value != nil && value != field.value(m.Old.Spec) {
			return true
		}
	}
	return false
}

// patchFields adds to the patch each field of a spec that differs from what the
// requester wrote.
func patchFields[S any](p *review.Patch, fields []keptField[S], spec, given *S) {
	for _, field := range fields {
		value := field.value(spec)
		if value != nil && !sameValue(value, field.value(given)) {
			p.Add(value, "spec", field.name)
		}
	}
}

// list joins names for a sentence.
func list(names []string) string { return strings.Join(names, ", ") }
