package get

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/resolve"
)

// A stock is what tables say of the plans of a scope. Of each object it keeps a row,
// never the object: schemas and defaults of many plans would be much.
type stock struct {
	classes  map[key]classRow
	plans    []planRow
	standing map[resolve.Ref]resolve.Rule
}

// loadClasses reads the classes of a scope.
func loadClasses(ctx context.Context, reader client.Reader, scope cli.Scope, entry func(resolve.ClassEntry)) (map[key]classRow, error) {
	classes := map[key]classRow{}
	err := catalog.Classes(ctx, reader, catalog.Query{Scope: scope}, func(class catalog.Class) error {
		row := classRowOf(class)
		classes[row.key] = row
		if entry != nil {
			known := class.ClassEntry()
			known.Labels = nil
			entry(known)
		}
		return nil
	})
	return classes, err
}

// loadStock reads the classes and plans of a scope, and which plans stand for their
// type.
func loadStock(ctx context.Context, reader client.Reader, scope cli.Scope) (*stock, error) {
	entries := &resolve.Catalog{}
	recorded := map[resolve.Ref]bool{}
	err := catalog.Types(ctx, reader, catalog.Query{Scope: scope}, func(t catalog.Type) error {
		record := t.Record()
		entries.Records = append(entries.Records, record)
		recorded[record.Plan] = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	s := &stock{}
	s.classes, err = loadClasses(ctx, reader, scope, func(class resolve.ClassEntry) { entries.Classes = append(entries.Classes, class) })
	if err != nil {
		return nil, err
	}
	err = catalog.Plans(ctx, reader, catalog.Query{Scope: scope}, func(plan catalog.Plan) error {
		s.plans = append(s.plans, planRowOf(plan))
		// A plan that is neither recorded nor annotated never stands for its type.
		if known := plan.PlanEntry(); known.Default || known.Suggested || recorded[known.Ref] {
			known.Labels = nil
			entries.Plans = append(entries.Plans, known)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !scope.Cluster {
		if err := catalog.AddRivals(ctx, reader, entries); err != nil {
			return nil, err
		}
	}
	s.standing = catalog.Standings(entries)
	for i := range s.plans {
		s.plans[i].complete(s.classes, s.standing)
	}
	return s, nil
}

// stockOf is the stock of one plan: itself, its class, and whether it stands.
func stockOf(ctx context.Context, reader client.Reader, plan catalog.Plan) (*stock, error) {
	class, err := catalog.ClassOfPlan(ctx, reader, plan)
	if client.IgnoreNotFound(err) != nil {
		return nil, err
	}
	s := &stock{classes: map[key]classRow{}, plans: []planRow{planRowOf(plan)}}
	if err == nil {
		row := classRowOf(class)
		s.classes[row.key] = row
	}
	s.plans[0].complete(s.classes, nil)
	s.standing, err = catalog.StandingOf(ctx, reader, plan.Object.GetNamespace(), s.plans[0].serviceType)
	if err != nil {
		return nil, err
	}
	s.plans[0].complete(s.classes, s.standing)
	return s, nil
}
