package get

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
)

// A typeRow is a service type as tables show it: what the keeper last saw.
type typeRow struct {
	key

	created metav1.Time

	defaultPlan, suggested, scope, why string
	plans                              int32
	resolvable, effective              bool
	// suggests says that it is effective because of a suggestion.
	suggests bool
}

func typeRowOf(t catalog.Type) typeRow {
	row := typeRow{
		key: keyOf(t.Object), created: t.Object.GetCreationTimestamp(),
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

// typeColumns are the columns of types in each layout.
var typeColumns = map[string][]string{
	layoutTable:  {"type", "default", "suggested", "plans", "resolvable", "scope"},
	layoutWide:   {"type", "default", "suggested", "plans", "resolvable", "scope", "why", columnAge},
	layoutLegacy: {"type", "default", "suggested", "plans", "resolvable", "scope"},
}

func (t typeRow) cells(string) map[string]string {
	return map[string]string{
		"type": t.typeCell(), "default": t.defaultPlan, "suggested": t.suggested, "plans": strconv.Itoa(int(t.plans)),
		"resolvable": yesNo(t.resolvable), "scope": t.scope, "why": short(t.why), columnAge: age(t.created),
	}
}

// A typeList is one run of `get types`.
type typeList struct{ flags }

func newTypes(env *cli.Env) *cobra.Command {
	var f typeList
	cmd := f.command(env, &cobra.Command{
		Use:     "types [NAME]",
		Aliases: cli.Aliases("types"),
		Short:   "List service types with their default plans, or show one",
		Example: `  svcat get types
  svcat get types --default
  svcat get type mysql -o wide`,
		ValidArgsFunction: complete.Types(env),
	}, f.run)
	f.bindList(cmd)
	f.bindScope(cmd)
	cmd.Flags().BoolVar(&f.effective, "default", false, "List only types that have a default or suggested plan")
	return cmd
}

func (f *typeList) run(ctx context.Context, args []string) error {
	l := f.listing("types", "ServiceType", "with a default plan", args)
	return l.show(ctx, func(scope cli.Scope) (rows, error) {
		if l.one {
			t, err := catalog.Finder{Reader: l.client, Scope: scope}.Type(ctx, args[0])
			if err != nil {
				return nil, err
			}
			return f.kept(ctx, l.client, []typeRow{typeRowOf(t)})
		}
		var all []typeRow
		err := catalog.Types(ctx, l.client, catalog.Query{Scope: scope, Labels: f.labels}, func(t catalog.Type) error {
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
func (f *typeList) kept(ctx context.Context, reader client.Reader, all []typeRow) (rows, error) {
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
	kept := slices.DeleteFunc(all, func(row typeRow) bool { return f.effective && !row.effective })
	return table[typeRow]{of: kept, columns: typeColumns}, nil
}
