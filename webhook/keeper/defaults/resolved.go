package defaults

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/suggest"
)

// The reasons of a type's conditions.
const (
	reasonRecorded     = "Recorded"
	reasonAnnotated    = "Annotated"
	reasonUnusable     = "RecordedPlanUnusable"
	reasonNone         = "None"
	reasonSuggested    = "Suggested"
	reasonSeveral      = "Several"
	reasonAwaitsChoice = "AwaitsChoice"
	reasonBesideRecord = "AnnotatedBesideRecord"
	reasonUnambiguous  = "Unambiguous"
	reasonResolvable   = "Resolvable"
	reasonNoPlans      = "NoPlans"
)

const (
	// listed is how many plans a message names.
	listed = 10
	// maxSuggested is how long status.suggestedPlan may be.
	maxSuggested = 4096
)

// A resolved says what a type resolves to in a scope, and which plans compete.
type resolved struct {
	at client.ObjectKey
	// plans is how many live plans there are in the scope, and any whether there
	// is one that an instance there could get.
	plans int
	any   bool
	// recorded is the plan that the record names, whether or not it still
	// exists.
	recorded string
	// title is the default of the scope, empty for none, and err why it has none.
	title    string
	believed bool
	err      *resolve.Error
	// beside are the plans that are annotated although another is recorded, and
	// suggested the live ones that are suggested.
	beside, suggested []string
	// refused is why an instance that names only the type gets no plan.
	refused *resolve.Error
	// awaiting says that the operator must choose.
	awaiting bool
}

// resolved resolves the type as admission would for an instance that names
// nothing else, ignoring policies. The cluster's view is that of the same type
// there; nil if v is the cluster's.
func (v *typeView) resolved(cluster *typeView) resolved {
	o := resolved{at: v.at, recorded: v.kept.recorded()}
	v.eachLive(func(plan *planObject, class *resolve.ClassEntry) {
		o.plans++
		if plan.Suggested {
			o.suggested = append(o.suggested, titleOf(&plan.PlanEntry, class))
		}
		if plan.Default && plan.Name != o.recorded {
			o.beside = append(o.beside, titleOf(&plan.PlanEntry, class))
		}
	})
	slices.Sort(o.suggested)
	slices.Sort(o.beside)
	o.any = o.plans > 0
	request := resolve.Request{Namespace: v.at.Namespace, Type: v.at.Name}
	whole := v.contenders()
	if cluster != nil {
		above := cluster.contenders()
		whole.Classes = slices.Concat(whole.Classes, above.Classes)
		whole.Plans = append(whole.Plans, above.Plans...)
		whole.Records = append(whole.Records, above.Records...)
		cluster.eachLive(func(*planObject, *resolve.ClassEntry) { o.any = true })
	}
	_, err := resolve.Plan(request, whole)
	errors.As(err, &o.refused)
	choice, err := resolve.Plan(request, defaultsOnly(v.contenders()))
	if !errors.As(err, &o.err) {
		o.title, o.believed = titleOf(&choice.Plan, &choice.Class), choice.Recorded
	}
	return o
}

// eachLive visits the plans of the type that can be chosen, with their classes.
func (v *typeView) eachLive(visit func(*planObject, *resolve.ClassEntry)) {
	classes := v.classesByName()
	for i := range v.plans {
		plan := &v.plans[i]
		class := classes[plan.Class]
		if plan.state(v.at.Name, class) == planLive {
			visit(plan, class)
		}
	}
}

// contenders is the catalog for resolve, with only the plans that can be chosen
// if nothing but the type is named: a type may have ten thousand others.
func (v *typeView) contenders() resolve.Catalog {
	c := resolve.Catalog{Classes: v.classes}
	recorded := v.kept.recorded()
	for i := range v.plans {
		if entry := &v.plans[i].PlanEntry; entry.Default || entry.Suggested || entry.Name == recorded {
			c.Plans = append(c.Plans, *entry)
		}
	}
	if recorded != "" {
		c.Records = []resolve.Record{{Type: v.at.Name, Plan: resolve.Ref{Namespace: v.at.Namespace, Name: recorded}}}
	}
	return c
}

// defaultsOnly leaves defaults as the only tier.
func defaultsOnly(c resolve.Catalog) resolve.Catalog {
	for i := range c.Plans {
		c.Plans[i].Suggested = false
	}
	return c
}

// titleOf is a plan as class/plan, by the names that the broker gave.
func titleOf(plan *resolve.PlanEntry, class *resolve.ClassEntry) string {
	return cmp.Or(class.ExternalName, class.Name) + "/" + cmp.Or(plan.ExternalName, plan.Name)
}

