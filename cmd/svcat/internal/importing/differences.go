package importing

import (
	"cmp"
	"reflect"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/moving"
)

// differences are the fields in which an object that is here is not as wanted: names of fields,
// and no values.
func differences(has, wanted client.Object) []string {
	switch w := wanted.(type) {
	case *v1beta1.ServiceInstance:
		h, _ := has.(*v1beta1.ServiceInstance)
		return ofFields([]field{
			{"spec.externalID", moving.IDOf(h) == moving.IDOf(w)},
			{"its class and plan", sameReferences(&h.Spec.DecidedReference, &w.Spec.DecidedReference)},
			{"spec.parameters", sameJSON(h.Spec.Parameters, w.Spec.Parameters)},
			{"spec.parametersFrom", sameList(h.Spec.ParametersFrom, w.Spec.ParametersFrom)},
		})
	case *v1beta1.ServiceBinding:
		h, _ := has.(*v1beta1.ServiceBinding)
		return ofFields([]field{
			{"spec.externalID", moving.IDOf(h) == moving.IDOf(w)},
			{"spec.instanceRef", h.InstanceKey() == w.InstanceKey()},
			{"spec.secretName", moving.SecretOf(h) == moving.SecretOf(w)},
			{"spec.parameters", sameJSON(h.Spec.Parameters, w.Spec.Parameters)},
			{"spec.parametersFrom", sameList(h.Spec.ParametersFrom, w.Spec.ParametersFrom)},
			{"spec.secretTransforms", sameList(h.Spec.SecretTransforms, w.Spec.SecretTransforms)},
		})
	}
	return nil
}

// A field is one that was compared.
type field struct {
	name string
	same bool
}

func ofFields(fields []field) []string {
	var names []string
	for _, f := range fields {
		if !f.same {
			names = append(names, f.name)
		}
	}
	return names
}

func sameReferences(a, b *v1beta1.DecidedReference) bool {
	plan := func(r *v1beta1.DecidedReference) string {
		return cmp.Or(r.ClusterServicePlanRef.GetName(), r.ServicePlanRef.GetName())
	}
	return plan(a) == plan(b)
}

// sameList says whether two lists are equal; absent and empty are.
func sameList[T any](a, b []T) bool { return len(a)+len(b) == 0 || reflect.DeepEqual(a, b) }
