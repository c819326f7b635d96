package instances

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/target"
)

// touch is the command `touch instance`.
type touch struct {
	env   *cli.Env
	write cli.WriteFlags
	wait  cli.WaitFlags
}

// NewTouch returns the command `svcat touch`.
func NewTouch(env *cli.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "touch",
		Short:   "Have the controller look at an instance again",
		Example: "  svcat touch instance mydb",
	}
	cmd.AddCommand(newTouchInstance(env))
	return cmd
}

func newTouchInstance(env *cli.Env) *cobra.Command {
	t := &touch{env: env}
	cmd := &cobra.Command{
		Use:     "instance NAME",
		Aliases: cli.Aliases("instance"),
		Short:   "Have the controller look at an instance again",
		Long: `Raise an instance's updateRequests: what failed is tried again now, and an instance
that is not what its broker last took is updated.`,
		Example: `  svcat touch instance mydb
  svcat touch instance mydb --wait`,
		Args:              cli.OneName("instance"),
		ValidArgsFunction: complete.Instances(env),
		RunE:              cli.OnName(t.run),
	}
	t.wait.Bind(cmd.Flags())
	t.write.Bind(cmd.Flags())
	complete.Flags(cmd, nil)
	return cmd
}

func (t *touch) run(ctx context.Context, name string) error {
	if err := cli.InOrder(t.write.Validate, t.wait.Validate); err != nil {
		return err
	}
	c, instance, err := target.Current(ctx, t.env, target.Instance, name)
	if err != nil {
		return err
	}
	err = cli.Whole(ctx, fmt.Sprintf("instance %q was touched", name), func(ctx context.Context) error {
		return cli.Edit(ctx, c, &t.write, instance, raise)
	})
	if err != nil {
		return err
	}
	if t.write.Stores() {
		if err := t.wait.Ready(ctx, t.env, instance); err != nil {
			return err
		}
	}
	return t.write.Report(t.env, instance, "instance %q was touched", name)
}

// raise is the edit of an instance that is touched.
func raise(instance *v1beta1.ServiceInstance) error {
	instance.Spec.UpdateRequests++
	return nil
}
