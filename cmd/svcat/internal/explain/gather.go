package explain

import (
	"context"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
)

// A gatherer reads what a question is about, and no more: by field selectors and
// single names, at the same time where one does not need the other.
type gatherer struct {
	reader client.Reader
	*slice
}

// job is one read.
type job func(context.Context) error

// atOnce is how many requests of one list of jobs are under way.
const atOnce = 16

// together runs jobs at the same time.
func together(ctx context.Context, jobs ...job) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, one := range jobs {
		group.Go(func() error { return one(ctx) })
	}
	return group.Wait()
}

// gather reads the slice that a request in its namespace is about.
func gather(ctx context.Context, reader client.Reader, req *resolve.Request) (*slice, error) {
	g := gatherer{reader, newSlice()}
	jobs := append(g.rulesOf(req.Namespace), g.offers(req)...)
	if err := together(ctx, jobs...); err != nil {
		return nil, err
	}
	if req.Class.Value != "" && goesByDefault(req) {
		if err := g.recordsOfClasses(ctx); err != nil {
			return nil, err
		}
	}
	return g.slice, g.complete(ctx)
}

// goesByDefault says that what types record may decide the request.
func goesByDefault(req *resolve.Request) bool { return req.Plan.Value == "" && req.Selector == nil }

// rulesOf reads what policies there are, and where they would hold.
func (g gatherer) rulesOf(namespace string) []job {
	return []job{
		g.provisioning,
		func(ctx context.Context) error { return g.place(ctx, namespace) },
	}
}

// offers are the reads for the plans that the request could mean.
func (g gatherer) offers(req *resolve.Request) []job {
	switch {
	case req.Class.Value != "":
		return g.classNamed(req)
	case req.Type != "":
		return g.ofType(req)
	case req.Selector != nil:
		return g.everything(req.Namespace)
	}
	return nil
}

// marketplace is where an instance in a namespace has its plan from.
func marketplace(namespace string) cli.Scope {
	return cli.Scope{Cluster: true, Namespaces: true, Namespace: namespace}
}

// ofType reads the plans of a type, their own or their class's, and its records.
func (g gatherer) ofType(req *resolve.Request) []job {
	match := client.MatchingFields{v1beta1.FieldServiceType: req.Type}
	var jobs []job
	for _, at := range marketplace(req.Namespace).Split() {
		query := catalog.Query{Scope: at, Fields: match}
		jobs = append(jobs, g.plansOf(query), g.classesWithPlans(query, func(plan catalog.Plan) bool { return plan.Spec.ServiceType == "" }))
		if goesByDefault(req) {
			jobs = append(jobs, func(ctx context.Context) error {
				return g.record(ctx, resolve.Ref{Namespace: at.Namespace, Name: req.Type})
			})
		}
	}
	return jobs
}

func (g gatherer) everything(namespace string) []job {
	var jobs []job
	for _, at := range marketplace(namespace).Split() {
		query := catalog.Query{Scope: at}
		jobs = append(jobs, g.plansOf(query), func(ctx context.Context) error { return catalog.Classes(ctx, g.reader, query, g.addClass) })
	}
	return jobs
}

func (g gatherer) plansOf(query catalog.Query) job {
	return func(ctx context.Context) error { return catalog.Plans(ctx, g.reader, query, g.addPlan) }
}

// classesWithPlans reads classes with those of their plans that are wanted.
func (g gatherer) classesWithPlans(query catalog.Query, wanted func(catalog.Plan) bool) job {
	return func(ctx context.Context) error {
		var jobs []job
		err := catalog.Classes(ctx, g.reader, query, func(class catalog.Class) error {
			jobs = append(jobs, func(ctx context.Context) error {
				plans, err := catalog.PlansOf(ctx, g.reader, class)
				for _, plan := range plans {
					if wanted(plan) {
						_ = g.addPlan(plan)
					}
				}
				return err
			})
			return g.addClass(class)
		})
		if err != nil {
			return err
		}
		return together(ctx, jobs...)
	}
}

