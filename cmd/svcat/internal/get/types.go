package get

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/table"
)

// A typeRow is a service type as tables show it: what the keeper last saw.
type typeRow struct {
	key

	standing, suggested, scope, why string
	plans                           int32
	resolvable, stands              bool
}

func typeRowOf(t catalog.Type) typeRow {
	row := typeRow{
		key:      key{t.Object.GetNamespace(), t.Object.GetName()},
		standing: t.Status.DefaultPlan, suggested: t.Status.SuggestedPlan, scope: scopeOf(t.Object.GetNamespace()),
		plans: t.Status.Plans, resolvable: t.Status.Resolvable,
	}
	for _, condition := range t.Status.Conditions {
		is := condition.Status == v1beta1.ConditionTrue
		switch condition.Type {
		case v1beta1.ConditionAmbiguous, v1beta1.ConditionNoDefault:
			if is {
				row.why = condition.Message
			}
		case v1beta1.ConditionDefaultPlan, v1beta1.ConditionSuggestedPlan:
			row.stands = row.stands || is && row.resolvable
		}
	}
	return row
}

// typeCell is the type, with a star where one of its plans stands for it.
func (t typeRow) typeCell() string {
	if t.stands {
		return t.name + "*"
	}
	return t.name
}

type typeRows []typeRow

func (r typeRows) keys() []key { return keysOf(r) }

func (r typeRows) fill(layout string) (t *table.Table, wrap bool) {
	columns := []string{"type", "default", "suggested", "plans", "resolvable", "scope"}
	if layout == layoutWide {
		columns = append(columns, "why")
	}
	t = table.New(columns...)
	for _, row := range r {
		t.Add(row.typeCell(), row.standing, row.suggested, strconv.Itoa(int(row.plans)), yesNo(row.resolvable), row.scope, row.why)
	}
	return t, false
}

// typeFlags are those of `get types`.
type typeFlags struct {
	place    cli.PlaceFlags
	out      output
	standing bool
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
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), env, args) },
	}
	f.place.Bind(cmd.Flags(), true)
	f.out.bind(cmd, env)
	cmd.Flags().BoolVar(&f.standing, "default", false, "List only types that have a default or suggested plan")
	completeFlags(cmd, env)
	return cmd
}

func (f *typeFlags) run(ctx context.Context, env *cli.Env, args []string) error {
	place, err := f.place.Place(env)
	if err != nil {
		return err
	}
	c, err := env.Client()
	if err != nil {
		return err
	}
	l := listing{output: f.out, place: place, plural: "types", cluster: "ClusterServiceType", namespaced: "ServiceType", one: len(args) == 1}
	if f.standing {
		l.narrow("with a", "default plan")
	}
	return l.show(ctx, func() (rows, error) {
		if l.one {
			t, err := catalog.Finder{Reader: c, Place: place}.Type(ctx, args[0])
			if err != nil {
				return nil, err
			}
			return typeRows{typeRowOf(t)}, nil
		}
		var all typeRows
		err := catalog.Types(ctx, c, catalog.Query{Place: place}, func(t catalog.Type) error {
			if row := typeRowOf(t); row.stands || !f.standing {
				all = append(all, row)
			}
			return nil
		})
		slices.SortFunc(all, func(a, b typeRow) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.scope, b.scope)) })
		return all, err
	})
}
