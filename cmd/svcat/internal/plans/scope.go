package plans

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/resolve"
)

// A standing is who is the default of a type in one scope, as read at one time: the
// record first, and then the plans.
type standing struct {
	// at is the type's object: its namespace, empty for the cluster, and its name.
	at client.ObjectKey
	// kept is that object, nil if it is absent, and recorded the plan it names.
	kept     client.Object
	recorded string
	// holder is whom resolve takes for the default, nil for none. Suggestions do not
	// count.
	holder *resolve.PlanEntry
	// plans are the plan that is asked about, the recorded one and all that are
	// annotated, with their classes by Kubernetes name.
	plans   []resolve.PlanEntry
	classes map[string]resolve.ClassEntry
	// tools are those that apply the annotation of a plan from elsewhere, by its name.
	tools map[string][]string
	// leaving are plans that are being deleted, whose annotations go with them.
	leaving map[string]bool
}

// lookAt reads who is the default of a type, in the scope of plan.
func lookAt(ctx context.Context, reader client.Reader, at client.ObjectKey, plan string) (*standing, error) {
	s := &standing{at: at, classes: map[string]resolve.ClassEntry{}, tools: map[string][]string{}, leaving: map[string]bool{}}
	found := resolve.Catalog{}
	kept := typeAt(at)
	err := reader.Get(ctx, at, kept)
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("cannot read the default of type %q: %w", at.Name, err)
	}
	if err == nil {
		view, _ := catalog.TypeOf(kept)
		s.kept, s.recorded = kept, view.Record().Plan.Name
		found.Records = append(found.Records, view.Record())
	}
	if err := s.readPlans(ctx, reader, plan); err != nil {
		return nil, fmt.Errorf("cannot read the plans of type %q: %w", at.Name, err)
	}
	for _, class := range s.classes {
		found.Classes = append(found.Classes, class)
	}
	found.Plans = s.plans
	choice, err := resolve.Plan(resolve.Request{Namespace: at.Namespace, Type: at.Name}, found)
	if err == nil {
		s.holder = &choice.Plan
	}
	return s, nil
}

// readPlans reads the plans of the type that matter, and their classes.
func (s *standing) readPlans(ctx context.Context, reader client.Reader, asked string) error {
	keep := func(p catalog.Plan) {
		entry := p.PlanEntry()
		entry.Suggested = false
		wanted := entry.Default || entry.Name == asked || entry.Name == s.recorded
		// One that just got its type may come up in both lists.
		if wanted && s.plan(entry.Name) == nil {
			s.plans = append(s.plans, entry)
			s.leaving[entry.Name] = p.Object.GetDeletionTimestamp() != nil
			s.tools[entry.Name] = ownersOf(p.Object.GetManagedFields(), "f:metadata", "f:annotations", "f:"+v1beta1.AnnotationDefaultPlan).tools
		}
	}
	ofType := catalog.Query{Scope: cli.ScopeOf(s.at.Namespace), Fields: client.MatchingFields{v1beta1.FieldServiceType: s.at.Name}}
	err := catalog.Plans(ctx, reader, ofType, func(p catalog.Plan) error {
		keep(p)
		return nil
	})
	if err != nil {
		return err
	}
	err = catalog.Classes(ctx, reader, ofType, func(c catalog.Class) error {
		s.classes[c.Object.GetName()] = c.ClassEntry()
		plans, err := catalog.PlansOf(ctx, reader, c)
		for _, p := range plans {
			// The others have a type of their own.
			if p.Spec.ServiceType == "" {
				keep(p)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	return s.readClasses(ctx, reader)
}

// readClasses reads those classes of the plans that were not read with the type.
func (s *standing) readClasses(ctx context.Context, reader client.Reader) error {
	for i := range s.plans {
		name := s.plans[i].Class
		if _, there := s.classes[name]; there {
			continue
		}
		object := classAt(client.ObjectKey{Namespace: s.at.Namespace, Name: name})
		err := reader.Get(ctx, client.ObjectKeyFromObject(object), object)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return err
		}
		view, _ := catalog.ClassOf(object)
		s.classes[name] = view.ClassEntry()
	}
	return nil
}

// plan is one of the plans by its Kubernetes name, nil if it is none of them.
func (s *standing) plan(name string) *resolve.PlanEntry {
	for i := range s.plans {
		if s.plans[i].Name == name {
			return &s.plans[i]
		}
	}
	return nil
}

// holds says that the plan is the default.
func (s *standing) holds(name string) bool { return s.holder != nil && s.holder.Name == name }

// others are plans that are annotated beside that one.
func (s *standing) others(name string) []string {
	var names []string
	for i := range s.plans {
		if s.plans[i].Default && s.plans[i].Name != name && !s.leaving[s.plans[i].Name] {
			names = append(names, s.plans[i].Name)
		}
	}
	return names
}

// bare is what people call a plan within its class.
func (s *standing) bare(plan *resolve.PlanEntry) string {
	if plan.ExternalName != "" {
		return plan.ExternalName
	}
	return plan.Name
}

// full is a plan as CLASS/PLAN.
func (s *standing) full(plan *resolve.PlanEntry) string {
	class := s.classes[plan.Class].ExternalName
	if class == "" {
		class = plan.Class
	}
	return class + "/" + s.bare(plan)
}

// title is what to call a plan of this name in a sentence that stands alone.
func (s *standing) title(name string) string {
	if plan := s.plan(name); plan != nil {
		return s.full(plan)
	}
	return name
}

// kind is the type in a sentence.
func (s *standing) kind() string { return s.at.Name + in(s.at.Namespace) }

// in is the namespace in a sentence; the cluster is not told.
func in(namespace string) string { return v1beta1.PerScope(namespace, "", " in namespace "+namespace) }

func typeAt(at client.ObjectKey) client.Object { return named(v1beta1.NewType(at.Namespace), at) }

func planAt(at client.ObjectKey) client.Object { return named(v1beta1.NewPlan(at.Namespace), at) }

func classAt(at client.ObjectKey) client.Object { return named(v1beta1.NewClass(at.Namespace), at) }

func named(object client.Object, at client.ObjectKey) client.Object {
	object.SetNamespace(at.Namespace)
	object.SetName(at.Name)
	return object
}
