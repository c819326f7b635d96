package plans

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// printSwitched prints a plan as it is after a switch, or after a dry run as it would be.
func printSwitched(ctx context.Context, env *cli.Env, reader client.Reader, writes *cli.WriteFlags, object client.Object, isDefault bool) error {
	if writes.Output == "" {
		return nil
	}
	now, err := switched(ctx, reader, writes, object, isDefault)
	if err != nil {
		return err
	}
	return writes.Print(env, now)
}

func switched(ctx context.Context, reader client.Reader, writes *cli.WriteFlags, object client.Object, isDefault bool) (client.Object, error) {
	if writes.Stores() {
		now := blankOf(object)
		return now, reader.Get(ctx, client.ObjectKeyFromObject(object), now)
	}
	annotations := object.GetAnnotations()
	delete(annotations, v1beta1.AnnotationDefaultPlan)
	if isDefault {
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[v1beta1.AnnotationDefaultPlan] = "true"
	}
	object.SetAnnotations(annotations)
	return object, nil
}
