package get

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
)

// An instanceRow is an instance as tables show it.
type instanceRow struct {
	key

	created metav1.Time

	serviceType, class, plan, status, externalID, operation, message string
	// classRef and planRef are Kubernetes names.
	classRef, planRef string
}

func instanceRowOf(instance *v1beta1.ServiceInstance) instanceRow {
	row := instanceRow{
		key: keyOf(instance), created: instance.CreationTimestamp,
		serviceType: instance.Type(), status: catalog.Status(instance.Status.Conditions),
		externalID: cmp.Or(instance.Status.ExternalID, instance.Spec.ExternalID), operation: string(instance.Status.CurrentOperation),
	}
	row.class, row.plan = catalog.ClassAndPlan(instance)
	row.classRef, row.planRef = catalog.DecidedNames(&instance.Spec.DecidedReference)
	if ready, ok := v1beta1.FindCondition(instance.Status.Conditions, v1beta1.ConditionReady); ok {
		row.message = ready.Message
	}
	return row
}

// instanceColumns are the columns of instances in each layout.
var instanceColumns = map[string][]string{
	layoutTable:  {"name", "namespace", "type", "class", "plan", "status", columnAge},
	layoutWide:   {"name", "namespace", "type", "class", "plan", "status", "operation", "external id", "message", columnAge},
	layoutLegacy: {"name", "namespace", "class", "plan", "status"},
}

func (r instanceRow) cells(string) map[string]string {
	return map[string]string{
		"name": r.name, "namespace": r.namespace, "type": r.serviceType, "class": r.class, "plan": r.plan,
		"status": r.status, "operation": r.operation, "external id": r.externalID, "message": short(r.message), columnAge: age(r.created),
	}
}

// An instanceList is one run of `get instances`.
type instanceList struct{ flags }

func newInstances(env *cli.Env) *cobra.Command {
	var f instanceList
	cmd := f.command(env, &cobra.Command{
		Use:     "instances [NAME]",
		Aliases: cli.Aliases("instances"),
		Short:   "List instances, or show one",
		Example: `  svcat get instances
  svcat get instances --all-namespaces --type mysql
  svcat get instances --class azure-mysql --plan premium-p1
  svcat get instance mydb -o yaml`,
		ValidArgsFunction: complete.Instances(env),
	}, f.run)
	f.bindList(cmd)
	f.bindNamespaces(cmd)
	f.bindFilter(cmd, "type", "", "List the instances of this type only")
	f.bindFilter(cmd, "class", "c", "List the instances of this class only")
	f.bindFilter(cmd, "plan", "p", "List the instances of this plan only")
	return cmd
}

func (f *instanceList) run(ctx context.Context, args []string) error {
	l := f.namespaced("instances", "ServiceInstance", args)
	return l.show(ctx, func(scope cli.Scope) (rows, error) {
		if !l.one {
			found, err := f.rows(ctx, l.client, scope, args)
			return table[instanceRow]{of: found, columns: instanceColumns}, err
		}
		instance, err := catalog.Instance(ctx, l.client, scope.Namespace, args[0])
		if err != nil {
			return nil, err
		}
		found := []instanceRow{instanceRowOf(instance)}
		if !f.wantsInstance(&found[0]) {
			found = nil
		}
		return table[instanceRow]{of: found, columns: instanceColumns}, nil
	})
}

// rows are those of the scope that the flags, and a name, ask for.
func (f *instanceList) rows(ctx context.Context, reader client.Reader, scope cli.Scope, names []string) ([]instanceRow, error) {
	found := map[key]instanceRow{}
	each := func(object runtime.Object) error {
		instance, ok := object.(*v1beta1.ServiceInstance)
		if !ok {
			return fmt.Errorf("cannot show a %T", object)
		}
		if row := instanceRowOf(instance); f.wantsInstance(&row) && (len(names) == 0 || row.name == names[0]) {
			found[row.key] = row
		}
		return nil
	}
	for _, selected := range f.selections() {
		options := append([]client.ListOption{client.InNamespace(scope.Namespace), catalog.Selected(f.labels)}, selected...)
		if err := catalog.Pages(ctx, reader, &v1beta1.ServiceInstanceList{}, each, options...); err != nil {
			return nil, err
		}
	}
	all := slices.Collect(maps.Values(found))
	slices.SortFunc(all, func(a, b instanceRow) int {
		return cmp.Or(byType(a.serviceType, b.serviceType), cmp.Compare(a.class, b.class), cmp.Compare(a.name, b.name), cmp.Compare(a.namespace, b.namespace))
	})
	return all, nil
}

// selections have the API server leave out most instances that are not wanted. A type is the
// one that was asked for, or else the plan's, and one selector cannot ask for either.
func (f *instanceList) selections() [][]client.ListOption {
	if f.serviceType == "" {
		return [][]client.ListOption{nil}
	}
	return [][]client.ListOption{
		{client.MatchingFields{v1beta1.FieldServiceType: f.serviceType}}, {client.MatchingFields{v1beta1.FieldStatusServiceType: f.serviceType}},
	}
}

func (f *instanceList) wantsInstance(row *instanceRow) bool {
	return f.wants(row.serviceType, "", true) && (f.class == "" || row.ofClass(f.class)) && (f.plan == "" || row.ofPlan(f.plan))
}

func (r instanceRow) ofClass(name string) bool { return r.class == name || r.classRef == name }

// ofPlan says whether it is of the plan called so, which may be CLASS/PLAN.
func (r instanceRow) ofPlan(name string) bool {
	class, plan, split := strings.Cut(name, "/")
	return r.plan == name || r.planRef == name || split && r.ofClass(class) && (r.plan == plan || r.planRef == plan)
}
