package offering

import (
	"cmp"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/decision"
	"github.com/defaultplan/defaultplan/webhook/review"
	"github.com/defaultplan/defaultplan/webhook/suggest"
)

// The fields that make a plan a default.
const (
	annotationField = "metadata.annotations[" + v1beta1.AnnotationDefaultPlan + "]"
	typeField       = "spec.serviceType"
)

// refuseSecond denies a second default of a type: it names the first, and says
// how to switch.
func (c *defaultChange) refuseSecond(plan *turn, after standing, held holding) *review.Denial {
	where, holder := resolve.InScope(c.at.Namespace), held.by[len(held.by)-1]
	named := fmt.Sprintf("%s/%s (%s)", holder.ClassName, holder.PlanName, suggest.ObjectNamed("ServicePlan", holder.Plan))
	var denied *review.Denial
	switch {
	case len(held.by) > 1:
		denied = review.Forbidden("AnnotatedDefaults", c.field, "%d plans are annotated as the default of type %q %s, and none is recorded:%s",
			len(held.by), c.now, where, planLines(held.by))
	case held.recorded:
		denied = review.Forbidden("RecordedDefault", c.field, "type %q has its default %s: %s is recorded in %s",
			c.now, where, named, suggest.ObjectNamed("ServiceType", c.typeRef(c.now)))
	default:
		denied = review.Forbidden("AnnotatedDefault", c.field, "type %q has its default %s: %s is annotated so", c.now, where, named)
	}
	or, others := c.settle(denied, plan, after, held), "the other's annotation off first"
	if len(held.by) > 1 {
		others = "the others' annotations off first, as in"
	}
	if held.annotated {
		denied.Ways(or+"take "+others, suggest.PlanAmong(holder, append(held.by, c.candidate(plan, c.now))).TakeDefault())
	}
	return denied
}

// candidate is a plan of the change as one of a list, by its effective type before
// or after.
func (c *defaultChange) candidate(plan *turn, serviceType string) resolve.Candidate {
	return resolve.Candidate{
		Plan: resolve.Ref{Namespace: plan.Namespace, Name: cmp.Or(plan.Name, "NAME")}, Type: serviceType,
		ClassName: c.class.ExternalName, PlanName: plan.ExternalName,
	}
}

// settle adds the switch to the remedies, because it leaves no moment without a
// default. It returns the introduction of the next remedy.
func (c *defaultChange) settle(denied *review.Denial, plan *turn, after standing, held holding) string {
	toThis := suggest.PlanAmong(c.candidate(plan, c.now), held.by).Switch(c.now)
	switch {
	case !after.kept:
		// No keeper has been here yet: there is nothing to patch.
		return ""
	case plan.fresh:
		denied.Ways("create it without the annotation, then switch at once", toThis)
	case c.was == c.now:
		denied.Ways("switch at once", toThis)
	case plan.Default:
		denied.Ways("take this plan's annotation off first", suggest.PlanAmong(c.candidate(plan, c.was), held.by).TakeDefault()).
			Ways("then, if it is to be the default, switch at once", toThis)
	default:
		denied.Remedy("clear the record first, which names the plan still: %s", suggest.Record(c.typeRef(c.now), ""))
	}
	return "or "
}

// refuseSecondOfClass refuses a second default among the plans of a class that
// have no type.
func (c *defaultChange) refuseSecondOfClass(other resolve.PlanEntry) *review.Denial {
	title := cmp.Or(c.class.ExternalName, other.Class) + "/" + cmp.Or(other.ExternalName, other.Name)
	return review.Forbidden("ClassDefault", c.field, "class %q has its default %s: %s (%s) is annotated so, and neither of the two has a type",
		cmp.Or(c.class.ExternalName, other.Class), resolve.InScope(c.at.Namespace), title, suggest.ObjectNamed("ServicePlan", other.Ref)).
		Ways("take the other's annotation off first", suggest.PlanOf(&other, &c.class).TakeDefault())
}

// refuseClassless denies a default whose type is not known: the relist that
// creates the plan is about to set it, and could not once the plan is a
// default.
func refuseClassless(req *admission.Request) *review.Denial {
	return review.Forbidden("ClassAbsent", annotationField, "its class is not there yet: once its broker's catalog is taken over, try again").
		Ways("see whether it is", suggest.Brokers(req.Namespace))
}

func (c *defaultChange) typeRef(serviceType string) resolve.Ref {
	return resolve.Ref{Namespace: c.at.Namespace, Name: serviceType}
}

// planLines are candidates in a denial, each on a line of its own.
func planLines(candidates []resolve.Candidate) string {
	var text strings.Builder
	for i, candidate := range candidates {
		if i == decision.ShownCandidates {
			fmt.Fprintf(&text, "\n  - and %d more", len(candidates)-i)
			break
		}
		fmt.Fprintf(&text, "\n  - %s: %s", candidate.Title, suggest.ObjectNamed("ServicePlan", candidate.Plan))
	}
	return text.String()
}
