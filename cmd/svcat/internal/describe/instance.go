package describe

import (
	"cmp"
	"context"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/printer"
	"github.com/defaultplan/defaultplan/resolve"
)

func newInstance(env *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:     "instance NAME",
		Aliases: cli.Aliases("instance"),
		Short:   "Show an instance: its plan, its parameters and where they came from, its bindings",
		Example: `  svcat describe instance mydb
  svcat describe instance mydb --namespace shop`,
		Args:              oneName,
		ValidArgsFunction: complete.Instances(env),
		RunE: described(env, currentNamespace, func(finder catalog.Finder, ctx context.Context, name string) (*v1beta1.ServiceInstance, error) {
			return catalog.Instance(ctx, finder.Reader, finder.Scope.Namespace, name)
		}, describeInstance),
	}
}

func describeInstance(ctx context.Context, reader client.Reader, w io.Writer, instance *v1beta1.ServiceInstance) error {
	class, plan, err := titles(ctx, reader, instance)
	if err != nil {
		return err
	}
	slot, err := waitingInstance(instance).slot(ctx, reader)
	if err != nil {
		return err
	}
	controller, err := controllerOf(ctx, reader, &instance.Spec.DecidedReference, instance.Namespace)
	if err != nil {
		return err
	}
	record := applied(instance.Annotations)
	extra := func(head *printer.Pairs) {
		head.AddSet("Controller:", byController(controller, instance, instance.Status.ObservedGeneration, instance.Status.Conditions))
		head.AddSet("Chosen By:", chosenBy(record.Rule, instance.Namespace, class))
		head.AddSet("External ID:", cmp.Or(instance.Status.ExternalID, instance.Spec.ExternalID))
		addOwnership(head, instance)
		head.AddSet("Waits For Slot:", slot)
		head.AddSet("Operation:", string(instance.Status.CurrentOperation))
		head.AddSet("Next Retry:", moment(instance.Status.NextRetry))
	}
	var sent *runtime.RawExtension
	if state := instance.Status.ExternalProperties; state != nil {
		sent = state.Parameters
	}
	return cli.InOrder(
		func() error { return writeInstance(w, instance, class, plan, extra) },
		func() error { return writeOrigins(w, instance.Spec.Parameters, sent, record) },
		func() error { return writeBindings(ctx, reader, w, instance) },
		func() error { return writeConditions(w, instance.Status.Conditions) },
		func() error { return writeEvents(ctx, reader, w, instance) },
	)
}

// chosenBy is the rule that an instance's plan was chosen by, in words.
func chosenBy(rule, namespace, class string) string {
	if rule == ruleRestored {
		return "not chosen, it came with its references"
	}
	return resolve.Rule(rule).Words(namespace, class)
}

// titles are the names of an instance's class and plan as the catalog has them now; what is
// gone, or may not be read, is called as the instance calls it.
func titles(ctx context.Context, reader client.Reader, instance *v1beta1.ServiceInstance) (class, plan string, err error) {
	class, plan = catalog.ClassAndPlan(instance)
	decided, namespace := &instance.Spec.DecidedReference, instance.Namespace
	ofClass, ok, err := catalog.DecidedClass(ctx, reader, decided, namespace)
	if err != nil {
		return "", "", err
	}
	if ok {
		class = ofClass.Title()
	}
	ofPlan, ok, err := catalog.DecidedPlan(ctx, reader, decided, namespace)
	if err != nil {
		return "", "", err
	}
	if ok {
		plan = ofPlan.Title()
	}
	return class, plan, nil
}

// writeBindings writes the bindings of an instance that are in its namespace, the one
// whose own it is among them.
func writeBindings(ctx context.Context, reader client.Reader, w io.Writer, instance *v1beta1.ServiceInstance) error {
	var rows [][]string
	owner, err := catalog.OwnerOf(ctx, reader, instance)
	if err != nil {
		return err
	}
	if owner != nil {
		rows = append(rows, []string{owner.Name, catalog.Status(owner.Status.Conditions)})
	}
	err = catalog.Pages(ctx, reader, &v1beta1.ServiceBindingList{}, func(object runtime.Object) error {
		binding, ok := object.(*v1beta1.ServiceBinding)
		if ok && binding.Spec.InstanceRef != nil && cmp.Or(binding.Spec.InstanceRef.Namespace, binding.Namespace) == instance.Namespace {
			rows = append(rows, []string{binding.Name, catalog.Status(binding.Status.Conditions)})
		}
		return nil
	}, client.InNamespace(instance.Namespace), client.MatchingFields{v1beta1.FieldInstanceRefName: instance.Name})
	if err != nil {
		return err
	}
	return writeTable(w, "Bindings", sortedTable(rows, "name", "status"), "No bindings defined")
}
