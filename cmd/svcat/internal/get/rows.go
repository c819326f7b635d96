package get

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/resolve"
)

// A key is an object among those of a kind of either scope, or of a list that has several kinds,
// such as that of policies: only then it has its kind.
type key struct{ namespace, name, kind string }

func (k key) own() key { return k }

func keyOf(object client.Object) key {
	return key{namespace: object.GetNamespace(), name: object.GetName()}
}

// rows are what a table shows, sorted.
type rows interface {
	// keys are the objects, one a row.
	keys() []key
	// sort puts the rows in another order; those that are equal stay as they are.
	sort(compare func(a, b key) int)
	// cells are the columns of a layout, and the cells of each row.
	cells(layout string) (columns []string, lines [][]string)
	// wraps says that the legacy layout wraps the last column.
	wraps() bool
}

// A row is an object as tables show it.
type row interface {
	own() key
	// cells are by column, those of columns that the layout does not have among them.
	cells(layout string) map[string]string
}

// A table has the rows of one kind.
type table[R row] struct {
	of []R
	// columns are those of each layout.
	columns map[string][]string
	wrap    bool
}

func (t table[R]) keys() []key {
	keys := make([]key, len(t.of))
	for i := range t.of {
		keys[i] = t.of[i].own()
	}
	return keys
}

func (t table[R]) sort(compare func(a, b key) int) {
	slices.SortStableFunc(t.of, func(a, b R) int { return compare(a.own(), b.own()) })
}

func (t table[R]) cells(layout string) (columns []string, lines [][]string) {
	columns = t.columns[layout]
	for i := range t.of {
		cells, line := t.of[i].cells(layout), make([]string, len(columns))
		for j, column := range columns {
			line[j] = cells[column]
		}
		lines = append(lines, line)
	}
	return columns, lines
}

func (t table[R]) wraps() bool { return t.wrap }

// The offerings of a scope, as tables show them. Of each object only a row is kept: schemas
// and defaults of many plans take much memory.
type offerings struct {
	classes   map[key]classRow
	plans     []planRow
	effective map[resolve.Ref]resolve.Rule
}

// loadClasses reads the classes that a query asks for.
func loadClasses(ctx context.Context, reader client.Reader, query catalog.Query, entry func(resolve.ClassEntry)) (map[key]classRow, error) {
	classes := map[key]classRow{}
	err := catalog.Classes(ctx, reader, query, func(class catalog.Class) error {
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

// loadOfferings reads the classes of a scope and its plans, and which plans are effective. Only
// the plans that are selected by their labels are kept; the others decide, too, what is effective.
func loadOfferings(ctx context.Context, reader client.Reader, scope cli.Scope, selected labels.Selector) (*offerings, error) {
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
	s := &offerings{}
	s.classes, err = loadClasses(ctx, reader, catalog.Query{Scope: scope}, func(class resolve.ClassEntry) { entries.Classes = append(entries.Classes, class) })
	if err != nil {
		return nil, err
	}
	err = catalog.Plans(ctx, reader, catalog.Query{Scope: scope}, func(plan catalog.Plan) error {
		if selected == nil || selected.Matches(labels.Set(plan.Object.GetLabels())) {
			s.plans = append(s.plans, planRowOf(plan))
		}
		// A plan that is neither recorded nor annotated is never effective.
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
		if err := catalog.AddClusterDefaults(ctx, reader, entries); err != nil {
			return nil, err
		}
	}
	s.effective = catalog.EffectivePlans(entries)
	for i := range s.plans {
		completePlan(&s.plans[i], s.classes, s.effective)
	}
	return s, nil
}

// offeringsOf are a plan and its class.
func offeringsOf(ctx context.Context, reader client.Reader, plan catalog.Plan) (*offerings, error) {
	class, err := catalog.ClassOfPlan(ctx, reader, plan)
	if client.IgnoreNotFound(err) != nil {
		return nil, err
	}
	s := &offerings{classes: map[key]classRow{}, plans: []planRow{planRowOf(plan)}}
	if err == nil {
		row := classRowOf(class)
		s.classes[row.key] = row
	}
	completePlan(&s.plans[0], s.classes, nil)
	s.effective, err = catalog.EffectivePlansOf(ctx, reader, plan.Object.GetNamespace(), s.plans[0].serviceType)
	if err != nil {
		return nil, err
	}
	completePlan(&s.plans[0], s.classes, s.effective)
	return s, nil
}
