package get

import (
	"cmp"
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/printer"
)

// offers are plans as `marketplace` shows them: class by class.
type offers struct {
	plans   []planRow
	classes map[key]classRow
}

// keys are those of the classes.
func (o offers) keys() []key {
	var keys []key
	for i := range o.plans {
		if i == 0 || o.plans[i].of() != o.plans[i-1].of() {
			keys = append(keys, o.plans[i].of())
		}
	}
	return keys
}

func (o offers) fill(layout string) (t *printer.Table, wrap bool) {
	columns := []string{"type", "class", "plans", "description"}
	if layout == layoutLegacy {
		columns = columns[1:]
	}
	t = printer.New(columns...)
	for i := range o.plans {
		p := &o.plans[i]
		class, description := p.classTitle, descriptionIn(layout, o.classes[p.of()].description)
		if i > 0 && p.of() == o.plans[i-1].of() {
			class, description = "", ""
		}
		cells := []string{p.typeCell(), class, p.title, description}
		t.Add(cells[len(cells)-len(columns):]...)
	}
	return t, true
}

// A market is one run of `marketplace`.
type market struct{ flags }

// NewMarketplace returns the command `svcat marketplace`.
func NewMarketplace(env *cli.Env) *cobra.Command {
	var f market
	cmd := f.command(env, &cobra.Command{
		Use:     "marketplace",
		Aliases: []string{"mp"},
		Short:   "Show what there is to order: classes with their plans",
		Long: `Show what there is to order: classes with their plans, without those that their
broker no longer offers. A * behind a type marks the plan that an instance gets
which asks for that type alone. With -o, such as -o json, the classes are printed.`,
		Example: `  svcat marketplace
  svcat marketplace --all-namespaces
  svcat mp --type mysql`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Usagef("%s takes no arguments, not %q", cmd.CommandPath(), args[0])
			}
			return nil
		},
	}, f.run)
	f.bindScope(cmd)
	f.bindFilter(cmd, "type", "", "Show the plans of this type only")
	return cmd
}

func (f *market) run(ctx context.Context, args []string) error {
	l := f.listing("plans to order", "ServiceClass", "", args)
	return l.show(ctx, func(scope cli.Scope) (rows, error) {
		s, err := loadOfferings(ctx, l.client, scope)
		if err != nil {
			return nil, err
		}
		return f.offers(s), nil
	})
}

// offers are the plans that can be ordered, class by class.
func (f *market) offers(s *offerings) offers {
	plans := slices.DeleteFunc(s.plans, func(p planRow) bool {
		return p.status != catalog.Active || s.classes[p.of()].status != catalog.Active || !f.wants(p.serviceType, "", true)
	})
	slices.SortFunc(plans, func(a, b planRow) int {
		return cmp.Or(cmp.Compare(a.classTitle, b.classTitle), cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.class, b.class),
			cmp.Compare(a.title, b.title), cmp.Compare(a.name, b.name))
	})
	return offers{plans: plans, classes: s.classes}
}
