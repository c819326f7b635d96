// Package describe has the command that shows one object with all that matters about
// it: what it is, what it gives, who uses it, and how its parameters came about.
package describe

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
)

// New returns the command `svcat describe`.
func New(env *cli.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "describe",
		Short: "Show all that matters about one broker, class, plan, instance, binding or type",
		Long: `Show all that matters about one broker, class, plan, instance, binding or type, which
may be named as KIND/NAME, as in instance/mydb.

Classes and plans are found by the name that their broker gave them or by their
Kubernetes name, in the current namespace first and then in the cluster. Values of
Secrets are never shown, but for those of a binding with --show-secrets.`,
		Example: `  svcat describe class azure-mysql
  svcat describe plan azure-mysql/premium-p1
  svcat describe instance mydb
  svcat describe binding mydb-admin --show-secrets
  svcat describe type mysql`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				kinds := []string{"broker", "class", "plan", "instance", "binding", "type"}
				return cli.Usagef("cannot describe %q;%s allowed are %s", args[0], cli.DidYouMean(args[0], kinds), strings.Join(kinds, ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.Usagef("say what to describe: a broker, class, plan, instance, binding or type; see %s --help", cmd.CommandPath())
		},
	}
	cmd.AddCommand(newBroker(env), newClass(env), newPlan(env), newInstance(env), newBinding(env), newType(env))
	return cmd
}

// described describes the object of a name: as find finds it, where the command looks.
func described[T any](
	env *cli.Env, where func(*cli.Env) (cli.Scope, error),
	find func(finder catalog.Finder, ctx context.Context, name string) (T, error),
	describe func(ctx context.Context, reader client.Reader, w io.Writer, object T) error,
) func(cmd *cobra.Command, args []string) error {
	return func(cmd *cobra.Command, args []string) error {
		scope, err := where(env)
		if err != nil {
			return err
		}
		c, err := env.Client()
		if err != nil {
			return err
		}
		object, err := find(catalog.Finder{Reader: c, Scope: scope}, cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return describe(cmd.Context(), c, env.Out, object)
	}
}

// currentNamespace is where to look for instances and bindings.
func currentNamespace(env *cli.Env) (cli.Scope, error) {
	namespace, _, err := env.Namespace()
	return cli.Scope{Namespaces: true, Namespace: namespace}, err
}

// oneName is the rule for what is described.
func oneName(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return cli.Usagef("%s takes one name, not %d", cmd.CommandPath(), len(args))
	}
	if args[0] == "" {
		return cli.Usagef("%s: the name is empty", cmd.CommandPath())
	}
	return nil
}

// onePlan is oneName for a plan.
func onePlan(cmd *cobra.Command, args []string) error {
	if err := oneName(cmd, args); err != nil {
		return err
	}
	return cli.PlanName(args[0])
}

// bindScope adds the flags that say where to look.
func bindScope(cmd *cobra.Command, scope *cli.ScopeFlags) {
	scope.Bind(cmd.Flags(), true)
	_ = cmd.RegisterFlagCompletionFunc("scope", complete.Words("cluster", "namespace", "all"))
}
