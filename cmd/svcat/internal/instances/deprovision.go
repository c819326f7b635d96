package instances

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/removal"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/target"
)

// deprovision is the command.
type deprovision struct {
	env     *cli.Env
	write   cli.WriteFlags
	wait    cli.WaitFlags
	removal removal.Flags
}

// NewDeprovision returns the command `svcat deprovision`.
func NewDeprovision(env *cli.Env) *cobra.Command {
	d := &deprovision{env: env}
	cmd := &cobra.Command{
		Use:   "deprovision NAME",
		Short: "Delete an instance, at its broker too",
		Long: `Delete an instance, at its broker too. It will be deleted when its bindings are (see
svcat unbind). At a terminal it asks first, with the plan, the age and the number of
bindings; --yes skips the question. Scripts are not asked.

What was adopted stays at the broker (see svcat adopt). --abandon lets any instance go
without asking the broker, which keeps it: it says under which ID, and svcat adopt takes
that over again.`,
		Example: `  svcat deprovision mydb
  svcat deprovision mydb --wait --timeout 10m
  svcat deprovision mydb --abandon --yes
  svcat deprovision mydb --dry-run=server`,
		Args:              cli.OneName("instance"),
		ValidArgsFunction: complete.Instances(env),
		RunE:              cli.OnName(d.run),
	}
	d.removal.Bind(cmd.Flags())
	d.wait.Bind(cmd.Flags())
	d.write.Bind(cmd.Flags())
	complete.Flags(cmd, nil)
	return cmd
}

func (d *deprovision) run(ctx context.Context, name string) error {
	if err := cli.InOrder(d.write.Validate, d.wait.Validate); err != nil {
		return err
	}
	c, instance, err := target.Current(ctx, d.env, target.Instance, name)
	if err != nil {
		return err
	}
	bindings, err := target.BindingsOf(ctx, c, instance.Namespace, name)
	if err != nil {
		return err
	}
	if err := d.removal.Confirm(ctx, d.env, &d.write, removal.Instance(instance, len(bindings), time.Now())); err != nil {
		return err
	}
	remains := removal.Remains(ctx, c, instance)
	err = cli.Whole(ctx, fmt.Sprintf("instance %q is being deleted", name), func(ctx context.Context) error {
		return d.removal.Delete(ctx, c, &d.write, instance)
	})
	if err != nil {
		return err
	}
	if err := d.warn(instance, bindings, remains); err != nil {
		return err
	}
	return d.finish(ctx, instance, len(bindings))
}

// warn says on standard error what is not deleted with the instance.
func (d *deprovision) warn(instance *v1beta1.ServiceInstance, bindings []*v1beta1.ServiceBinding, remains string) error {
	var note string
	switch {
	case d.removal.Abandon && len(bindings) > 0:
		note = fmt.Sprintf("%s\nits bindings are not let go with it: %s; svcat unbind --abandon does that", remains, target.Names(bindings))
	case d.removal.Abandon:
		note = remains
	case catalog.OfInstance(instance) == catalog.Adopted:
		note = joined("it was adopted: "+remains, waitsFor(bindings))
	case len(bindings) > 0:
		note = waitsFor(bindings)
	default:
		return nil
	}
	_, err := fmt.Fprintln(d.env.ErrOut, note)
	return err
}

// waitsFor says which bindings an instance waits for; empty: none.
func waitsFor(bindings []*v1beta1.ServiceBinding) string {
	if len(bindings) == 0 {
		return ""
	}
	return fmt.Sprintf("it will be deleted when its bindings are: %s; svcat unbind removes them", target.Names(bindings))
}

// joined are the lines that are not empty.
func joined(lines ...string) string {
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool { return line == "" }), "\n")
}

// finish waits if that is asked for, and says what became of the instance.
func (d *deprovision) finish(ctx context.Context, instance *v1beta1.ServiceInstance, bindings int) error {
	if d.write.Stores() {
		if err := d.wait.Gone(ctx, d.env, instance); err != nil {
			return err
		}
	}
	// The broker of what was adopted is not asked.
	done := d.wait.Wait || d.removal.Abandon || !d.write.Stores() || catalog.OfInstance(instance) == catalog.Adopted && bindings == 0
	return d.write.Report(d.env, instance, "%s", removal.Outcome(instance, done, bindings))
}
