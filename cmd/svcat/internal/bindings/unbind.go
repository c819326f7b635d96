package bindings

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/removal"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/target"
)

// unbind is the command.
type unbind struct {
	env     *cli.Env
	write   cli.WriteFlags
	wait    cli.WaitFlags
	removal removal.Flags
	names   []string
}

// NewUnbind returns the command `svcat unbind`.
func NewUnbind(env *cli.Env) *cobra.Command {
	u := &unbind{env: env}
	cmd := &cobra.Command{
		Use:   "unbind (INSTANCE | --name BINDING...)",
		Short: "Delete bindings, with their Secrets",
		Long: `Delete all bindings of an instance, with their Secrets, or those that --name names.
The instance need not be there any more. A binding that has an instance of its own may
stand in the place of INSTANCE: it is deleted, and its instance with it, at the broker
too. At a terminal it asks first, with the instance, the plan and the age of each;
--yes skips the question. Scripts are not asked.

What was adopted stays at the broker. --abandon lets any binding go without asking the
broker, and says what stays there.`,
		Example: `  svcat unbind mydb
  svcat unbind --name mydb-admin --name mydb-reader --wait
  svcat unbind mydb --abandon --yes`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && len(u.names) == 0 || len(args) > 1 {
				return cli.Usagef("say what to unbind: one INSTANCE, or --name BINDING; see %s --help", cmd.CommandPath())
			}
			return nil
		},
		ValidArgsFunction: complete.Instances(env),
		RunE: func(cmd *cobra.Command, args []string) error {
			var instance string
			if len(args) > 0 {
				instance = cli.WithoutKind("instance", args[0])
			}
			return cli.Untouched(u.run(cmd.Context(), instance))
		},
	}
	cmd.Flags().StringSliceVar(&u.names, "name", nil, "A binding to delete; may be given several times")
	u.removal.Bind(cmd.Flags())
	u.wait.Bind(cmd.Flags())
	u.write.Bind(cmd.Flags())
	complete.Flags(cmd, map[string]complete.Func{"name": complete.Bindings(env)})
	return cmd
}

func (u *unbind) run(ctx context.Context, instance string) error {
	if err := cli.InOrder(u.write.Validate, u.wait.Validate); err != nil {
		return err
	}
	namespace, _, err := u.env.Namespace()
	if err != nil {
		return err
	}
	c, err := u.env.Client()
	if err != nil {
		return err
	}
	bindings, err := u.selected(ctx, c, namespace, instance)
	if err != nil {
		return err
	}
	if len(bindings) == 0 {
		return u.write.Say(u.env, "instance %q has no bindings", instance)
	}
	if err := u.removal.Confirm(ctx, u.env, &u.write, removal.Bindings(bindings, time.Now())); err != nil {
		return err
	}
	return u.remove(ctx, c, bindings)
}

// selected are the bindings to delete. All that --name names must exist, and be of the
// instance if one is named too: otherwise none is deleted.
func (u *unbind) selected(ctx context.Context, c client.Client, namespace, instance string) ([]*v1beta1.ServiceBinding, error) {
	if len(u.names) == 0 {
		bindings, err := target.BindingsOf(ctx, c, namespace, instance)
		if err != nil || len(bindings) > 0 {
			return bindings, err
		}
		return u.dedicated(ctx, c, namespace, instance)
	}
	var bindings []*v1beta1.ServiceBinding
	seen := map[string]bool{}
	for _, name := range u.names {
		if seen[name] {
			continue
		}
		seen[name] = true
		binding, err := target.Binding(ctx, c, namespace, name)
		if err != nil {
			return nil, err
		}
		if instance != "" && !target.IsFor(binding, instance) {
			return nil, fmt.Errorf("binding %q is not of instance %q: leave the instance out, or name its own bindings", name, instance)
		}
		bindings = append(bindings, binding)
	}
	return bindings, nil
}

