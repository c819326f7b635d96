package order

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
)

// rotate is the command `rotate binding`.
type rotate struct {
	env     *cli.Env
	write   cli.WriteFlags
	overlap time.Duration
	// saysOverlap says that --overlap was given, be it as 0s.
	saysOverlap bool
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
--overlap 0s they are removed at once, as for credentials that leaked.
svcat describe binding shows how it goes.`,
		Example: `  svcat rotate binding mydb-admin
  svcat rotate binding mydb-admin --overlap 0s`,
		Args:              cli.OneName("binding"),
		ValidArgsFunction: complete.Bindings(env),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.saysOverlap = cmd.Flags().Changed("overlap")
			return cli.Untouched(r.run(cmd.Context(), args[0]))
		},
	}
	cmd.Flags().DurationVar(&r.overlap, "overlap", 0, "How long the former credentials stay valid, from now on; absent: as the binding says, or the controller")
	r.write.Bind(cmd.Flags())
	completions(cmd, nil)
	cmd.Flag("overlap").DefValue = ""
	return cmd
}

// validate says that no time is below 0.
func (r *rotate) validate() error {
	if r.overlap < 0 {
		return cli.Usagef("--overlap is %q; allowed are times such as 10m and 1h, and 0s for none", r.overlap.String())
	}
	return nil
}

func (r *rotate) run(ctx context.Context, name string) error {
	if err := cli.Validated(r.write.Validate, r.validate); err != nil {
		return err
	}
	c, binding, err := found(ctx, r.env, findBinding, name)
	if err != nil {
		return err
	}
	err = cli.Whole(ctx, quoted("binding", name)+" was asked to be rotated", func(ctx context.Context) error {
		return cli.Edit(ctx, c, &r.write, binding, r.asked)
	})
	if err != nil {
		return err
	}
	return r.write.Told(r.env, binding, "%s gets new credentials", quoted("binding", name))
}

// asked is the edit of a binding that is to be rotated.
func (r *rotate) asked(binding *v1beta1.ServiceBinding) error {
	if err := rotatable(binding); err != nil {
		return err
	}
	r.ask(binding)
	return nil
}

// rotatable says that the binding was not told to keep its credentials.
func rotatable(binding *v1beta1.ServiceBinding) error {
	if rotation := binding.Spec.Rotation; rotation != nil && rotation.Policy == v1beta1.RotationNever {
		return cli.Usagef("%s keeps its credentials: its spec.rotation.policy is Never; take that away first", quoted("binding", binding.Name))
	}
	return nil
}

// ask is what a binding is asked. A counter that was set back goes on above what
// was served: else the request would be one that was answered already.
func (r *rotate) ask(binding *v1beta1.ServiceBinding) {
	if binding.Spec.Rotation == nil {
		binding.Spec.Rotation = &v1beta1.Rotation{}
	}
	rotation := binding.Spec.Rotation
	if served := binding.Status.Credentials; served != nil {
		rotation.Requests = max(rotation.Requests, served.Requests)
	}
	rotation.Requests++
	if r.saysOverlap {
		rotation.Overlap = &metav1.Duration{Duration: r.overlap}
	}
}
