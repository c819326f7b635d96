package get

import (
	"cmp"
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// An offerRow is a plan as `marketplace` shows it, below its class.
type offerRow struct {
	planRow

	// description is that of the class, as bindable is where the plan does not say.
	description string
	bindable    bool
}

// offerColumns are the columns of the marketplace in each layout.
var offerColumns = map[string][]string{
	layoutTable:  {"type", "class", "plans", "price", "bindable", "description"},
	layoutWide:   {"type", "class", "plans", "price", "bindable", "scope", "description"},
	layoutLegacy: {"class", "plans", "description"},
}

func (o offerRow) cells(layout string) map[string]string {
	return map[string]string{
		"type": o.typeCell(), "class": o.classTitle, "plans": o.title, "price": o.price, "bindable": yesNo(o.bindable),
		"scope": o.scope, "description": descriptionIn(layout, o.description),
	}
}

// An offerTable shows a class once, above its plans. Rows that are printed when they change
// have no row above, so each shows its class.
type offerTable struct {
	table[offerRow]

	alone bool
}

func (t offerTable) cells(layout string) (columns []string, lines [][]string) {
	columns, lines = t.table.cells(layout)
	for i := 1; i < len(lines) && !t.alone; i++ {
		if t.of[i].of() != t.of[i-1].of() {
			continue
		}
		for j, column := range columns {
			if column == "class" || column == "description" {
				lines[i][j] = ""
			}
		}
	}
	return columns, lines
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
		Long: `Show what can be ordered in a namespace: the classes and plans of the cluster, and
those of the current namespace or of the one that --namespace gives, without those
that their broker no longer offers. --cluster shows those of the cluster alone, and
--scope namespace those of the namespace alone.

A * behind a type marks the plan that an instance gets which asks for that type
alone. PRICE is what the broker says in the plan's metadata.costs, such as
"99.95 usd / MONTHLY"; a plan without costs is free if it says so, and else the
price is empty. A ? stands for costs that the broker wrote in another form than the
Open Service Broker API describes.

--selector is for the labels of plans, and --sort-by for a field of theirs. With -o json,
yaml, kyaml, name, a template or custom columns, the classes of these plans are
printed, and --sort-by is for a field of the classes.`,
		Example: `  svcat marketplace
  svcat marketplace --namespace dev
  svcat marketplace --all-namespaces
  svcat mp --type mysql
  svcat mp -l tier=gold --sort-by .spec.weight
  svcat mp --watch`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Usagef("%s takes no arguments, not %q", cmd.CommandPath(), args[0])
			}
			return nil
		},
	}, f.run)
	f.bindList(cmd)
	f.bindScope(cmd)
	f.bindFilter(cmd, "type", "", "Show the plans of this type only")
	return cmd
}

func (f *market) run(ctx context.Context, args []string) error {
	l := f.ofOffers(args)
	return l.show(ctx, f.loader(ctx, l))
}

// ofOffers is a run that lists plans or, as objects, their classes. Plans that cannot be
// ordered are left out, and so are classes without others.
func (f *market) ofOffers(args []string) *listing {
	l := f.listing("plans to order", "ServicePlan", "", args)
	// An instance may be of the cluster's plans in every namespace.
	l.where, l.command, l.resources, l.part = f.scope.Nearest, "svcat marketplace", "plans", true
	l.also = []string{"ServiceType", "ServiceClass"}
	if l.layout() == "" {
		l.kind, l.resources, l.also = "ServiceClass", "classes", []string{"ServiceType", "ServicePlan"}
		l.labels = nil // those of plans
	}
	return l
}

func (f *market) loader(ctx context.Context, l *listing) loader {
	return func(scope cli.Scope) (rows, error) {
		s, err := loadOfferings(ctx, l.client, scope, f.labels)
		if err != nil {
			return nil, err
		}
		offers := f.offers(s)
		if l.layout() == "" {
			return classesOf(offers, s), nil
		}
		return offerTable{table[offerRow]{offers, offerColumns, true}, f.watch}, nil
	}
}

// classesOf are the classes of offers.
func classesOf(offers []offerRow, s *offerings) rows {
	classes := table[classRow]{columns: classColumns}
	for i := range offers {
		if i == 0 || offers[i].of() != offers[i-1].of() {
			classes.of = append(classes.of, s.classes[offers[i].of()])
		}
	}
	return classes
}

// offers are the plans that can be ordered, one class after the other.
func (f *market) offers(s *offerings) []offerRow {
	plans := slices.DeleteFunc(s.plans, func(p planRow) bool {
		return p.status != catalog.Active || s.classes[p.of()].status != catalog.Active || !f.wants(p.serviceType, "", true)
	})
	slices.SortFunc(plans, func(a, b planRow) int {
		return cmp.Or(cmp.Compare(a.classTitle, b.classTitle), cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.class, b.class),
			cmp.Compare(a.title, b.title), cmp.Compare(a.name, b.name))
	})
	var offers []offerRow
	for i := range plans {
		class := s.classes[plans[i].of()]
		offer := offerRow{planRow: plans[i], description: class.description, bindable: class.bindable}
		if plans[i].bindable != nil {
			offer.bindable = *plans[i].bindable
		}
		offers = append(offers, offer)
	}
	return offers
}
