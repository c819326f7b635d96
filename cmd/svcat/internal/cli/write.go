package cli

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// fieldOwner is the field manager of svcat's writes.
const fieldOwner = client.FieldOwner("svcat")

// The values of --dry-run.
const (
	dryRunNone   = "none"
	dryRunClient = "client"
	dryRunServer = "server"
)

// WriteFlags are those of every command that writes: --dry-run and -o.
type WriteFlags struct {
	// DryRun is none, client (nothing is sent) or server (admission decides, nothing
	// is stored).
	DryRun string
	// Output is empty for sentences, or yaml, json or name for the object as it is
	// now, or would be.
	Output string
}

// Bind adds the flags.
func (w *WriteFlags) Bind(flags *pflag.FlagSet) {
	flags.StringVar(&w.DryRun, "dry-run", dryRunNone, "none, client (send nothing) or server (ask admission, store nothing)")
	flags.Lookup("dry-run").NoOptDefVal = dryRunClient
	flags.StringVarP(&w.Output, "output", "o", "", "Print the object instead of sentences: yaml, json or name")
}

// Validate says which flag has a value that is not allowed.
func (w *WriteFlags) Validate() error {
	switch w.DryRun {
	case "", dryRunNone, dryRunClient, dryRunServer:
	default:
		return Usagef("--dry-run is %q; allowed are none, client and server", w.DryRun)
	}
	if _, err := w.printer(); err != nil {
		return err
	}
	return nil
}

// Stores says that what is written will be stored.
func (w *WriteFlags) Stores() bool { return w.DryRun == "" || w.DryRun == dryRunNone }

// Sends says that something is sent to the API server.
func (w *WriteFlags) Sends() bool { return w.DryRun != dryRunClient }

// Create creates an object, as far as --dry-run goes; object is then as the API
// server has it.
func (w *WriteFlags) Create(ctx context.Context, c client.Client, object client.Object) error {
	if !w.Sends() {
		return nil
	}
	options := []client.CreateOption{fieldOwner}
	if !w.Stores() {
		options = append(options, client.DryRunAll)
	}
	return c.Create(ctx, object, options...)
}

// Patch is as Create. A patch is never forced over what another client wrote since
// it was made if it holds a resourceVersion.
func (w *WriteFlags) Patch(ctx context.Context, c client.Client, object client.Object, patch client.Patch) error {
	if !w.Sends() {
		return nil
	}
	options := []client.PatchOption{fieldOwner}
	if !w.Stores() {
		options = append(options, client.DryRunAll)
	}
	return c.Patch(ctx, object, patch, options...)
}

// Delete is as Create; what is gone already is deleted.
func (w *WriteFlags) Delete(ctx context.Context, c client.Client, object client.Object) error {
	if !w.Sends() {
		return nil
	}
	var options []client.DeleteOption
	if !w.Stores() {
		options = append(options, client.DryRunAll)
	}
	return client.IgnoreNotFound(c.Delete(ctx, object, options...))
}

// Report prints the object if -o asks for it, else the sentence; a dry run says that
// it was one.
func (w *WriteFlags) Report(env *Env, object client.Object, format string, args ...any) error {
	if w.Output != "" {
		return w.Print(env, object)
	}
	return w.Say(env, format, args...)
}

// Say prints a sentence; a dry run says that it was one. With -o it says nothing.
func (w *WriteFlags) Say(env *Env, format string, args ...any) error {
	if w.Output != "" {
		return nil
	}
	sentence := fmt.Sprintf(format, args...)
	if !w.Stores() {
		sentence += " (" + w.DryRun + " dry run)"
	}
	_, err := fmt.Fprintln(env.Out, sentence)
	return err
}

// Print prints an object as -o asks. Managed fields are left out, as kubectl does.
func (w *WriteFlags) Print(env *Env, object client.Object) error {
	printer, err := w.printer()
	if err != nil {
		return err
	}
	scheme, err := Scheme()
	if err != nil {
		return err
	}
	kind, err := apiutil.GVKForObject(object, scheme)
	if err != nil {
		return fmt.Errorf("cannot print %T: %w", object, err)
	}
	object.GetObjectKind().SetGroupVersionKind(kind)
	return (&printers.OmitManagedFieldsPrinter{Delegate: printer}).PrintObj(object, env.Out)
}

func (w *WriteFlags) printer() (printers.ResourcePrinter, error) {
	switch w.Output {
	case "":
		return printers.NewDiscardingPrinter(), nil
	case "yaml":
		return &printers.YAMLPrinter{}, nil
	case "json":
		return &printers.JSONPrinter{}, nil
	case "name":
		return &printers.NamePrinter{ShortOutput: true}, nil
	}
	return nil, Usagef("--output is %q; allowed are yaml, json and name", w.Output)
}

// IsConflict says that another client wrote the object in between.
func IsConflict(err error) bool { return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) }
