package ui

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/remedy"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/rights"
	"github.com/defaultplan/defaultplan/resolve"
)

// An offer is a plan as a table shows it.
type offer struct {
	// Link is the address of the plan's page.
	Link string
	// Class, Plan and Type are the names that people use; Scope is svcat's column.
	Class, Plan, Type, Scope string
	Description, Attributes  string
	Costs                    []string
	Free                     bool
	Bindable, Updatable      bool
	// Fate is what became of it where a type was asked for: "chosen".
	Fate string

	ref resolve.Ref
}

// An offerTable is a table of plans; Types says that it tells their types.
type offerTable struct {
	Rows  []offer
	Types bool
}

// The scopes in addresses.
const (
	ofCluster   = "cluster"
	ofNamespace = "namespace"
)

// plansPath is below which the pages of plans are.
const plansPath = "/plans/"

// pathOf is the path of a plan's page.
func pathOf(plan resolve.Ref) string {
	return plansPath + v1beta1.PerScope(plan.Namespace, ofCluster, ofNamespace) + "/" + url.PathEscape(plan.Name)
}

// A market reads the catalog that an instance in a namespace chooses from: the cluster's, and
// the namespace's own.
type market struct {
	reader client.Reader
	place
}

// offerOf is a plan of a class as a table shows it.
func (m market) offerOf(class *catalog.Class, plan *catalog.Plan) offer {
	row := offer{
		Class: plan.ClassName, Plan: plan.Title(), Type: plan.Spec.ServiceType, Scope: plan.Scope(),
		Description: plan.Spec.Description, Attributes: plan.Attributes(), Costs: catalog.Costs(plan), Free: plan.Spec.Free,
		ref: catalog.RefOf(plan.Object),
	}
	row.Link = m.Link(pathOf(row.ref))
	if class != nil {
		row.Class, row.Type = class.Title(), cmp.Or(row.Type, class.Spec.ServiceType)
		row.Bindable, row.Updatable = class.Spec.Bindable, class.Spec.PlanUpdatable
	}
	if plan.Spec.Bindable != nil {
		row.Bindable = *plan.Spec.Bindable
	}
	if plan.Spec.PlanUpdatable != nil {
		row.Updatable = *plan.Spec.PlanUpdatable
	}
	return row
}

// list are the plans that an instance in the namespace could have, those of the
// cluster and its own, by class and name; of one type if that is not empty. Plans that
// their broker no longer offers are left out. denied are the lists that the user may
// not read.
func (m market) list(ctx context.Context, serviceType string) (rows []offer, denied, err error) {
	classes := map[resolve.Ref]catalog.Class{}
	var plans []catalog.Plan
	for _, scope := range (cli.Scope{Cluster: true, Namespaces: true, Namespace: m.namespace}).Split() {
		err := errors.Join(
			catalog.Classes(ctx, m.reader, catalog.Query{Scope: scope}, func(class catalog.Class) error {
				classes[catalog.RefOf(class.Object)] = class
				return nil
			}),
			catalog.Plans(ctx, m.reader, catalog.Query{Scope: scope}, func(plan catalog.Plan) error {
				// What a page of one plan shows: there may be thousands.
				plan.Spec.InstanceCreateParameterSchema, plan.Spec.InstanceUpdateParameterSchema = nil, nil
				plan.Spec.ServiceBindingCreateParameterSchema = nil
				plans = append(plans, plan)
				return nil
			}),
		)
		if _, all := rights.MissingIn(err); err != nil && !all {
			return nil, nil, err
		}
		denied = errors.Join(denied, err)
	}
	for i := range plans {
		plan := &plans[i]
		class, ok := classes[resolve.Ref{Namespace: plan.Object.GetNamespace(), Name: plan.ClassName}]
		if plan.State() != catalog.Active || ok && class.State() != catalog.Active {
			continue
		}
		row := m.offerOf(nil, plan)
		if ok {
			row = m.offerOf(&class, plan)
		}
		if serviceType == "" || row.Type == serviceType {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b offer) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Plan, b.Plan), cmp.Compare(a.Link, b.Link))
	})
	return rows, denied, nil
}

// isUnknown says that an error is about a name that nothing has.
func isUnknown(err error) bool {
	unknown, ok := errors.AsType[*catalog.NameError](err)
	return ok && len(unknown.Fits) == 0 || apierrors.IsNotFound(err) && !remedy.IsNotInstalled(err)
}
