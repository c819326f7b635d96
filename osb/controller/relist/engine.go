package relist

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/osb"
)

// An Engine syncs the cluster's classes and plans with catalogs.
type Engine struct {
	// Client writes.
	Client client.Client
	// Reader is a cache, or the API server. It finds classes and plans by the fields
	// of their spec that name broker and class, and keeps their managedFields;
	// instances and bindings by those that name class and plan.
	Reader client.Reader
	// Live reads from the API server, before anything is deleted.
	Live client.Reader
	// Workers is how many requests run at the same time; 0: 16.
	Workers int
	// PerReport is how many plans are applied between two reports of progress; 0: 500.
	PerReport int
}

const defaultWorkers = 16

// A Result is the result of a relist.
type Result struct {
	// Classes and Plans count the desired objects.
	Classes, Plans int
	// Skipped is what was not applied, and why. It stays so until a user acts.
	Skipped []Skipped
	// Failed are the objects that could not be written; to be tried again.
	Failed []error
	// Writes counts the requests that wrote something.
	Writes int
	// Removed counts the broker's objects that the catalog no longer lists, and
	// that still exist.
	Removed int
	// Moved counts those among them whose names are needed for other IDs, which
	// can be created once they are deleted.
	Moved int
}

// Progress is how far a relist of many objects is: how many plans are applied, and then what is
// marked.
type Progress struct {
	// Applied of Plans are applied by now; both are 0 once marking began.
	Applied, Plans int

	Marking Marking
}

// A Marking is the progress of marking what the catalog no longer lists.
type Marking struct {
	// Marked of Total objects are marked by now.
	Marked, Total int
	// Lost of the Before unmarked objects are no longer in the catalog. What
	// restrictions exclude, or what moved to another service, is not lost.
	Lost, Before int
}

// Shrank says whether a catalog lost more than half of its entries: the broker
// may only serve it for a moment.
func (m *Marking) Shrank() bool { return 2*m.Lost > m.Before }

// Relist applies a catalog: plans, then their class, concurrently by workers;
// then it marks what is no longer listed. While it writes many plans, before it
// marks many objects, and meanwhile, it calls report, and stops if that fails.
// Objects fail independently; the error is for what stopped the relist.
func (e *Engine) Relist(ctx context.Context, broker Broker, catalog *osb.Catalog, report func(Progress) error) (Result, error) {
	shelf, err := e.shelf(ctx, &broker)
	if err != nil {
		return Result{}, err
	}
	broker.Known = shelf.known(&broker)
	wanted, skipped := Wanted(broker, catalog)
	r := &run{Engine: e, broker: &broker, shelf: shelf, result: Result{Skipped: skipped, Classes: len(wanted.Classes)}}
	if err = r.apply(ctx, wanted.Classes, report); err == nil {
		err = r.mark(ctx, &wanted, func(m Marking) error { return report(Progress{Marking: m}) })
	}
	if err := cmp.Or(ctx.Err(), err); err != nil {
		return Result{}, fmt.Errorf("cannot relist %s %q: %w", broker.kind(), broker.Name, err)
	}
	r.sort(len(skipped))
	return r.result, nil
}

// A run is one relist.
type run struct {
	*Engine

	broker *Broker
	shelf  *shelf

	mutex  sync.Mutex
	result Result
	// moved are objects of this broker that stand for another ID than the
	// catalog's.
	moved []*found
}

func (r *run) skip(object *Object, reason string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.result.Skipped = append(r.result.Skipped, Skipped{Service: object.Service, Plan: object.Plan, Reason: reason})
}

func (r *run) fail(err error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.result.Failed = append(r.result.Failed, err)
}

func (r *run) wrote() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.result.Writes++
}

// sort makes the order of the workers' results deterministic.
func (r *run) sort(before int) {
	slices.SortFunc(r.result.Skipped[before:], func(a, b Skipped) int {
		return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Plan, b.Plan), cmp.Compare(a.Reason, b.Reason))
	})
	slices.SortFunc(r.result.Failed, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
}

// parallel calls a function for each of n, at most Workers at the same time.
func (e *Engine) parallel(n int, do func(i int)) {
	var group errgroup.Group
	group.SetLimit(cmp.Or(e.Workers, defaultWorkers))
	for i := range n {
		group.Go(func() error {
			do(i)
			return nil
		})
	}
	_ = group.Wait() // do returns no error
}

