package get

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/printer"
)

// An instanceRow is an instance as tables show it.
type instanceRow struct {
	key

	serviceType, class, plan, status, externalID, operation, message string
	// classRef and planRef are Kubernetes names.
	classRef, planRef string
}

func instanceRowOf(instance *v1beta1.ServiceInstance) instanceRow {
	row := instanceRow{
		key:         key{instance.Namespace, instance.Name},
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

type instanceRows []instanceRow

func (r instanceRows) keys() []key { return keysOf(r) }

func (r instanceRows) fill(layout string) (t *printer.Table, wrap bool) {
	columns := map[string][]string{
		layoutTable:  {"name", "namespace", "type", "class", "plan", "status"},
		layoutWide:   {"name", "namespace", "type", "class", "plan", "status", "operation", "external id", "message"},
		layoutLegacy: {"name", "namespace", "class", "plan", "status"},
	}
	return filled(r, columns[layout], func(i *instanceRow) map[string]string {
		return map[string]string{
			"name": i.name, "namespace": i.namespace, "type": i.serviceType, "class": i.class, "plan": i.plan,
			"status": i.status, "operation": i.operation, "external id": i.externalID, "message": short(i.message),
		}
	}), false
}

// namespacedFlags are those of `get instances` and `get bindings`.
type namespacedFlags struct {
	allNamespaces            bool
	out                      output
	serviceType, class, plan string
}

func (f *namespacedFlags) bind(cmd *cobra.Command, env *cli.Env) {
	cmd.Flags().BoolVarP(&f.allNamespaces, "all-namespaces", "A", false, "Look in every namespace")
	f.out.bind(cmd, env)
}

// where is the namespace to look in, or all of them.
func (f *namespacedFlags) where(env *cli.Env) (cli.Scope, error) {
	namespace, _, err := env.Namespace()
	if f.allNamespaces {
		namespace = ""
	}
	return cli.Scope{Namespaces: true, Namespace: namespace}, err
}

func newInstances(env *cli.Env) *cobra.Command {
	var f namespacedFlags
	cmd := &cobra.Command{
		Use:     "instances [NAME]",
		Aliases: []string{"instance", "inst"},
		Short:   "List instances, or show one",
		Example: `  svcat get instances
  svcat get instances --all-namespaces --type mysql
  svcat get instances --class azure-mysql --plan premium-p1
  svcat get instance mydb -o yaml`,
		Args:              atMostOneName,
		ValidArgsFunction: complete.Instances(env),
		RunE:              func(cmd *cobra.Command, args []string) error { return f.instances(cmd.Context(), args) },
	}
	f.bind(cmd, env)
	flags := cmd.Flags()
	flags.StringVar(&f.serviceType, "type", "", "List the instances of this type only")
	flags.StringVarP(&f.class, "class", "c", "", "List the instances of this class only")
	flags.StringVarP(&f.plan, "plan", "p", "", "List the instances of this plan only")
	completeFlags(cmd, env, "type", "class", "plan")
	return cmd
}

func (f *namespacedFlags) instances(ctx context.Context, args []string) error {
	l := listing{output: f.out, where: f.where, plural: "instances", namespaced: "ServiceInstance"}
	l.by = names{serviceType: f.serviceType, class: f.class, plan: f.plan}
	l.named(args, f.allNamespaces)
	l.narrow("of type", f.serviceType)
	l.narrow("of class", f.class)
	l.narrow("of plan", f.plan)
	return l.show(ctx, func(scope cli.Scope) (rows, error) {
		if l.one {
			instance, err := catalog.Instance(ctx, l.client, scope.Namespace, args[0])
			if err != nil {
				return nil, err
			}
			row := instanceRowOf(instance)
			if f.wants(&row) {
				return instanceRows{row}, nil
			}
			return instanceRows{}, nil
		}
		return f.instanceRows(ctx, l.client, scope, args)
	})
}

// instanceRows are those of the scope that the flags, and a name, ask for.
func (f *namespacedFlags) instanceRows(ctx context.Context, reader client.Reader, scope cli.Scope, names []string) (instanceRows, error) {
	found := map[key]instanceRow{}
	each := func(object runtime.Object) error {
		instance, ok := object.(*v1beta1.ServiceInstance)
		if !ok {
			return fmt.Errorf("cannot show a %T", object)
		}
		if row := instanceRowOf(instance); f.wants(&row) && (len(names) == 0 || row.name == names[0]) {
			found[row.key] = row
		}
		return nil
	}
	for _, selected := range f.selections() {
		options := append([]client.ListOption{client.InNamespace(scope.Namespace)}, selected...)
		if err := catalog.Pages(ctx, reader, &v1beta1.ServiceInstanceList{}, each, options...); err != nil {
			return nil, err
		}
	}
	all := instanceRows(slices.Collect(maps.Values(found)))
	slices.SortFunc(all, func(a, b instanceRow) int {
		return cmp.Or(byType(a.serviceType, b.serviceType), cmp.Compare(a.class, b.class), cmp.Compare(a.name, b.name), cmp.Compare(a.namespace, b.namespace))
	})
	return all, nil
}

// selections have the API server leave out most instances that are not wanted. A type is the
// one that was asked for, or else the plan's, and one selector cannot ask for either.
func (f *namespacedFlags) selections() [][]client.ListOption {
	if f.serviceType == "" {
		return [][]client.ListOption{nil}
	}
	return [][]client.ListOption{
		{client.MatchingFields{v1beta1.FieldServiceType: f.serviceType}}, {client.MatchingFields{v1beta1.FieldStatusServiceType: f.serviceType}},
	}
}

func (f *namespacedFlags) wants(row *instanceRow) bool {
	return (f.serviceType == "" || row.serviceType == f.serviceType) && (f.class == "" || row.ofClass(f.class)) && (f.plan == "" || row.ofPlan(f.plan))
}

func (r *instanceRow) ofClass(name string) bool { return r.class == name || r.classRef == name }

// ofPlan says whether it is of the plan called so, which may be CLASS/PLAN.
func (r *instanceRow) ofPlan(name string) bool {
	class, plan, split := strings.Cut(name, "/")
	return r.plan == name || r.planRef == name || split && r.ofClass(class) && (r.plan == plan || r.planRef == plan)
}
