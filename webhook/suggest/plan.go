package suggest

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
)

// A Plan is a plan as commands name it: kubectl by its Kubernetes name, svcat by
// its broker's where that means this plan only.
type Plan struct {
	resolve.Ref

	// Class and External are the names of class and plan as their broker gave them.
	// Either may be empty: not known, or shared with another plan.
	Class    string
	External string
	// Type is the effective type. Without one svcat has no default to set.
	Type string
}

// PlanOf is a plan of a class; its class may be empty where it is absent.
func PlanOf(plan *resolve.PlanEntry, class *resolve.ClassEntry) Plan {
	named := Plan{Ref: plan.Ref, External: plan.ExternalName, Type: plan.Type}
	if class != nil {
		named.Class = class.ExternalName
		if named.Type == "" {
			named.Type = class.Type
		}
	}
	return named
}

// PlanAmong is a candidate among others, with which it may share its names.
func PlanAmong(candidate resolve.Candidate, all []resolve.Candidate) Plan {
	named := Plan{Ref: candidate.Plan, Class: candidate.ClassName, External: candidate.PlanName, Type: candidate.Type}
	for _, other := range all {
		if other.Plan.Namespace != candidate.Plan.Namespace || other.ClassName != candidate.ClassName || other.Plan == candidate.Plan {
			continue
		}
		// Where it is not said which class it is, its name stands for it.
		otherClass := other.Class != candidate.Class && other.Class.Name != "" && candidate.Class.Name != ""
		if otherClass || other.PlanName == candidate.PlanName {
			named.Class, named.External = "", ""
		}
	}
	return named
}

// MakeDefault makes the plan the default of its type, or of its class if it has no
// type, where there is none.
func (p Plan) MakeDefault() Ways {
	ways := Ways{p.set("--default"), p.annotate("=true")}
	if p.Type == "" {
		// The default of a class has no record, which is what svcat writes.
		ways.Svcat = ""
	}
	return ways
}

// TakeDefault takes the annotation off; svcat clears the record with it, which else
// the keeper does.
func (p Plan) TakeDefault() Ways {
	return Ways{p.set("--default=false"), p.annotate("-")}
}

// Switch records the plan as the default of a type in its scope, whichever was
// before.
func (p Plan) Switch(serviceType string) Ways {
	return Ways{p.set("--default"), Record(resolve.Ref{Namespace: p.Namespace, Name: serviceType}, p.Name)}
}

// Show shows the plan whole, its schemas included.
func (p Plan) Show() Ways {
	return Ways{"svcat describe plan " + p.name() + p.place(), "kubectl get " + p.resource() + " -o yaml"}
}

// Record is kubectl's command that records a plan as the default of a type, whose
// scope is the reference's; with no name it clears the record.
func Record(serviceType resolve.Ref, plan string) string {
	value := "null"
	if plan != "" {
		value = fmt.Sprintf(`{"name":%q}`, plan)
	}
	return fmt.Sprintf(`kubectl patch %s --type=merge -p '{"spec":{"defaultPlanRef":%s}}'`, Resource("servicetype", serviceType), value)
}

// Choose is what an operator types to record any plan of the type, which is left
// for them to fill in.
func Choose(serviceType resolve.Ref) Ways {
	return Ways{
		Svcat:   "svcat set plan CLASS/PLAN --default" + scopeOf(serviceType.Namespace).svcat,
		Kubectl: Record(serviceType, "PLAN"),
	}
}

func (p Plan) set(flag string) string {
	return "svcat set plan " + p.name() + " " + flag + p.place()
}

func (p Plan) annotate(value string) string {
	return "kubectl annotate " + p.resource() + " " + v1beta1.AnnotationDefaultPlan + value
}

// name is the plan as svcat takes it. What svcat would take for a flag, or split elsewhere, and
// what cannot be seen, is named by its Kubernetes name.
func (p Plan) name() string {
	hidden := func(r rune) bool { return !unicode.IsPrint(r) }
	if strings.ContainsFunc(p.Class+p.External, hidden) || p.Class == "" || p.External == "" || strings.HasPrefix(p.Class, "-") || strings.Contains(p.Class, "/") {
		return "--kube-name " + p.Name
	}
	return Word(p.Class + "/" + p.External)
}

// resource is the plan as kubectl takes it.
func (p Plan) resource() string { return Resource("serviceplan", p.Ref) }

func (p Plan) place() string { return scopeOf(p.Namespace).svcat }
