package get

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/printer"
)

// A typeRow is a service type as tables show it: what the keeper last saw.
type typeRow struct {
	key

	defaultPlan, suggested, scope, why string
	plans                              int32
	resolvable, effective              bool
	// suggests says that it is effective because of a suggestion.
	suggests bool
}

func typeRowOf(t catalog.Type) typeRow {
	row := typeRow{
		key:         key{t.Object.GetNamespace(), t.Object.GetName()},
		defaultPlan: t.Status.DefaultPlan, suggested: t.Status.SuggestedPlan, scope: t.Scope(),
		plans: t.Status.Plans, resolvable: t.Status.Resolvable,
	}
	is := map[string]bool{}
	for _, condition := range t.Status.Conditions {
		is[condition.Type] = condition.Status == v1beta1.ConditionTrue
		why := condition.Type == v1beta1.ConditionAmbiguous || condition.Type == v1beta1.ConditionNoDefault
		if why && is[condition.Type] {
			row.why = condition.Message
		}
	}
	row.effective = row.resolvable && (is[v1beta1.ConditionDefaultPlan] || is[v1beta1.ConditionSuggestedPlan])
	row.suggests = row.effective && !is[v1beta1.ConditionDefaultPlan]
	return row
}

// typeCell is the type, with a star where it has an effective plan.
func (t typeRow) typeCell() string {
	if t.effective {
		return t.name + "*"
	}
	return t.name
}

type typeRows []typeRow

func (r typeRows) keys() []key { return keysOf(r) }

func (r typeRows) fill(layout string) (t *printer.Table, wrap bool) {
	columns := []string{"type", "default", "suggested", "plans", "resolvable", "scope"}
	if layout == layoutWide {
		columns = append(columns, "why")
	}
	t = printer.New(columns...)
	for _, row := range r {
		t.Add(row.typeCell(), row.defaultPlan, row.suggested, strconv.Itoa(int(row.plans)), yesNo(row.resolvable), row.scope, short(row.why))
	}
	return t, false
}

// typeFlags are those of `get types`.
type typeFlags struct {
	scope     cli.ScopeFlags
	out       output
	effective bool
}

func newTypes(env *cli.Env) *cobra.Command {
	var f typeFlags
	cmd := &cobra.Command{
		Use:     "types [NAME]",
		Aliases: []string{"type"},
		Short:   "List service types with their default plans, or show one",
		Example: `  svcat get types
  svcat get types --default
  svcat get type mysql -o wide`,
		Args:              atMostOneName,
		ValidArgsFunction: complete.Types(env),
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), args) },
	}
	f.scope.Bind(cmd.Flags(), true)
	f.out.bind(cmd, env)
	cmd.Flags().BoolVar(&f.effective, "default", false, "List only types that have a default or suggested plan")
	completeFlags(cmd, env)
	return cmd
}

func (f *typeFlags) run(ctx context.Context, args []string) error {
	l := listing{output: f.out, where: f.scope.Resolve, plural: "types", cluster: "ClusterServiceType", namespaced: "ServiceType"}
	l.named(args, false)
	if l.effective = f.effective; l.effective {
		l.narrow("with a", "default plan")
	}
	return l.show(ctx, func(scope cli.Scope) (rows, error) {
		if l.one {
			t, err := catalog.Finder{Reader: l.client, Scope: scope}.Type(ctx, args[0])
			if err != nil {
				return nil, err
			}
			return f.kept(ctx, l.client, typeRows{typeRowOf(t)})
		}
		var all typeRows
		err := catalog.Types(ctx, l.client, catalog.Query{Scope: scope}, func(t catalog.Type) error {
			all = append(all, typeRowOf(t))
			return nil
		})
		if err != nil {
			return nil, err
		}
		slices.SortFunc(all, func(a, b typeRow) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.scope, b.scope)) })
		return f.kept(ctx, l.client, all)
	})
}

// kept are the rows that the flags ask for. A namespace's suggested plan is not effective
// where the cluster has a default.
func (f *typeFlags) kept(ctx context.Context, reader client.Reader, all typeRows) (typeRows, error) {
	suggested := func(row typeRow) bool { return row.suggests && row.namespace != "" }
	var doubtful []string
	for _, row := range all {
		if suggested(row) {
			doubtful = append(doubtful, row.name)
		}
	}
	slices.Sort(doubtful)
	overruled, err := catalog.Overruled(ctx, reader, slices.Compact(doubtful)...)
	if err != nil {
		return nil, err
	}
	for i, row := range all {
		all[i].effective = row.effective && (!suggested(row) || !overruled[row.name])
	}
	return slices.DeleteFunc(all, func(row typeRow) bool { return f.effective && !row.effective }), nil
}
