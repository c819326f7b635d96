package instances

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/parameters"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/planflags"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/target"
)

// update is the command `update instance`.
type update struct {
	env        *cli.Env
	write      cli.WriteFlags
	wait       cli.WaitFlags
	plan       planflags.Flags
	parameters parameters.Flags
	unset      []string
}

// NewUpdate returns the command `svcat update`.
func NewUpdate(env *cli.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "update",
		Short:   "Change the parameters or the plan of an instance",
		Example: "  svcat update instance mydb --param size=20",
	}
	cmd.AddCommand(newUpdateInstance(env))
	return cmd
}

func newUpdateInstance(env *cli.Env) *cobra.Command {
	u := &update{env: env}
	cmd := &cobra.Command{
		Use:     "instance NAME",
		Aliases: cli.Aliases("instance"),
		Short:   "Change the parameters or the plan of an instance",
		Long: `Change the parameters or the plan of an instance, and say what changed, by name and
without values.

Each parameter that --param or --params-json gives takes the place of the one of its
name; --unset takes one away; the others stay. No default is applied again. The plan can
become another of the instance's class, if the current plan allows that.`,
		Example: `  svcat update instance mydb --param location=westus
  svcat update instance mydb --params-json '{"size": 20, "tags": ["a", "b"]}' --unset location
  svcat update instance mydb --plan premium --wait

  # whether admission takes it
  svcat update instance mydb --plan premium --dry-run=server`,
		Args:              cli.OneName("instance"),
		ValidArgsFunction: complete.Instances(env),
		RunE:              cli.OnName(u.run),
	}
	u.plan.BindReplan(cmd.Flags())
	u.parameters.BindValues(cmd.Flags())
	cmd.Flags().StringSliceVar(&u.unset, "unset", nil, "Names of parameters to take away, such as location,size")
	u.wait.Bind(cmd.Flags())
	u.write.Bind(cmd.Flags())
	complete.Flags(cmd, map[string]complete.Func{"plan": complete.Plans(env)}, "param", "unset")
	return cmd
}

func (u *update) validate() error {
	switch {
	case u.plan.Plan == "" && u.plan.KubeName:
		return cli.Usagef("--kube-name says how --plan is meant: give it too")
	case !u.parameters.Given() && u.plan.Plan == "" && len(u.unset) == 0:
		return cli.Usagef("say what changes: --param NAME=VALUE, --params-json JSON, --unset NAME or --plan PLAN")
	}
	return nil
}

func (u *update) run(ctx context.Context, name string) error {
	if err := cli.InOrder(u.write.Validate, u.wait.Validate, u.validate); err != nil {
		return err
	}
	edit, err := parameters.NewEdit(&u.parameters, u.unset)
	if err != nil {
		return err
	}
	c, instance, err := target.Current(ctx, u.env, target.Instance, name)
	if err != nil {
		return err
	}
	var changed changes
	err = cli.Whole(ctx, fmt.Sprintf("instance %q was updated", name), func(ctx context.Context) error {
		changed, err = u.apply(ctx, c, edit, instance)
		return err
	})
	if err != nil {
		return err
	}
	if u.write.Stores() {
		if err := u.wait.Ready(ctx, u.env, instance); err != nil {
			return err
		}
	}
	if changed.none() {
		return u.write.Report(u.env, instance, "instance %q has that already; nothing was changed", name)
	}
	return u.write.Report(u.env, instance, "instance %q was updated: %s", name, changed)
}

// apply writes the edit, and says what that changed.
func (u *update) apply(ctx context.Context, c client.Client, edit *parameters.Edit, instance *v1beta1.ServiceInstance) (changed changes, err error) {
	err = cli.EditBy(ctx, c, &u.write, instance, func(instance *v1beta1.ServiceInstance) (err error) {
		changed, err = u.edit(ctx, c, edit, instance)
		return err
	}, func(before *v1beta1.ServiceInstance) client.Patch { return specPatch{before} })
	return changed, err
}

// edit changes an instance as it is now, and says what that changes.
func (u *update) edit(ctx context.Context, reader client.Reader, edit *parameters.Edit, instance *v1beta1.ServiceInstance) (changes, error) {
	_, was := catalog.ClassAndPlan(instance)
	set, unset, err := edit.Apply(&instance.Spec.Parameters)
	if err != nil {
		return changes{}, fmt.Errorf("instance %q: %w", instance.Name, err)
	}
	plan, err := u.plan.Replan(ctx, reader, instance)
	if err != nil {
		return changes{}, err
	}
	if plan != "" {
		plan = fmt.Sprintf("plan %s becomes %s", was, plan)
	}
	return changes{set: set, unset: unset, plan: plan}, nil
}
