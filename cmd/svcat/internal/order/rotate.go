package order

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
)

// rotate is the command `rotate binding`.
type rotate struct {
	env   *cli.Env
	write cli.WriteFlags
	// overlap is below 0 where none was given.
	overlap time.Duration
}

// NewRotate returns the command `svcat rotate`.
func NewRotate(env *cli.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "rotate",
		Short:   "Have credentials be replaced by new ones",
		Example: "  svcat rotate binding mydb-admin",
	}
	cmd.AddCommand(newRotateBinding(env))
	return cmd
}

func newRotateBinding(env *cli.Env) *cobra.Command {
	r := &rotate{env: env}
	cmd := &cobra.Command{
		Use:     "binding NAME",
		Aliases: []string{"bindings", "bnd"},
		Short:   "Have the credentials of a binding be replaced by new ones now",
		Long: `Raise a binding's spec.rotation.requests: the Secret keeps its name and gets new
credentials, and the former ones are removed at the broker after the overlap. With
--overlap 0s they are removed at once, as for credentials that somebody else has seen.
svcat describe binding shows how it goes.`,
		Example: `  svcat rotate binding mydb-admin
  svcat rotate binding mydb-admin --overlap 0s`,
		Args:              cli.OneName("binding"),
		ValidArgsFunction: complete.Bindings(env),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.Untouched(r.run(cmd.Context(), args[0]))
		},
	}
	cmd.Flags().DurationVar(&r.overlap, "overlap", -1, "How long the former credentials stay valid, from now on; absent: as the binding says, or the controller")
	r.write.Bind(cmd.Flags())
	completions(cmd, nil)
	cmd.Flag("overlap").DefValue = ""
	return cmd
}

func (r *rotate) run(ctx context.Context, name string) error {
	if err := validated(r.write.Validate); err != nil {
		return err
	}
	namespace, _, err := r.env.Namespace()
	if err != nil {
		return err
	}
	c, err := r.env.Client()
	if err != nil {
		return err
	}
	binding, err := findBinding(ctx, c, namespace, name)
	if err != nil {
		return err
	}
	if rotation := binding.Spec.Rotation; rotation != nil && rotation.Policy == v1beta1.RotationNever {
		return cli.Usagef("%s keeps its credentials: its spec.rotation.policy is Never; take that away first", quoted("binding", name))
	}
	err = cli.Whole(ctx, quoted("binding", name)+" was asked to be rotated", func(ctx context.Context) error {
		return r.raise(ctx, c, binding)
	})
	if err != nil {
		return err
	}
	return r.write.Told(r.env, binding, "%s gets new credentials", quoted("binding", name))
}

// raise counts up by one what the binding has now, also if somebody else writes it at the
// same time.
func (r *rotate) raise(ctx context.Context, c client.Client, binding *v1beta1.ServiceBinding) error {
	first := true
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if !first {
			if err := c.Get(ctx, client.ObjectKeyFromObject(binding), binding); err != nil {
				return err
			}
		}
		first = false
		before := binding.DeepCopy()
		r.ask(binding)
		return r.write.Patch(ctx, c, binding, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	})
}

// ask is what a binding is asked.
func (r *rotate) ask(binding *v1beta1.ServiceBinding) {
	if binding.Spec.Rotation == nil {
		binding.Spec.Rotation = &v1beta1.Rotation{}
	}
	binding.Spec.Rotation.Requests++
	if r.overlap >= 0 {
		binding.Spec.Rotation.Overlap = &metav1.Duration{Duration: r.overlap}
	}
}
