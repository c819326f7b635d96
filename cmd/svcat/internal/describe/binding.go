package describe

import (
	"cmp"
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/printer"
)

func newBinding(env *cli.Env) *cobra.Command {
	var showSecrets bool
	cmd := &cobra.Command{
		Use:     "binding NAME",
		Aliases: cli.Aliases("binding"),
		Short:   "Show a binding: its parameters and where they came from, and its Secret",
		Example: `  svcat describe binding mydb-admin
  svcat describe binding mydb-admin --show-secrets`,
		Args:              oneName,
		ValidArgsFunction: complete.Bindings(env),
		RunE: described(env, currentNamespace, func(finder catalog.Finder, ctx context.Context, name string) (*v1beta1.ServiceBinding, error) {
			return catalog.Binding(ctx, finder.Reader, finder.Scope.Namespace, name)
		}, func(ctx context.Context, reader client.Reader, w io.Writer, binding *v1beta1.ServiceBinding) error {
			return describeBinding(ctx, reader, w, binding, showSecrets)
		}),
	}
	cmd.Flags().BoolVar(&showSecrets, "show-secrets", false, "Show the values of the Secret, not only their sizes")
	return cmd
}

func describeBinding(ctx context.Context, reader client.Reader, w io.Writer, binding *v1beta1.ServiceBinding, showSecrets bool) error {
	instance, err := boundTo(ctx, reader, binding)
	if err != nil {
		return err
	}
	slot, err := waitingBinding(binding, instance).slot(ctx, reader)
	if err != nil {
		return err
	}
	decided, namespace := &binding.Spec.DecidedReference, binding.Namespace
	if instance != nil {
		decided, namespace = &instance.Spec.DecidedReference, instance.Namespace
	}
	controller, err := controllerOf(ctx, reader, decided, namespace)
	if err != nil {
		return err
	}
	extra := func(head *printer.Pairs) {
		head.AddSet("Controller:", byController(controller, binding, binding.Status.ObservedGeneration, binding.Status.Conditions))
		head.AddSet("Waits For Slot:", slot)
		head.AddSet("External ID:", cmp.Or(binding.Status.ExternalID, binding.Spec.ExternalID))
		head.AddSet("Adopted:", adoptions[catalog.OfBinding(binding)])
		head.AddSet("Operation:", string(binding.Status.CurrentOperation))
		head.AddSet("Next Retry:", moment(binding.Status.NextRetry))
		head.AddSet("ConfigMap:", strings.Join(binding.Status.ConfigMaps, ", "))
		head.AddSet("Service:", binding.Status.Service)
	}
	record := applied(binding.Annotations)
	var sent *runtime.RawExtension
	if state := binding.Status.ExternalProperties; state != nil {
		sent = state.Parameters
	}
	return cli.InOrder(
		func() error { return writeBinding(w, binding, instance, extra) },
		func() error { return writeOrigins(w, binding.Spec.Parameters, sent, record) },
		func() error {
			return writeTransforms(w, "Secret Transforms", binding.Spec.SecretTransforms, record.Transforms)
		},
		func() error { return writeSecret(ctx, reader, w, binding, showSecrets) },
		func() error { return writeCredentials(w, binding) },
		func() error { return writePublished(ctx, reader, w, binding) },
		func() error { return writeEndpoints(w, binding.Status.Endpoints) },
		func() error { return writeConditions(w, binding.Status.Conditions) },
		func() error { return writeEvents(ctx, reader, w, binding) },
	)
}

// boundTo is the instance of a binding; nil where there is none, or none to be read.
func boundTo(ctx context.Context, reader client.Reader, binding *v1beta1.ServiceBinding) (*v1beta1.ServiceInstance, error) {
	instance := &v1beta1.ServiceInstance{}
	err := reader.Get(ctx, binding.InstanceKey(), instance)
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return nil, nil
	}
	return instance, err
}
