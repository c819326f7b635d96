package describe

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/printer"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/termtext"
)

func newBinding(env *cli.Env) *cobra.Command {
	var showSecrets bool
	cmd := &cobra.Command{
		Use:     "binding NAME",
		Aliases: []string{"bindings", "bnd"},
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
		head.AddSet("Operation:", string(binding.Status.CurrentOperation))
		head.AddSet("Next Retry:", moment(binding.Status.NextRetry))
		head.AddSet("ConfigMap:", strings.Join(binding.Status.ConfigMaps, ", "))
		head.AddSet("Service:", binding.Status.Service)
	}
	if err := writeBinding(w, binding, instance, extra); err != nil {
		return err
	}
	record := applied(binding.Annotations)
	var sent *runtime.RawExtension
	if state := binding.Status.ExternalProperties; state != nil {
		sent = state.Parameters
	}
	if err := writeOrigins(w, binding.Spec.Parameters, sent, record); err != nil {
		return err
	}
	if err := writeTransforms(w, "Secret Transforms", binding.Spec.SecretTransforms, record.Transforms); err != nil {
		return err
	}
	if err := writeSecret(ctx, reader, w, binding, showSecrets); err != nil {
		return err
	}
	if err := writeCredentials(w, binding); err != nil {
		return err
	}
	if err := writePublished(ctx, reader, w, binding); err != nil {
		return err
	}
	if err := writeEndpoints(w, binding.Status.Endpoints); err != nil {
		return err
	}
	return writeConditions(w, binding.Status.Conditions)
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

// writeSecret writes the keys of the binding's Secret with their sizes, or values.
// Nothing is said of a Secret that is not there yet.
func writeSecret(ctx context.Context, reader client.Reader, w io.Writer, binding *v1beta1.ServiceBinding, values bool) error {
	secret := &corev1.Secret{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: binding.Namespace, Name: cmp.Or(binding.Spec.SecretName, binding.Name)}, secret)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if headErr := writeHeading(w, "Secret Data"); headErr != nil {
		return headErr
	}
	if apierrors.IsForbidden(err) {
		return writeText(w, "  you may not read the Secret\n")
	}
	if err != nil {
		return err
	}
	if values {
		return writeText(w, secretValues(secret.Data))
	}
	var list printer.Pairs
	for _, key := range slices.Sorted(maps.Keys(secret.Data)) {
		list.Add(key, fmt.Sprintf("%d bytes", len(secret.Data[key])))
	}
	return list.Write(w)
}

// secretValues are the values as they are, below each other; one of several lines
// goes below its key, and what is no text is shown in base64.
func secretValues(data map[string][]byte) string {
	keys := slices.Sorted(maps.Keys(data))
	widest := 0
	for _, key := range keys {
		widest = max(widest, len(key))
	}
	var text strings.Builder
	for _, key := range keys {
		value := strings.TrimRight(string(data[key]), "\n")
		switch {
		case !utf8.ValidString(value) || strings.ContainsFunc(value, isObeyed):
			value = base64.StdEncoding.EncodeToString(data[key]) + "   (base64)"
		case strings.Contains(value, "\n"):
			fmt.Fprintf(&text, "  %s\n%s", key, indented(indented(value)))
			continue
		}
		fmt.Fprintf(&text, "  %-*s   %s\n", widest, key, value)
	}
	return text.String()
}

// isObeyed says that a terminal would obey the letter; lines and tabs are text.
func isObeyed(r rune) bool { return r != '\n' && r != '\t' && !termtext.Rune(r) }
