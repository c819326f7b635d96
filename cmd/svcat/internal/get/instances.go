package get

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/table"
)

// pending is the status of what no controller has seen yet.
const pending = "Pending"

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
		serviceType: instance.Spec.ServiceType, status: cmp.Or(v1beta1.LastConditionState(instance.Status.Conditions), pending),
		externalID: cmp.Or(instance.Status.ExternalID, instance.Spec.ExternalID), operation: string(instance.Status.CurrentOperation),
	}
	row.class, row.plan = catalog.Ordered(instance)
	row.classRef, row.planRef = catalog.DecidedNames(&instance.Spec.DecidedReference)
	if ready, ok := v1beta1.FindCondition(instance.Status.Conditions, v1beta1.ConditionReady); ok {
		row.message = ready.Message
	}
	return row
}

type instanceRows []instanceRow

func (r instanceRows) keys() []key { return keysOf(r) }

func (r instanceRows) fill(layout string) (t *table.Table, wrap bool) {
	switch layout {
	case layoutLegacy:
		t = table.New("name", "namespace", "class", "plan", "status")
		for i := range r {
			t.Add(r[i].name, r[i].namespace, r[i].class, r[i].plan, r[i].status)
		}
		return t, false
	case layoutWide:
		t = table.New("name", "namespace", "type", "class", "plan", "status", "operation", "external id", "message")
		for i := range r {
			t.Add(r[i].name, r[i].namespace, r[i].serviceType, r[i].class, r[i].plan, r[i].status, r[i].operation, r[i].externalID, short(r[i].message))
		}
		return t, false
	}
	t = table.New("name", "namespace", "type", "class", "plan", "status")
	for i := range r {
		t.Add(r[i].name, r[i].namespace, r[i].serviceType, r[i].class, r[i].plan, r[i].status)
	}
	return t, false
}

// claimFlags are those of `get instances` and `get bindings`.
type claimFlags struct {
	allNamespaces            bool
	out                      output
	serviceType, class, plan string
}

func (f *claimFlags) bind(cmd *cobra.Command, env *cli.Env) {
	cmd.Flags().BoolVarP(&f.allNamespaces, "all-namespaces", "A", false, "Look in every namespace")
	f.out.bind(cmd, env)
}

// where is the namespace to look in, or all of them.
func (f *claimFlags) where(env *cli.Env) (catalog.Place, error) {
	namespace, _, err := env.Namespace()
	if f.allNamespaces {
		namespace = ""
	}
	return catalog.Place{Namespaces: true, Namespace: namespace}, err
}

func newInstances(env *cli.Env) *cobra.Command {
	var f claimFlags
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
		RunE:              func(cmd *cobra.Command, args []string) error { return f.instances(cmd.Context(), env, args) },
	}
	f.bind(cmd, env)
	flags := cmd.Flags()
	flags.StringVar(&f.serviceType, "type", "", "List the instances of this type only")
	flags.StringVarP(&f.class, "class", "c", "", "List the instances of this class only")
	flags.StringVarP(&f.plan, "plan", "p", "", "List the instances of this plan only")
	completeFlags(cmd, env, "type", "class", "plan")
	return cmd
}

func (f *claimFlags) instances(ctx context.Context, env *cli.Env, args []string) error {
	place, err := f.where(env)
	if err != nil {
		return err
	}
	c, err := env.Client()
	if err != nil {
		return err
	}
	l := listing{output: f.out, place: place, plural: "instances", namespaced: "ServiceInstance"}
	l.by = names{serviceType: f.serviceType, class: f.class, plan: f.plan}
	l.named(args, f.allNamespaces)
	l.narrow("of type", f.serviceType)
	l.narrow("of class", f.class)
	l.narrow("of plan", f.plan)
	return l.show(ctx, func(place catalog.Place) (rows, error) {
		if l.one {
			instance, err := catalog.Instance(ctx, c, place.Namespace, args[0])
			if err != nil {
				return nil, err
			}
			row := instanceRowOf(instance)
			if f.wants(&row) {
				return instanceRows{row}, nil
			}
			return instanceRows{}, nil
		}
		return f.instanceRows(ctx, c, place, args)
	})
}

// instanceRows are those of the place that the flags, and a name, ask for.
func (f *claimFlags) instanceRows(ctx context.Context, reader client.Reader, place catalog.Place, names []string) (instanceRows, error) {
	options := []client.ListOption{client.InNamespace(place.Namespace)}
	if f.serviceType != "" {
		options = append(options, client.MatchingFields{v1beta1.FieldServiceType: f.serviceType})
	}
	var all instanceRows
	err := catalog.Pages(ctx, reader, &v1beta1.ServiceInstanceList{}, func(object runtime.Object) error {
		instance, ok := object.(*v1beta1.ServiceInstance)
		if !ok {
			return fmt.Errorf("cannot show a %T", object)
		}
		if row := instanceRowOf(instance); f.wants(&row) && (len(names) == 0 || row.name == names[0]) {
			all = append(all, row)
		}
		return nil
	}, options...)
	slices.SortFunc(all, func(a, b instanceRow) int {
		return cmp.Or(byType(a.serviceType, b.serviceType), cmp.Compare(a.class, b.class), cmp.Compare(a.name, b.name), cmp.Compare(a.namespace, b.namespace))
	})
	return all, err
}

func (f *claimFlags) wants(row *instanceRow) bool {
	return (f.serviceType == "" || row.serviceType == f.serviceType) && (f.class == "" || row.ofClass(f.class)) && (f.plan == "" || row.ofPlan(f.plan))
}

func (r *instanceRow) ofClass(name string) bool { return r.class == name || r.classRef == name }

// ofPlan says whether it is of the plan called so, which may be CLASS/PLAN.
func (r *instanceRow) ofPlan(name string) bool {
	class, plan, split := strings.Cut(name, "/")
	return r.plan == name || r.planRef == name || split && r.ofClass(class) && (r.plan == plan || r.planRef == plan)
}
