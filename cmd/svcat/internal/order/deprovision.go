package order

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
)

// deprovision is the command.
type deprovision struct {
	env      *cli.Env
	write    cli.WriteFlags
	wait     cli.WaitFlags
	farewell farewell
}

// NewDeprovision returns the command `svcat deprovision`.
func NewDeprovision(env *cli.Env) *cobra.Command {
	d := &deprovision{env: env}
	cmd := &cobra.Command{
		Use:   "deprovision NAME",
		Short: "Delete an instance, at its broker too",
		Long: `Delete an instance, at its broker too. It waits until its bindings are gone (see
svcat unbind).

What was adopted stays at the broker (see svcat adopt). --abandon lets any instance go
without asking the broker, which keeps it: it says under which ID, and svcat adopt takes
that over again.`,
		Example: `  svcat deprovision mydb
  svcat deprovision mydb --wait --timeout 10m
  svcat deprovision mydb --abandon --yes
  svcat deprovision mydb --dry-run=server`,
		Args:              cli.OneName("instance"),
		ValidArgsFunction: complete.Instances(env),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.Untouched(d.run(cmd.Context(), args[0]))
		},
	}
	d.farewell.bind(cmd.Flags())
	d.wait.Bind(cmd.Flags())
	d.write.Bind(cmd.Flags())
	completions(cmd, nil)
	return cmd
}

func (d *deprovision) run(ctx context.Context, name string) error {
	if err := cli.Validated(d.write.Validate, d.wait.Validate); err != nil {
		return err
	}
	c, instance, err := found(ctx, d.env, findInstance, name)
	if err != nil {
		return err
	}
	bindings, err := bindingsOf(ctx, c, instance.Namespace, name)
	if err != nil {
		return err
	}
	if err := d.farewell.confirm(ctx, d.env, &d.write, quoted("instance", name)); err != nil {
		return err
	}
	left := stays(ctx, c, instance)
	err = cli.Whole(ctx, quoted("instance", name)+" is being deleted", func(ctx context.Context) error {
		return d.farewell.remove(ctx, c, &d.write, instance)
	})
	if err != nil {
		return err
	}
	if err := d.foretell(instance, bindings, left); err != nil {
		return err
	}
	return d.finish(ctx, instance)
}

// foretell says on standard error what will not go by itself.
func (d *deprovision) foretell(instance *v1beta1.ServiceInstance, bindings []*v1beta1.ServiceBinding, left string) error {
	var note string
	switch {
	case d.farewell.abandon && len(bindings) > 0:
		note = fmt.Sprintf("%s\nits bindings are not let go with it: %s; svcat unbind --abandon does that", left, namesOf(bindings))
	case d.farewell.abandon:
		note = left
	case catalog.Stays(instance):
		note = joined("it was adopted: "+left, waitsFor(bindings))
	case len(bindings) > 0:
		note = waitsFor(bindings)
	default:
		return nil
	}
	_, err := fmt.Fprintln(d.env.ErrOut, note)
	return err
}

// waitsFor says which bindings keep an instance; empty: none.
func waitsFor(bindings []*v1beta1.ServiceBinding) string {
	if len(bindings) == 0 {
		return ""
	}
	return fmt.Sprintf("it waits until its bindings are gone: %s; svcat unbind removes them", namesOf(bindings))
}

// joined are the lines that are not empty.
func joined(lines ...string) string {
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool { return line == "" }), "\n")
}

// finish waits if that is asked for, and says what became of the instance.
func (d *deprovision) finish(ctx context.Context, instance *v1beta1.ServiceInstance) error {
	if d.write.Stores() {
		if err := d.wait.Gone(ctx, d.env, instance); err != nil {
			return err
		}
	}
	// The broker of what was adopted is not asked.
	done := d.wait.Wait || d.farewell.abandon || !d.write.Stores() || catalog.Stays(instance)
	return d.write.Told(d.env, instance, "%s", deleted(instance, done))
}

// deleted is the sentence of the older svcat, which was true once the object was
// gone; before that it goes on.
func deleted(object client.Object, done bool) string {
	if done {
		return "deleted " + object.GetName()
	}
	return "deleted " + object.GetName() + ": its broker is being asked to remove it"
}
