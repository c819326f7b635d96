package order

import (
	"context"
	"fmt"
	"maps"

	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// A farewell is how deprovision and unbind let go: --abandon and --yes.
type farewell struct {
	abandon, yes bool
}

func (f *farewell) bind(flags *pflag.FlagSet) {
	flags.BoolVar(&f.abandon, "abandon", false, "Let it go without asking its broker: what is there stays, nobody removes it, and you may be charged for it. For brokers that never answer")
	flags.BoolVarP(&f.yes, "yes", "y", false, "Do not ask whether --abandon is meant")
}

// confirm asks, before anything is abandoned, whether that is meant.
func (f *farewell) confirm(ctx context.Context, env *cli.Env, write *cli.WriteFlags, what string) error {
	if !f.abandon || f.yes || !write.Stores() {
		return nil
	}
	q := cli.Question{
		Where: "--abandon", Instead: "add --yes if it is meant",
		Text: what + " will be let go without asking the broker. What is there stays; nobody removes it, and you may be charged for it.",
	}
	return q.Ask(ctx, env)
}

// remove deletes an object, as --dry-run allows. One that is abandoned is marked
// first, since its deletion would have its broker asked at once; if it cannot be
// deleted then, the mark is taken off. It ends with the object as it was last seen.
func (f *farewell) remove(ctx context.Context, c client.Client, write *cli.WriteFlags, object client.Object) error {
	if !f.abandon {
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

// annotate writes the mark; an empty value takes it off.
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
