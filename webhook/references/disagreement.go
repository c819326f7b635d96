package references

import (
	"cmp"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// Disagrees refuses references that lead nowhere, or to something else than the rest of spec
// says. defined is what now.plan leads to, nil for nothing.
func Disagrees(spec *v1beta1.ServiceInstanceSpec, now Pair, defined *catalog.Definition) *review.Denial {
	names := names(&spec.DecidedReference)
	namespace := cmp.Or(now.Plan.Namespace, now.Class.Namespace)
	planField, classField := Field(namespace, "ServicePlan", "Ref"), Field(namespace, "ServiceClass", "Ref")
	switch {
	case names[1] != "" && names[3] != "", names[0] != "" && names[2] != "":
		return review.Invalid("Disagreement", "spec", "it refers to the cluster's catalog and to the namespace's; keep the references of one of them")
	case now.Plan.Name == "":
		return review.Invalid("Disagreement", planField, "it must be present beside %s", classField)
	case defined == nil:
		return review.Invalid("Disagreement", planField, "there is no plan %q, or its class is absent", now.Plan.Name)
	case now.Class.Name == "":
		return review.Invalid("Disagreement", classField, "it must be present beside %s: the plan is of class %q", planField, defined.Class.Name)
	case now.Class != defined.Class.Ref:
		return review.Invalid("Disagreement", classField, "plan %q is of class %q, not of %q", now.Plan.Name, defined.Class.Name, now.Class.Name)
	case defined.Brokers() != "":
		return review.Invalid("Disagreement", planField, "plan %s is %s", defined.Title(), defined.Brokers())
	case !defined.AgreesWithType(spec.ServiceType):
		return review.Invalid("Disagreement", "spec.serviceType", "plan %s is of type %q, not of %q", defined.Title(), defined.Type(), spec.ServiceType)
	}
	return Misnamed(&spec.PlanReference, defined)
}

// Misnamed refuses a name that is not the name of what the references lead to.
func Misnamed(names *v1beta1.PlanReference, defined *catalog.Definition) *review.Denial {
	req, err := resolve.RequestFor(names, "", "")
	if err != nil {
		// The contradiction is told where the shape is validated.
		return nil
	}
	prefix := "spec.clusterService"
	if req.Namespaced {
		prefix = "spec.service"
	}
	class, plan := &defined.Class, &defined.Plan
	for _, named := range []struct {
		kind string
		name resolve.Named
		ref  resolve.Ref
		has  [3]string
	}{
		{"Class", req.Class, class.Ref, [3]string{class.Name, class.ExternalName, class.ExternalID}},
		{"Plan", req.Plan, plan.Ref, [3]string{plan.Name, plan.ExternalName, plan.ExternalID}},
	} {
		if named.name.Value == "" {
			continue
		}
		by := [3]string{"Name", "ExternalName", "ExternalID"}[named.name.By]
		field := prefix + named.kind + by
		if field != Field(named.ref.Namespace, "Service"+named.kind, by) || named.has[named.name.By] != named.name.Value {
			return review.Invalid("Disagreement", field, "%q is not what the references lead to: plan %s", named.name.Value, defined.Title())
		}
	}
	return nil
}
