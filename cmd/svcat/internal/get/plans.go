package get

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/resolve"
)

// A planRow is a plan as tables show it.
type planRow struct {
	key

	created metav1.Time

	// class is the class's Kubernetes name, classTitle what people call it.
	title, serviceType, class, classTitle, broker, description, scope, status, attributes, price string
	weight                                                                                       int32
	bindable                                                                                     *bool
	free, effective                                                                              bool
}

func planRowOf(plan catalog.Plan) planRow {
	return planRow{
		key: keyOf(plan.Object), created: plan.Object.GetCreationTimestamp(),
		title: plan.Title(), serviceType: plan.Spec.ServiceType, class: plan.ClassName, classTitle: plan.ClassName, broker: plan.Broker,
		description: plan.Spec.Description, scope: plan.Scope(), status: plan.State(),
		attributes: plan.Attributes(), price: catalog.Price(&plan), bindable: plan.Spec.Bindable, weight: plan.Spec.Weight, free: plan.Spec.Free,
	}
}

// completePlan adds what the plan alone does not say: the class's name, its type where
// the plan has none, and whether it is the effective plan of its type.
func completePlan(p *planRow, classes map[key]classRow, effective map[resolve.Ref]resolve.Rule) {
	if class, ok := classes[p.of()]; ok {
		p.classTitle = class.title
		p.serviceType = cmp.Or(p.serviceType, class.serviceType)
	}
	_, p.effective = effective[resolve.Ref{Namespace: p.namespace, Name: p.name}]
}

// of is its class.
func (p planRow) of() key { return key{namespace: p.namespace, name: p.class} }

// typeCell is the type, with a star where the plan is effective.
func (p planRow) typeCell() string {
	if p.effective {
		return p.serviceType + "*"
	}
	return p.serviceType
}

// planColumns are the columns of plans in each layout.
var planColumns = map[string][]string{
	layoutTable:  {"type", "name", "class", "description", "scope"},
	layoutWide:   {"type", "name", "class", "description", "scope", "attributes", "weight", "price", "free", "status", "kubernetes name", columnAge},
	layoutLegacy: {"name", "namespace", "class", "description"},
}

func (p planRow) cells(layout string) map[string]string {
	return map[string]string{
		"type": p.typeCell(), "name": p.title, "namespace": p.namespace, "class": p.classTitle,
		"description": descriptionIn(layout, p.description), "scope": p.scope, "attributes": p.attributes, "price": p.price,
		"weight": strconv.Itoa(int(p.weight)), "free": yesNo(p.free), "status": p.status, "kubernetes name": p.name, columnAge: age(p.created),
	}
}

type planRows []planRow

func (r planRows) sort() planRows {
	slices.SortFunc(r, func(a, b planRow) int {
		return cmp.Or(byType(a.serviceType, b.serviceType), cmp.Compare(a.classTitle, b.classTitle),
			cmp.Compare(a.title, b.title), cmp.Compare(a.scope, b.scope), cmp.Compare(a.name, b.name))
	})
	return r
}

// A planList is one run of `get plans`.
type planList struct{ flags }

func newPlans(env *cli.Env) *cobra.Command {
	var f planList
	cmd := f.command(env, &cobra.Command{
		Use:     "plans [NAME | CLASS/PLAN]",
		Aliases: cli.Aliases("plans"),
		Short:   "List plans, or show one",
		Long: `List plans, or show one.

A * behind a type marks the plan that an instance gets which asks for that type
alone: its default plan or, while there is none, the one that a broker suggests.`,
		Example: `  svcat get plans
  svcat get plans --default
  svcat get plans --class azure-mysql -o wide
  svcat get plan azure-mysql/premium-p1
  svcat get plans --type mysql -o jsonpath='{.items[*].spec.externalName}'`,
		Args:              atMostOnePlan,
		ValidArgsFunction: complete.Plans(env),
	}, f.run)
	f.bindList(cmd)
	f.bindScope(cmd)
	f.bindFilter(cmd, "type", "", "List the plans of this type only")
	f.bindFilter(cmd, "class", "c", "List the plans of this class only")
	f.bindFilter(cmd, "broker", "b", "List the plans of this broker only")
	cmd.Flags().BoolVar(&f.effective, "default", false, "List only the plan of each type that stands for it: the default, or the suggested one while there is none")
	cmd.Flags().BoolVarP(&f.kubeName, "kube-name", "k", false, "Take names for Kubernetes names, not for external ones")
	return cmd
}

func (f *planList) run(ctx context.Context, args []string) error {
	l := f.ofPlans(args)
	return l.show(ctx, func(scope cli.Scope) (rows, error) {
		kept, err := f.rows(ctx, l, scope, args)
		return table[planRow]{kept, planColumns, true}, err
	})
}

// ofPlans is a run that lists plans. Their rows tell about types, with the star, and classes, too.
func (f *planList) ofPlans(args []string) *listing {
	l := f.listing("plans", "ServicePlan", "that stand for a type", args)
	l.also = []string{"ServiceType", "ServiceClass"}
	return l
}

func (f *planList) rows(ctx context.Context, l *listing, scope cli.Scope, args []string) (planRows, error) {
	if l.one {
		plan, err := catalog.Finder{Reader: l.client, Scope: scope, KubeName: f.kubeName}.Plan(ctx, f.class, args[0])
		if err != nil {
			return nil, err
		}
		s, err := offeringsOf(ctx, l.client, plan)
		if err != nil {
			return nil, err
		}
		// The class was found by its name, and with it the plan.
		return f.filtered(s.plans), nil
	}
	s, err := loadOfferings(ctx, l.client, scope, f.labels)
	if err != nil {
		return nil, err
	}
	return f.kept(s, scope)
}

// kept are the rows that the flags ask for. A class that does not exist is an error:
// it was a slip, and no empty list.
func (f *planList) kept(s *offerings, scope cli.Scope) (planRows, error) {
	if f.class != "" && !slices.ContainsFunc(slices.Collect(maps.Values(s.classes)), func(c classRow) bool { return c.called(f.class, f.kubeName) }) {
		unknown := &catalog.NameError{Kind: "class", Name: f.class, Where: scope.String()}
		for _, class := range s.classes {
			known := class.title
			if f.kubeName {
				known = class.name
			}
			unknown.Known = append(unknown.Known, known)
		}
		slices.Sort(unknown.Known)
		unknown.Known = slices.Compact(unknown.Known)
		return nil, unknown
	}
	return f.filtered(slices.DeleteFunc(s.plans, func(p planRow) bool {
		class := classRow{key: key{name: p.class}, title: p.classTitle}
		return f.class != "" && !class.called(f.class, f.kubeName)
	})).sort(), nil
}

// filtered are the plans that the flags beside --class ask for.
func (f *planList) filtered(plans []planRow) planRows {
	return slices.DeleteFunc(plans, func(p planRow) bool { return !f.wants(p.serviceType, p.broker, p.effective) })
}
