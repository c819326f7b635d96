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

	// class is the class's name, and description what it is; empty below its first plan.
	class, description string
	bindable           bool
}

// own is the class, which is what is printed as an object.
func (o offerRow) own() key { return o.of() }

// offerColumns are the columns of the marketplace in each layout.
var offerColumns = map[string][]string{
	layoutTable:  {"type", "class", "plans", "price", "bindable", "description"},
	layoutWide:   {"type", "class", "plans", "price", "bindable", "scope", "description"},
	layoutLegacy: {"class", "plans", "description"},
}

func (o offerRow) cells(layout string) map[string]string {
	return map[string]string{
		"type": o.typeCell(), "class": o.class, "plans": o.title, "price": o.price, "bindable": yesNo(o.bindable),
		"scope": o.scope, "description": descriptionIn(layout, o.description),
	}
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

With -o, such as -o json, the classes are printed.`,
		Example: `  svcat marketplace
  svcat marketplace --namespace dev
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
	// An instance may be of the cluster's plans in every namespace.
	l.where, l.command = f.scope.Nearest, "svcat marketplace"
	return l.show(ctx, func(scope cli.Scope) (rows, error) {
		s, err := loadOfferings(ctx, l.client, scope, nil)
		if err != nil {
			return nil, err
		}
		return table[offerRow]{f.offers(s), offerColumns, true}, nil
	})
}

// offers are the plans that can be ordered, class by class.
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
		offer := offerRow{planRow: plans[i], bindable: class.bindable}
		if plans[i].bindable != nil {
			offer.bindable = *plans[i].bindable
		}
		if i == 0 || plans[i].of() != plans[i-1].of() {
			offer.class, offer.description = plans[i].classTitle, class.description
		}
		offers = append(offers, offer)
	}
	return offers
}
