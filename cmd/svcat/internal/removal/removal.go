package removal

import (
	"context"
	"fmt"
	"maps"

	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// Flags are --abandon and --yes.
type Flags struct {
	Abandon, Yes bool
}

// Bind adds the flags.
func (f *Flags) Bind(flags *pflag.FlagSet) {
	flags.BoolVar(&f.Abandon, "abandon", false, "Delete it without a call to its broker: what exists there stays and is not removed, and you may be charged for it. For brokers that never answer")
	f.BindYes(flags)
}

// BindYes adds --yes alone.
func (f *Flags) BindYes(flags *pflag.FlagSet) {
	flags.BoolVarP(&f.Yes, "yes", "y", false, "Do not ask whether it is meant")
}

// Asks says whether Confirm asks. At a terminal it does so before everything is deleted, as far as
// --dry-run stores anything. Scripts delete unasked, as ever, but abandon nothing without --yes.
func (f *Flags) Asks(env *cli.Env, write *cli.WriteFlags) bool {
	return !f.Yes && write.Stores() && (f.Abandon || env.Interactive())
}

// Confirm asks whether the deletion is meant of what describes the objects.
func (f *Flags) Confirm(ctx context.Context, env *cli.Env, write *cli.WriteFlags, what string) error {
	if !f.Asks(env, write) {
		return nil
	}
	q := cli.Question{Text: "Delete " + what + "?"}
	if f.Abandon {
		q = cli.Question{
			Where: "--abandon", Instead: "add --yes if it is meant",
			Text: "Without a call to the broker, what exists there stays and is not removed, and you may be charged for it.\nDelete " + what + " without a call to the broker?",
		}
	}
	return q.Ask(ctx, env)
}

// Delete deletes an object, as far as --dry-run goes. An object to abandon is annotated
// first, since the controller calls the broker as soon as it is deleted; if the deletion
// then fails, the annotation is removed again. The object is left as it was last read.
func (f *Flags) Delete(ctx context.Context, c client.Client, write *cli.WriteFlags, object client.Object) error {
	if !f.Abandon {
		return write.Delete(ctx, c, object)
	}
	had := object.GetAnnotations()[v1beta1.AnnotationAbandon]
	if err := annotate(ctx, c, write, object, "true"); err != nil {
		return client.IgnoreNotFound(err)
	}
	err := write.Delete(ctx, c, object)
	if err == nil || had == "true" {
		return err
	}
	if undo := client.IgnoreNotFound(annotate(ctx, c, write, object, had)); undo != nil {
		return fmt.Errorf("%w; it is still annotated %s, which counts once it is deleted: cannot take that off: %w", err, v1beta1.AnnotationAbandon, undo)
	}
	return err
}

// annotate sets the annotation; an empty value removes it.
func annotate(ctx context.Context, c client.Client, write *cli.WriteFlags, object client.Object, value string) error {
	before, _ := object.DeepCopyObject().(client.Object)
	annotations := map[string]string{}
	maps.Copy(annotations, object.GetAnnotations())
	annotations[v1beta1.AnnotationAbandon] = value
	if value == "" {
		delete(annotations, v1beta1.AnnotationAbandon)
	}
	object.SetAnnotations(annotations)
	return write.Patch(ctx, c, object, client.MergeFrom(before))
}

// Outcome is the sentence about a deleted object. That of the retired svcat was printed
// once the object was gone; until done, it goes on: an instance that has bindings waits for them.
func Outcome(object client.Object, done bool, bindings int) string {
	switch {
	case done:
		return "deleted " + object.GetName()
	case bindings > 0:
		return object.GetName() + " will be deleted when its bindings are"
	}
	return "deleted " + object.GetName() + ": its broker is being asked to remove it"
}