// statusFrom is the status of a type that had the status before.
func (o *resolved) statusFrom(before v1beta1.ServiceTypeStatus, generation int64, confirmed bool, now metav1.Time) v1beta1.ServiceTypeStatus {
	after := v1beta1.ServiceTypeStatus{
		ObservedGeneration: generation,
		Confirmed:          confirmed,
		Plans:              int32(o.plans), //nolint:gosec // no cluster holds as many
		DefaultPlan:        o.title,
		SuggestedPlan:      joined(o.suggested),
		Resolvable:         o.refused == nil,
		Conditions:         before.Conditions,
	}
	for _, condition := range []v1beta1.Condition{o.defaultPlan(), o.suggestedPlan(), o.ambiguous(), o.noDefault()} {
		after.Conditions = v1beta1.SetCondition(after.Conditions, condition, generation, now)
	}
	return after
}

func (o *resolved) defaultPlan() v1beta1.Condition {
	switch {
	case o.err == nil && o.believed:
		return v1beta1.DefaultPlan(true, reasonRecorded, o.title+" is the default plan")
	case o.err == nil:
		return v1beta1.DefaultPlan(true, reasonAnnotated, o.title+" is annotated as the default plan, and not recorded yet")
	case o.err.Reason == resolve.Ambiguous:
		return v1beta1.DefaultPlan(false, reasonSeveral, "several plans are annotated as the default, and none is recorded")
	case o.recorded != "":
		return v1beta1.DefaultPlan(false, reasonUnusable, fmt.Sprintf("plan %q is recorded as the default, but cannot be chosen now", o.recorded))
	}
	return v1beta1.DefaultPlan(false, reasonNone, "no plan is recorded or annotated as the default")
}

func (o *resolved) suggestedPlan() v1beta1.Condition {
	switch len(o.suggested) {
	case 0:
		return v1beta1.SuggestedPlan(false, reasonNone, "no plan is suggested")
	case 1:
		return v1beta1.SuggestedPlan(true, reasonSuggested, o.suggested[0]+" is the suggested plan")
	}
	return v1beta1.SuggestedPlan(false, reasonSeveral, "several plans are suggested: "+enumerated(o.suggested))
}

// ambiguous names the plans that compete if nothing can be chosen, and those
// whose annotation has no effect.
func (o *resolved) ambiguous() v1beta1.Condition {
	switch {
	case o.awaiting && o.err != nil:
		return v1beta1.Ambiguous(true, reasonAwaitsChoice, "plans were annotated as the default before a keeper ran, and none is recorded: "+
			contenders(o.err)+"; choose one: "+o.command())
	case o.refused != nil && o.refused.Reason == resolve.Ambiguous:
		return v1beta1.Ambiguous(true, reasonSeveral, o.refused.Detail+": "+contenders(o.refused)+"; choose one: "+o.command())
	case o.believed && len(o.beside) > 0:
		return v1beta1.Ambiguous(true, reasonBesideRecord, o.title+" is recorded as the default, but others are annotated too: "+enumerated(o.beside))
	}
	return v1beta1.Ambiguous(false, reasonUnambiguous, "no two plans contend for the type")
}

func (o *resolved) noDefault() v1beta1.Condition {
	switch {
	case o.refused == nil:
		return v1beta1.NoDefault(false, reasonResolvable, "an instance that names only the type finds a plan")
	case o.refused.Reason == resolve.Ambiguous:
		return v1beta1.NoDefault(false, reasonSeveral, "several plans contend for the type")
	case !o.any:
		return v1beta1.NoDefault(false, reasonNoPlans, "no plan of the type can be chosen")
	}
	return v1beta1.NoDefault(true, reasonNone, "no plan of the type is the default or suggested; choose one: "+o.command())
}

// command is how an operator chooses.
func (o *resolved) command() string {
	return suggest.Choose(resolve.Ref{Namespace: o.at.Namespace, Name: o.at.Name}).String()
}

// contenders are the candidates of an ambiguity, with the names to choose by.
func contenders(refused *resolve.Error) string {
	titles := make([]string, 0, len(refused.Candidates))
	for _, c := range refused.Candidates {
		titles = append(titles, fmt.Sprintf("%s is plan %q", c.Title, c.Plan.Name))
	}
	return enumerated(titles)
}

func enumerated(titles []string) string {
	if len(titles) <= listed {
		return strings.Join(titles, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(titles[:listed], ", "), len(titles)-listed)
}

// joined is as many of the titles as fit into the field.
func joined(titles []string) string {
	text := strings.Join(titles, ",")
	for len(text) > maxSuggested {
		text = text[:strings.LastIndexByte(text, ',')]
	}
	return text
}