// dedicated is the binding of that name that has an instance of its own, where no binding
// is of an instance of that name.
func (u *unbind) dedicated(ctx context.Context, c client.Client, namespace, name string) ([]*v1beta1.ServiceBinding, error) {
	_, none := target.Instance(ctx, c, namespace, name)
	binding, err := target.Dedicated(ctx, c, namespace, name)
	switch {
	case err != nil:
		return nil, err
	case binding == nil:
		return nil, none
	case none == nil:
		return nil, fmt.Errorf("instance %[1]q has no bindings, and binding %[1]q has an instance of its own: if that is meant, svcat unbind --name %[1]s", name)
	}
	return []*v1beta1.ServiceBinding{binding}, nil
}

// remove deletes one after the other. One that fails does not stop the others; after Ctrl-C
// none is begun any more, and the message names those that are deleted.
func (u *unbind) remove(ctx context.Context, c client.Client, bindings []*v1beta1.ServiceBinding) error {
	var failures []error
	var done []*v1beta1.ServiceBinding
	for i, binding := range bindings {
		if ctx.Err() != nil {
			return &cli.Failure{Code: cli.ExitInterrupted, Err: fmt.Errorf("interrupted: deleted: %s; not: %s", orNone(done), target.Names(bindings[i:]))}
		}
		remains, instance := removal.Remains(ctx, c, binding), u.dedicatedInstance(ctx, c, binding)
		err := cli.Whole(ctx, fmt.Sprintf("binding %q is being deleted", binding.Name), func(ctx context.Context) error {
			return u.removal.Delete(ctx, c, &u.write, binding)
		})
		if err != nil {
			failures = append(failures, fmt.Errorf("cannot delete binding %q: %w", binding.Name, err))
			continue
		}
		done = append(done, binding)
		switch {
		case u.removal.Abandon:
		case catalog.OfBinding(binding) == catalog.Adopted:
			remains = "it was adopted: " + remains
		default:
			remains = ""
		}
		if err := u.note(binding, remains, instance); err != nil {
			return err
		}
	}
	return errors.Join(append(failures, u.finish(ctx, done))...)
}

// note says on standard error what becomes of what a binding has, at the broker and here.
func (u *unbind) note(binding *v1beta1.ServiceBinding, lines ...string) error {
	for _, line := range lines {
		if line == "" {
			continue
		}
		if _, err := fmt.Fprintf(u.env.ErrOut, "%s: %s\n", binding.Name, line); err != nil {
			return err
		}
	}
	return nil
}

// dedicatedInstance says what becomes of the instance that was made for a binding; empty:
// there is none.
func (u *unbind) dedicatedInstance(ctx context.Context, reader client.Reader, binding *v1beta1.ServiceBinding) string {
	made := binding.Status.InstanceRef
	if !binding.Dedicated() || made == nil {
		return ""
	}
	if !u.removal.Abandon {
		return fmt.Sprintf("its own instance %q goes with it, and all that is in it", made.Name)
	}
	instance := &v1beta1.ServiceInstance{}
	if reader.Get(ctx, client.ObjectKey{Namespace: binding.Namespace, Name: made.Name}, instance) != nil {
		return fmt.Sprintf("its own instance %q is let go with it", made.Name)
	}
	return fmt.Sprintf("its own instance %q is let go with it: %s", made.Name, removal.Remains(ctx, reader, instance))
}

// finish waits if that is asked for, and says of each binding what became of it.
func (u *unbind) finish(ctx context.Context, bindings []*v1beta1.ServiceBinding) error {
	var waited error
	if u.write.Stores() {
		waited = u.wait.Gone(ctx, u.env, objects(bindings)...)
	}
	if waited != nil {
		return waited
	}
	for i, binding := range bindings {
		if i > 0 && u.write.Output == "yaml" {
			if _, err := fmt.Fprintln(u.env.Out, "---"); err != nil {
				return err
			}
		}
		if err := u.write.Report(u.env, binding, "%s", removal.Outcome(binding, u.wait.Wait || u.removal.Abandon || !u.write.Stores(), 0)); err != nil {
			return err
		}
	}
	return nil
}

func objects(bindings []*v1beta1.ServiceBinding) []client.Object {
	all := make([]client.Object, len(bindings))
	for i, binding := range bindings {
		all[i] = binding
	}
	return all
}

func orNone(bindings []*v1beta1.ServiceBinding) string {
	if len(bindings) == 0 {
		return "none"
	}
	return target.Names(bindings)
}