// classNamed reads the classes with the name that the request gives, and their
// plans.
func (g gatherer) classNamed(req *resolve.Request) []job {
	at := cli.Scope{Cluster: true}
	if req.Namespaced {
		at = cli.Scope{Namespaces: true, Namespace: req.Namespace}
	}
	field := map[resolve.NameKind]string{
		resolve.ByName: "metadata.name", resolve.ByExternalName: v1beta1.FieldExternalName, resolve.ByExternalID: v1beta1.FieldExternalID,
	}[req.Class.By]
	query := catalog.Query{Scope: at, Fields: client.MatchingFields{field: req.Class.Value}}
	jobs := []job{g.classesWithPlans(query, func(catalog.Plan) bool { return true })}
	if req.Plan.By == resolve.ByName && req.Plan.Value != "" {
		// It may be of another class: that is worth saying.
		jobs = append(jobs, func(ctx context.Context) error {
			return g.plan(ctx, resolve.Ref{Namespace: at.Namespace, Name: req.Plan.Value})
		})
	}
	return jobs
}

// recordsOfClasses reads what the types of the plans that were found record: a
// class has no record of its own.
func (g gatherer) recordsOfClasses(ctx context.Context) error {
	wanted := map[resolve.Ref]bool{}
	for ref, class := range g.classes {
		wanted[resolve.Ref{Namespace: ref.Namespace, Name: class.Spec.ServiceType}] = true
	}
	for ref, plan := range g.plans {
		wanted[resolve.Ref{Namespace: ref.Namespace, Name: plan.Spec.ServiceType}] = true
	}
	var jobs []job
	for ref := range wanted {
		if ref.Name != "" {
			jobs = append(jobs, func(ctx context.Context) error { return g.record(ctx, ref) })
		}
	}
	return together(ctx, jobs...)
}

// complete reads the plans that records name, and every plan's class.
func (g gatherer) complete(ctx context.Context) error {
	var jobs []job
	for _, serviceType := range g.types {
		if plan := serviceType.Record().Plan; plan.Name != "" {
			if _, known := g.plans[plan]; !known {
				jobs = append(jobs, func(ctx context.Context) error { return g.plan(ctx, plan) })
			}
		}
	}
	if err := together(ctx, jobs...); err != nil {
		return err
	}
	missing := map[resolve.Ref]bool{}
	for ref, plan := range g.plans {
		if _, known := g.class(plan); !known && plan.ClassName != "" {
			missing[resolve.Ref{Namespace: ref.Namespace, Name: plan.ClassName}] = true
		}
	}
	jobs = nil
	for ref := range missing {
		jobs = append(jobs, func(ctx context.Context) error { return g.classOf(ctx, ref) })
	}
	if err := together(ctx, jobs...); err != nil {
		return err
	}
	return g.completeCosts(ctx)
}

// completeCosts reads the plans of the cluster that others have their costs from, if a policy is
// about costs.
func (g gatherer) completeCosts(ctx context.Context) error {
	if !policy.AboutCosts(g.rules) {
		return nil
	}
	var jobs []job
	read := map[string]bool{"": true}
	for _, plan := range g.plans {
		class, _ := g.class(plan)
		id := policy.TargetOf(classEntryOf(&class), plan.PlanEntry()).Original.ExternalID
		if read[id] {
			continue
		}
		read[id] = true
		query := catalog.Query{Scope: cli.Scope{Cluster: true}, Fields: client.MatchingFields{v1beta1.FieldExternalID: id}}
		jobs = append(jobs, func(ctx context.Context) error { return catalog.Plans(ctx, g.reader, query, g.addOriginal) })
	}
	return together(ctx, jobs...)
}

func classEntryOf(class *catalog.Class) resolve.ClassEntry {
	if class.Object == nil {
		return resolve.ClassEntry{}
	}
	return class.ClassEntry()
}
