package webhook

import (
	"cmp"
	"fmt"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/review"
	"github.com/defaultplan/defaultplan/webhook/suggest"
)

// disagreement denies references that do not exist, or that disagree with the
// rest of spec. defined is the plan of now.plan, nil if it does not exist.
func (h *instances) disagreement(spec *v1beta1.ServiceInstanceSpec, now refs, defined *definition) *review.Denial {
	seen := *spec
	if !h.options.Gates.Enabled(ServiceTypes) {
		seen.ServiceType = ""
	}
	denied := disagrees(&seen, now, defined)
	if denied == nil {
		return nil
	}
	return denied.Ways(seeWhatThereIs, suggest.Plans(cmp.Or(now.plan.Namespace, now.class.Namespace)))
}

func disagrees(spec *v1beta1.ServiceInstanceSpec, now refs, defined *definition) *review.Denial {
	names := refNames(&spec.DecidedReference)
	planField, classField := "spec.clusterServicePlanRef", "spec.clusterServiceClassRef"
	if now.plan.Namespace != "" || now.class.Namespace != "" {
		planField, classField = "spec.servicePlanRef", "spec.serviceClassRef"
	}
	switch {
	case names[1] != "" && names[3] != "", names[0] != "" && names[2] != "":
		return review.Invalid("Disagreement", "spec", "it refers to the cluster's catalog and to the namespace's; keep the references of one of them")
	case now.plan.Name == "":
		return review.Invalid("Disagreement", planField, "it must be present beside %s", classField)
	case defined == nil:
		return review.Invalid("Disagreement", planField, "there is no plan %q, or its class is absent", now.plan.Name)
	case now.class.Name == "":
		return review.Invalid("Disagreement", classField, "it must be present beside %s: the plan is of class %q", planField, defined.Class.Name)
	case now.class != defined.Class.Ref:
		return review.Invalid("Disagreement", classField, "plan %q is of class %q, not of %q", now.plan.Name, defined.Class.Name, now.class.Name)
	case defined.brokers() != "":
		return review.Invalid("Disagreement", planField, "plan %s is %s", defined.title(), defined.brokers())
	case !defined.agreesWithType(spec.ServiceType):
		return review.Invalid("Disagreement", "spec.serviceType", "plan %s is of type %q, not of %q", defined.title(), defined.serviceType(), spec.ServiceType)
	}
	return misnamed(&spec.PlanReference, defined)
}

// classChange refuses another class than the decided one.
func classChange(was, now string) *review.Denial {
	return review.Invalid("ClassChange", "spec", "the class cannot change from %q to %q once it is decided", was, now).
		Remedy("create another instance of the other class")
}

// planFixed denies a change from the plan d to another of its class if d is not
// updatable. If d does not say, or does not exist (nil), the class decides.
func (d *definition) planFixed(now *definition) *review.Denial {
	who, updatable := fmt.Sprintf("class %q", cmp.Or(now.Class.ExternalName, now.Class.Name)), now.class.PlanUpdatable
	if d != nil && d.plan.PlanUpdatable != nil {
		who, updatable = "plan "+d.title(), *d.plan.PlanUpdatable
	}
	if updatable {
		return nil
	}
	return review.Invalid("PlanNotUpdatable", "spec", "%s does not allow an instance to change its plan", who).
		Remedy("create another instance with plan %s", now.title())
}

// misnamed denies a name that is not that of the referenced class or plan.
func misnamed(names *v1beta1.PlanReference, defined *definition) *review.Denial {
	req, err := resolve.RequestFor(names, "", "")
	if err != nil {
		// judgeShape reports the contradiction.
		return nil
	}
	prefix := "spec.clusterService"
	if req.Namespaced {
		prefix = "spec.service"
	}
	for _, named := range []struct {
		kind       string
		name       resolve.Named
		namespaced bool
		has        [3]string
	}{
		{"Class", req.Class, defined.Class.Namespace != "", [3]string{defined.Class.Name, defined.Class.ExternalName, defined.Class.ExternalID}},
		{"Plan", req.Plan, defined.Plan.Namespace != "", [3]string{defined.Plan.Name, defined.Plan.ExternalName, defined.Plan.ExternalID}},
	} {
		if named.name.Value == "" {
			continue
		}
		field := prefix + named.kind + [3]string{"Name", "ExternalName", "ExternalID"}[named.name.By]
		if req.Namespaced != named.namespaced || named.has[named.name.By] != named.name.Value {
			return review.Invalid("Disagreement", field, "%q is not what the references lead to: plan %s", named.name.Value, defined.title())
		}
	}
	return nil
}

// unreadableParameters denies parameters that are not an object, or too large;
// err is that of decoding them.
func unreadableParameters(values map[string]any, err error) *review.Denial {
	if err == nil {
		_, err = merge.Layers(merge.Layer{Name: layerUser, Values: values})
	}
	if err != nil {
		return review.Invalid("InvalidParameters", "spec.parameters", "%s", err.Error())
	}
	return nil
}

// wrongSources refuses sources of parameters that name no key of a Secret, and
// the same key twice.
func wrongSources(sources []v1beta1.ParametersFromSource, resource string) *review.Denial {
	var denied *review.Denial
	seen := map[v1beta1.SecretKeyReference]int{}
	for i, source := range sources {
		if denied.Full() {
			break
		}
		field := fmt.Sprintf("spec.parametersFrom[%d].secretKeyRef", i)
		switch ref := source.SecretKeyRef; {
		case ref == nil:
			denied = denied.Also(review.Invalid("InvalidSource", field, "it must name a Secret and a key of it"))
		case ref.Name == "":
			denied = denied.Also(review.Invalid("InvalidSource", field+".name", "it must be the name of a Secret in the instance's namespace"))
		case ref.Key == "":
			denied = denied.Also(review.Invalid("InvalidSource", field+".key", "it must be a key of Secret %q", ref.Name))
		default:
			if first, twice := seen[*ref]; twice {
				denied = denied.Also(review.Invalid("InvalidSource", field, "key %q of Secret %q is source %d already; name it once", ref.Key, ref.Name, first))
				continue
			}
			seen[*ref] = i
		}
	}
	if denied == nil {
		return nil
	}
	return denied.Remedy("kubectl explain %s.spec.parametersFrom", resource)
}
