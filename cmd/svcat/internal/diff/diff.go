// Package diff has the command that shows what a manifest would change: diff.
package diff

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/files"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/manifest"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/termtext"
)

// The exit codes, which are those of kubectl diff.
const (
	exitChanges = 1
	exitFailed  = 2
)

const long = `Show what manifests would change if they were applied: in the object, at its broker
and in cost. Nothing is stored: the API server decides in a dry run, with its admission.

For each object that would change, lines that begin with # say what the broker would
be asked to do, which parameters change, by name, and what the plan costs before and
after. A unified diff follows: from what is stored to what
admission would store, without status. Values from Secrets are neither read nor
shown. IDs and other fields that differ with each write are left out.

It is compared as kubectl apply would apply the manifests, or with --server-side as
kubectl apply --server-side. Objects of other API groups are left out; kubectl diff
shows those. What the manifests create together is not seen in the dry run: a binding
to an instance that is new, too, shows as one that waits for it.

This needs the rights to get the objects, and to create or patch them.

Exit codes, as those of kubectl diff: 0 nothing changes, 1 something changes,
2 something is refused or cannot be read, or wrong usage.`

const example = `  svcat diff -f shop.yaml
  helm template mychart | svcat diff -f - -n shop
  svcat diff -R -f manifests/ --server-side`

// A command is one run of `svcat diff`.
type command struct {
	env     *cli.Env
	files   files.Files
	applier applier
}

// New returns the command `svcat diff`.
func New(env *cli.Env) *cobra.Command {
	c := &command{env: env}
	cmd := &cobra.Command{
		Use:               "diff -f FILE...",
		Short:             "Show what manifests would change: objects, calls to brokers, costs",
		Long:              long,
		Example:           example,
		Args:              cli.NoArguments("name files with -f"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return coded(c.run(cmd.Context())) },
	}
	flags := cmd.Flags()
	c.files.Bind(flags)
	flags.BoolVar(&c.applier.serverSide, "server-side", false, "Compare as kubectl apply --server-side applies")
	flags.StringVar(&c.applier.manager, "field-manager", "kubectl", "The field manager, with --server-side")
	flags.BoolVar(&c.applier.force, "force-conflicts", false, "Take over fields of other field managers, with --server-side")
	complete.Flags(cmd, nil, "field-manager")
	return cmd
}

// coded is an error with the exit code of kubectl diff: 1 is that of changes.
func coded(err error) error {
	if _, is := errors.AsType[*cli.Failure](err); is || err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return &cli.Failure{Code: exitFailed, Err: err}
}

func (c *command) run(ctx context.Context) error {
	if err := cli.InOrder(func() error { return c.files.Validate("diff") }, c.applier.validate); err != nil {
		return err
	}
	documents, err := c.files.Read(c.env)
	if err != nil {
		return err
	}
	if documents = c.ours(documents); len(documents) == 0 {
		return fmt.Errorf("there is no object of %s in the files", v1beta1.GroupName)
	}
	reader, err := c.env.Client()
	if err != nil {
		return err
	}
	c.applier.client = client.WithFieldValidation(client.NewDryRunClient(reader), metav1.FieldValidationStrict)
	var failures []error
	changes := false
	for i, d := range documents {
		changed, err := c.compare(ctx, reader, &d)
		changes = changes || changed
		if err == nil {
			continue
		}
		failures = append(failures, d.Fail(err))
		if _, unreachable := errors.AsType[*url.Error](err); unreachable || ctx.Err() != nil {
			// No other would fare better.
			if left := len(documents) - i - 1; left > 0 {
				_, _ = fmt.Fprintf(c.env.ErrOut, "not compared: %d more in the files\n", left)
			}
			break
		}
	}
	switch {
	case len(failures) > 0:
		return errors.Join(failures...)
	case changes:
		return &cli.Failure{Code: exitChanges}
	}
	return nil
}

// ours are the documents of the catalog's objects; those that are left out are told.
func (c *command) ours(documents []manifest.Document) []manifest.Document {
	others := map[string]int{}
	documents = slices.DeleteFunc(documents, func(d manifest.Document) bool {
		gvk := d.Object.GroupVersionKind()
		if gvk.Group == v1beta1.GroupName {
			return false
		}
		others[gvk.Kind]++
		return true
	})
	if len(others) > 0 {
		_, _ = fmt.Fprintf(c.env.ErrOut, "left out: %s\n", manifest.Counted(others))
	}
	return documents
}

// compare prints what one document would change, and says whether it is anything.
func (c *command) compare(ctx context.Context, reader client.Client, d *manifest.Document) (bool, error) {
	if err := c.place(reader, d.Object); err != nil {
		return false, err
	}
	stored, merged, err := c.applier.apply(ctx, d.Object)
	if err != nil {
		return false, err
	}
	text, err := unified(stored, merged)
	if err != nil || text == "" {
		return false, err
	}
	more, err := consequences(ctx, reader, stored, merged)
	if err != nil {
		return false, err
	}
	for _, line := range append([]string{title(stored, merged)}, more...) {
		// Names and messages of brokers make no line of their own, not in a file either.
		if _, err := fmt.Fprintf(c.env.Out, "# %s\n", termtext.Line(line)); err != nil {
			return true, fmt.Errorf("cannot write: %w", err)
		}
	}
	if _, err := fmt.Fprint(c.env.Out, text); err != nil {
		return true, fmt.Errorf("cannot write: %w", err)
	}
	return true, nil
}

// place puts an object into the namespace of the command, as kubectl does.
func (c *command) place(mapped client.Client, object *unstructured.Unstructured) error {
	if object.GetName() == "" {
		return fmt.Errorf("%s has no metadata.name: what has a generated name is created each time, and changes nothing; give it a name", object.GetKind())
	}
	namespaced, err := mapped.IsObjectNamespaced(object)
	if err != nil || !namespaced {
		return err
	}
	namespace, given, err := c.env.Namespace()
	switch at := object.GetNamespace(); {
	case err != nil:
		return err
	case at == "":
		object.SetNamespace(namespace)
	case given && at != namespace:
		return fmt.Errorf("%s %q is in namespace %q, and --namespace is %q: leave one of them out", object.GetKind(), object.GetName(), at, namespace)
	}
	return nil
}
