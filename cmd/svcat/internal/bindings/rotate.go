package bindings

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/target"
)

// rotate is the command `rotate binding`.
type rotate struct {
	env     *cli.Env
	write   cli.WriteFlags
	overlap time.Duration
	// overlapSet says that --overlap was given, possibly as 0s.
	overlapSet bool
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
		Aliases: cli.Aliases("binding"),
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
			r.overlapSet = cmd.Flags().Changed("overlap")
			return cli.Untouched(r.run(cmd.Context(), args[0]))
		},
	}
	cmd.Flags().DurationVar(&r.overlap, "overlap", 0, "How long the former credentials stay valid, from now on; absent: as the binding says, or the controller")
	r.write.Bind(cmd.Flags())
	complete.Flags(cmd, nil)
	cmd.Flag("overlap").DefValue = ""
	return cmd
}

// validate reports a negative time.
func (r *rotate) validate() error {
	if r.overlap < 0 {
		return cli.Usagef("--overlap is %q; allowed are times such as 10m and 1h, and 0s for none", r.overlap.String())
	}
	return nil
}

func (r *rotate) run(ctx context.Context, name string) error {
	if err := cli.InOrder(r.write.Validate, r.validate); err != nil {
		return err
	}
	c, binding, err := target.Current(ctx, r.env, target.Binding, name)
	if err != nil {
		return err
	}
	err = cli.Whole(ctx, fmt.Sprintf("binding %q was asked to be rotated", name), func(ctx context.Context) error {
		return cli.Edit(ctx, c, &r.write, binding, r.edit)
	})
	if err != nil {
		return err
	}
	return r.write.Report(r.env, binding, "binding %q gets new credentials", name)
}

// edit is the edit of a binding that is to be rotated.
func (r *rotate) edit(binding *v1beta1.ServiceBinding) error {
	if err := rotatable(binding); err != nil {
		return err
	}
	r.request(binding)
	return nil
}

// rotatable reports a binding that is to keep its credentials.
func rotatable(binding *v1beta1.ServiceBinding) error {
	if rotation := binding.Spec.Rotation; rotation != nil && rotation.Policy == v1beta1.RotationNever {
		return cli.Usagef("binding %q keeps its credentials: its spec.rotation.policy is Never; take that away first", binding.Name)
	}
	return nil
}

// request raises the counter of requests. One that was set back goes on above what was
// served: otherwise the request would count as served already.
func (r *rotate) request(binding *v1beta1.ServiceBinding) {
	if binding.Spec.Rotation == nil {
		binding.Spec.Rotation = &v1beta1.Rotation{}
	}
	rotation := binding.Spec.Rotation
	if served := binding.Status.Credentials; served != nil {
		rotation.Requests = max(rotation.Requests, served.Requests)
	}
	rotation.Requests++
	if r.overlapSet {
		rotation.Overlap = &metav1.Duration{Duration: r.overlap}
	}
}