// apply writes all plans, then the classes, so that a class is never visible
// without its plans.
func (r *run) apply(ctx context.Context, classes []Class, report func(Progress) error) error {
	type planOf struct{ class, plan int }
	var plans []planOf
	for i := range classes {
		for k := range classes[i].Plans {
			plans = append(plans, planOf{i, k})
		}
	}
	r.result.Plans = len(plans)
	outcomes := make([][]outcome, len(classes))
	for i := range classes {
		outcomes[i] = make([]outcome, len(classes[i].Plans))
	}
	applied := 0
	for some := range slices.Chunk(plans, cmp.Or(r.PerReport, atOnce)) {
		before := r.result.Writes
		r.parallel(len(some), func(i int) {
			at := some[i]
			outcomes[at.class][at.plan] = r.settlePlan(ctx, &classes[at.class].Plans[at.plan])
		})
		// An unchanged relist writes nothing, so it does not write how far it is.
		if applied += len(some); applied < len(plans) && r.result.Writes > before {
			if err := report(Progress{Applied: applied, Plans: len(plans)}); err != nil {
				return err
			}
		}
	}
	r.parallel(len(classes), func(i int) { r.settleClass(ctx, &classes[i], outcomes[i]) })
	return nil
}

// An outcome is the result for an object.
type outcome int

const (
	stands outcome = iota
	wasSkipped
	hasFailed
)

func (r *run) settlePlan(ctx context.Context, plan *Object) outcome {
	live, how := r.settle(ctx, plan)
	if how != stands || live == nil || !live.removed && live.costs.equal(&plan.Costs) {
		return how
	}
	fields := plan.Costs.fields()
	fields[statusRemoved] = false
	return r.setStatus(ctx, live, fields)
}

// settleClass writes a class whose plans were written. A new one requires all
// of them, because the choice of a plan may depend on how many a class has.
func (r *run) settleClass(ctx context.Context, class *Class, plans []outcome) {
	live, err := r.find(ctx, &class.Object)
	switch {
	case err != nil:
		r.fail(err)
		return
	case live == nil && slices.Contains(plans, hasFailed):
		return
	case live == nil && !slices.Contains(plans, stands):
		r.skip(&class.Object, "it has no plan that could be taken over")
		return
	}
	live, how := r.settle(ctx, &class.Object)
	if how != stands || live == nil {
		return
	}
	if live.removed || live.freePlans != class.FreePlans || live.paidPlans != class.PaidPlans {
		r.setStatus(ctx, live, map[string]any{statusRemoved: false, "freePlans": class.FreePlans, "paidPlans": class.PaidPlans})
	}
}

// settle writes the facts and the suggestions of an object that are not stored
// already. The returned object is nil if the relist may not write it.
func (r *run) settle(ctx context.Context, object *Object) (*found, outcome) {
	live, err := r.find(ctx, object)
	if err == nil && live != nil && live.removed && ownershipOf(r.broker, live, object).moved {
		// The cache may not have its deletion yet.
		live, err = lookUp(ctx, r.Live, object)
	}
	if err != nil {
		r.fail(err)
		return nil, hasFailed
	}
	switch ownership := ownershipOf(r.broker, live, object); {
	case ownership.leave:
		return nil, stands
	case ownership.skip != "":
		r.skip(object, ownership.skip)
		if ownership.moved {
			r.move(live)
		}
		return nil, wasSkipped
	}
	if live != nil && live.GetDeletionTimestamp() != nil {
		r.fail(fmt.Errorf("cannot apply %s %q: it is being deleted", object.Kind, object.Name))
		return nil, hasFailed
	}
	if live == nil && len(object.Suggestions) > 0 && r.seenAtOnce(object) {
		if live = r.makeWhole(ctx, object); live != nil {
			return live, stands
		}
	}
	live, how := r.writeFacts(ctx, live, object)
	if how != stands {
		return nil, how
	}
	return live, r.writeSuggestions(ctx, live, object)
}

func (r *run) move(live *found) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.moved = append(r.moved, live)
}

// Err joins all failures into one error, nil if there is none.
func (r *Result) Err() error { return errors.Join(r.Failed...) }
