package get

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
)

// A bindingRow is a binding as tables show it.
type bindingRow struct {
	key

	created metav1.Time

	// of is the instance that it is bound to.
	of                                                 key
	serviceType, instance, status, secret, id, message string
}

func bindingRowOf(binding *v1beta1.ServiceBinding) bindingRow {
	row := bindingRow{
		key: keyOf(binding), created: binding.CreationTimestamp,
		serviceType: binding.Type(), status: catalog.Status(binding.Status.Conditions),
		secret: cmp.Or(binding.Spec.SecretName, binding.Name), id: cmp.Or(binding.Status.ExternalID, binding.Spec.ExternalID),
	}
	of := catalog.InstanceOf(binding)
	row.of, row.instance = key{namespace: of.Namespace, name: of.Name}, catalog.InstanceTitle(binding)
	if ready, ok := v1beta1.FindCondition(binding.Status.Conditions, v1beta1.ConditionReady); ok {
		row.message = ready.Message
	}
	return row
}

// bindingColumns are the columns of bindings in each layout.
var bindingColumns = map[string][]string{
	layoutTable:  {"name", "namespace", "type", "instance", "status", columnAge},
	layoutWide:   {"name", "namespace", "type", "instance", "status", "secret", "external id", "message", columnAge},
	layoutLegacy: {"name", "namespace", "instance", "status"},
}

func (b bindingRow) cells(string) map[string]string {
	return map[string]string{
		"name": b.name, "namespace": b.namespace, "type": b.serviceType, "instance": b.instance,
		"status": b.status, "secret": b.secret, "external id": b.id, "message": short(b.message), columnAge: age(b.created),
	}
}

// A bindingList is one run of `get bindings`.
type bindingList struct{ flags }

func newBindings(env *cli.Env) *cobra.Command {
	var f bindingList
	cmd := f.command(env, &cobra.Command{
		Use:     "bindings [NAME]",
		Aliases: cli.Aliases("bindings"),
		Short:   "List bindings, or show one",
		Example: `  svcat get bindings
  svcat get bindings --all-namespaces
  svcat get binding mydb-admin -o wide`,
		ValidArgsFunction: complete.Bindings(env),
	}, f.run)
	f.bindList(cmd)
	f.bindNamespaces(cmd)
	f.bindFilter(cmd, "type", "", "List the bindings of this type only: their own, or their instance's")
	return cmd
}

func (f *bindingList) run(ctx context.Context, args []string) error {
	l := f.namespaced("bindings", "ServiceBinding", args)
	return l.show(ctx, func(scope cli.Scope) (rows, error) {
		if !l.one {
			found, err := f.rows(ctx, l.client, scope, args)
			return table[bindingRow]{of: found, columns: bindingColumns}, err
		}
		binding, err := catalog.Binding(ctx, l.client, scope.Namespace, args[0])
		if err != nil {
			return nil, err
		}
		found := []bindingRow{bindingRowOf(binding)}
		if err := typed(ctx, l.client, &found[0]); err != nil || !f.wants(found[0].serviceType, "", true) {
			return table[bindingRow]{}, err
		}
		return table[bindingRow]{of: found, columns: bindingColumns}, nil
	})
}

// typed gives a binding its instance's type, if it has none of its own.
func typed(ctx context.Context, reader client.Reader, row *bindingRow) error {
	if row.serviceType != "" || row.of.name == "" {
		return nil
	}
	instance := &v1beta1.ServiceInstance{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: row.of.namespace, Name: row.of.name}, instance)
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return nil
	}
	row.serviceType = instance.Type()
	return err
}

// rows are those of the scope that the flags, and a name, ask for.
func (f *bindingList) rows(ctx context.Context, reader client.Reader, scope cli.Scope, names []string) ([]bindingRow, error) {
	types, err := typesOfInstances(ctx, reader, scope)
	if err != nil {
		return nil, err
	}
	var all []bindingRow
	err = catalog.Pages(ctx, reader, &v1beta1.ServiceBindingList{}, func(object runtime.Object) error {
		binding, ok := object.(*v1beta1.ServiceBinding)
		if !ok {
			return fmt.Errorf("cannot show a %T", object)
		}
		row := bindingRowOf(binding)
		row.serviceType = cmp.Or(row.serviceType, types[row.of])
		if f.wants(row.serviceType, "", true) && (len(names) == 0 || row.name == names[0]) {
			all = append(all, row)
		}
		return nil
	}, client.InNamespace(scope.Namespace), catalog.Selected(f.labels))
	slices.SortFunc(all, func(a, b bindingRow) int {
		return cmp.Or(byType(a.serviceType, b.serviceType), cmp.Compare(a.instance, b.instance), cmp.Compare(a.name, b.name), cmp.Compare(a.namespace, b.namespace))
	})
	return all, err
}

// typesOfInstances are the types of a scope's instances. Who may not read instances
// does without.
func typesOfInstances(ctx context.Context, reader client.Reader, scope cli.Scope) (map[key]string, error) {
	types := map[key]string{}
	err := catalog.Pages(ctx, reader, &v1beta1.ServiceInstanceList{}, func(object runtime.Object) error {
		if instance, ok := object.(*v1beta1.ServiceInstance); ok && instance.Type() != "" {
			types[key{namespace: instance.Namespace, name: instance.Name}] = instance.Type()
		}
		return nil
	}, client.InNamespace(scope.Namespace))
	if apierrors.IsForbidden(err) {
		return types, nil
	}
	return types, err
}
