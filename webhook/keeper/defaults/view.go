package defaults

import (
	"context"
	"time"

	"github.com/defaultplan/defaultplan/webhook/catalog"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
)

// A typeView is a type in one scope: its object, its classes and plans, and the
// recorded plan, of whatever type that is.
type typeView struct {
	// at is the namespace, none for the cluster's, and the type.
	at      client.ObjectKey
	kept    typeObject
	classes []resolve.ClassEntry
	plans   []planObject
}

// A planObject is a plan of either scope, as it is stored.
type planObject struct {
	resolve.PlanEntry

	object client.Object
}

// A viewer reads types.
type viewer struct {
	// suggested says that what brokers suggest counts.
	suggested bool
}

// view reads a type by a reader, the cache or the API server.
func (w viewer) view(ctx context.Context, reader client.Reader, at client.ObjectKey) (typeView, error) {
	v, err := readView(ctx, catalog.Scope{Reader: reader, Namespace: at.Namespace}, at.Name)
	if !w.suggested {
		for i := range v.plans {
			v.plans[i].Suggested = false
		}
	}
	return v, err
}

// readView reads a type. The object is read first: if its version is unchanged
// at the write that follows, its record was current when the plans were read.
// The plans are all of one revision: if two become the default meanwhile, the
// list could otherwise have only the second.
func readView(ctx context.Context, s catalog.Scope, serviceType string) (typeView, error) {
	v := typeView{at: client.ObjectKey{Namespace: s.Namespace, Name: serviceType}}
	var err error
	if v.kept, err = readType(ctx, s, serviceType); err != nil {
		return v, err
	}
	match := client.MatchingFields{v1beta1.FieldServiceType: serviceType}
	classes, err := s.Classes(ctx, match)
	if err != nil {
		return v, err
	}
	v.classes = classes.Classes
	at := s
	if v.plans, at.Revision, err = planObjectsBy(ctx, s, match); err != nil {
		return v, err
	}
	for _, class := range v.classes {
		of, _, err := planObjectsBy(ctx, at, client.MatchingFields{s.ClassField(): class.Name})
		if err != nil {
			return v, err
		}
		for _, plan := range of {
			if plan.Type == "" {
				v.plans = append(v.plans, plan)
			}
		}
	}
	return completed(ctx, s, v)
}

// completed adds to a view the plan that is recorded, and the classes of plans
// that have the type without their class.
func completed(ctx context.Context, s catalog.Scope, v typeView) (typeView, error) {
	if name := v.kept.recorded(); name != "" && v.plan(name) == nil {
		plan, err := planObjectNamed(ctx, s, name)
		if err != nil {
			return v, err
		}
		v.plans = append(v.plans, plan...)
	}
	asked := map[string]bool{}
	for _, class := range v.classes {
		asked[class.Name] = true
	}
	for i := range v.plans {
		name := v.plans[i].Class
		if asked[name] {
			continue
		}
		asked[name] = true
		class, err := s.Class(ctx, name)
		if err != nil {
			return v, err
		}
		v.classes = append(v.classes, class.Classes...)
	}
	return v, nil
}

// planObjectsBy reads plans, and says of which revision they are.
func planObjectsBy(ctx context.Context, s catalog.Scope, match client.MatchingFields) ([]planObject, string, error) {
	plans, revision, err := s.PlanObjects(ctx, match)
	found := make([]planObject, len(plans))
	for i, plan := range plans {
		found[i] = planObject{resolve.PlanFrom(plan), plan}
	}
	return found, revision, err
}

// planObjectNamed is the plan with that Kubernetes name, if there is one.
func planObjectNamed(ctx context.Context, s catalog.Scope, name string) ([]planObject, error) {
	plan := v1beta1.NewPlan(s.Namespace)
	found, err := s.Read(ctx, name, plan)
	if err != nil || !found {
		return nil, err
	}
	return []planObject{{resolve.PlanFrom(plan), plan}}, nil
}

// plan is the plan of that Kubernetes name, nil if it is not in view.
func (v *typeView) plan(name string) *planObject {
	for i := range v.plans {
		if v.plans[i].Name == name {
			return &v.plans[i]
		}
	}
	return nil
}

// state is the input of settle, given the time of the first run.
func (v *typeView) state(firstRun time.Time) state {
	classes := v.classesByName()
	s := state{
		exists: v.kept.there(), ending: v.kept.ending(), ours: v.kept.ours(), recorded: v.kept.recorded(),
		confirmed: v.kept.confirmed(), followed: v.kept.followed(), awaiting: v.kept.awaiting(), firstRun: firstRun,
		contenders: make([]contender, 0, len(v.plans)),
	}
	for i := range v.classes {
		s.inUse = s.inUse || (v.classes[i].Type == v.at.Name && v.classes[i].Gone == "")
	}
	for i := range v.plans {
		c := v.plans[i].contender(v.at.Name, classes[v.plans[i].Class])
		s.inUse = s.inUse || c.state == planLive
		s.contenders = append(s.contenders, c)
	}
	return s
}

func (v *typeView) classesByName() map[string]*resolve.ClassEntry {
	named := make(map[string]*resolve.ClassEntry, len(v.classes))
	for i := range v.classes {
		named[v.classes[i].Name] = &v.classes[i]
	}
	return named
}

// contender is what a plan of that class, nil if it is absent, says about being the
// default of a type.
func (p *planObject) contender(serviceType string, class *resolve.ClassEntry) contender {
	c := contender{name: p.Name, uid: p.object.GetUID(), state: p.state(serviceType, class), annotated: p.Default}
	if c.annotated {
		c.annotatedAt, c.version = annotatedAt(p.object), p.object.GetResourceVersion()
	}
	return c
}

func (p *planObject) state(serviceType string, class *resolve.ClassEntry) planState {
	effective := p.Type
	if effective == "" && class != nil {
		effective = class.Type
	}
	switch {
	case p.object.GetDeletionTimestamp() != nil:
		return planLeaving
	case p.Type == "" && class == nil:
		// Its type is not known until its class is there again.
		return planDormant
	case effective != serviceType:
		return planForeign
	case p.Gone != "" || class == nil || class.Gone != "" || resolve.Disagreement(class, &p.PlanEntry) != "":
		return planDormant
	}
	return planLive
}

// annotatedAt is the time since which a plan is annotated as default, as far as
// managedFields tell: the earliest time of a manager of the annotation, which
// may be that of a later write to other fields. Without one it is the creation
// of the plan.
func annotatedAt(plan client.Object) time.Time {
	var first *metav1.Time
	for _, entry := range plan.GetManagedFields() {
		if v1beta1.Manages(entry, "f:metadata", "f:annotations", "f:"+v1beta1.AnnotationDefaultPlan) && entry.Time != nil && (first == nil || entry.Time.Before(first)) {
			first = entry.Time
		}
	}
	if first == nil {
		return plan.GetCreationTimestamp().Time
	}
	return first.Time
}
