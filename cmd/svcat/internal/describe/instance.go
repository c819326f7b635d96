package describe

import (
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
		Aliases: []string{"instances", "inst"},
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
		standing(head, instance)
		head.AddSet("Waits For Slot:", slot)
		head.AddSet("Operation:", string(instance.Status.CurrentOperation))
		head.AddSet("Next Retry:", moment(instance.Status.NextRetry))
	}
	if err := writeInstance(w, instance, class, plan, extra); err != nil {
		return err
	}
	var sent *runtime.RawExtension
	if state := instance.Status.ExternalProperties; state != nil {
		sent = state.Parameters
	}
	if err := writeOrigins(w, instance.Spec.Parameters, sent, record); err != nil {
		return err
	}
	if err := writeBindings(ctx, reader, w, instance); err != nil {
		return err
	}
	return writeConditions(w, instance.Status.Conditions)
}

// chosenBy is the rule that an instance's plan was chosen by, in words.
func chosenBy(rule, namespace, class string) string {
	if rule == ruleRestored {
		return "nobody, it came with its references"
	}
	return resolve.Rule(rule).Words(namespace, class)
}

// titles are the names of an instance's class and plan as the catalog has them now;
// what is gone, or may not be read, is called as the instance calls it.
func titles(ctx context.Context, reader client.Reader, instance *v1beta1.ServiceInstance) (class, plan string, err error) {
	class, plan = catalog.Ordered(instance)
	ref := &instance.Spec.DecidedReference
	for _, of := range []struct {
		title  *string
		name   string
		object client.Object
	}{
		{&class, name(ref.ClusterServiceClassRef), &v1beta1.ClusterServiceClass{}},
		{&class, name(ref.ServiceClassRef), &v1beta1.ServiceClass{}},
		{&plan, name(ref.ClusterServicePlanRef), &v1beta1.ClusterServicePlan{}},
		{&plan, name(ref.ServicePlanRef), &v1beta1.ServicePlan{}},
	} {
		if of.name == "" {
			continue
		}
		at := client.ObjectKey{Name: of.name}
		if namespaced(of.object) {
			at.Namespace = instance.Namespace
		}
		err := reader.Get(ctx, at, of.object)
		if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
			continue
		}
		if err != nil {
			return "", "", err
		}
		*of.title = title(of.object)
	}
	return class, plan, nil
}

func name[R *v1beta1.ClusterObjectReference | *v1beta1.LocalObjectReference](ref R) string {
	switch r := any(ref).(type) {
	case *v1beta1.ClusterObjectReference:
		if r != nil {
			return r.Name
		}
	case *v1beta1.LocalObjectReference:
		if r != nil {
			return r.Name
		}
	}
	return ""
}

func namespaced(object client.Object) bool {
	switch object.(type) {
	case *v1beta1.ServiceClass, *v1beta1.ServicePlan:
		return true
	}
	return false
}

func title(object client.Object) string {
	if class, ok := catalog.ClassOf(object); ok {
		return class.Title()
	}
	plan, _ := catalog.PlanOf(object)
	return plan.Title()
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
		rows = append(rows, []string{owner.Name, cmp.Or(v1beta1.LastConditionState(owner.Status.Conditions), pending)})
	}
	err = catalog.Pages(ctx, reader, &v1beta1.ServiceBindingList{}, func(object runtime.Object) error {
		binding, ok := object.(*v1beta1.ServiceBinding)
		if ok && binding.Spec.InstanceRef != nil && cmp.Or(binding.Spec.InstanceRef.Namespace, binding.Namespace) == instance.Namespace {
			rows = append(rows, []string{binding.Name, cmp.Or(v1beta1.LastConditionState(binding.Status.Conditions), pending)})
		}
		return nil
	}, client.InNamespace(instance.Namespace), client.MatchingFields{v1beta1.FieldInstanceRefName: instance.Name})
	if err != nil {
		return err
	}
	if err := writeHeading(w, "Bindings"); err != nil {
		return err
	}
	if len(rows) == 0 {
		return writeText(w, "No bindings defined\n")
	}
	slices.SortFunc(rows, slices.Compare)
	t := printer.New("name", "status")
	for _, row := range rows {
		t.Add(row...)
	}
	return t.Write(w)
}
