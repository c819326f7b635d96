package get

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
)

// The flags of a command that lists: where to look, what narrows the list and how it is
// written. A command has those that make sense for its kind.
type flags struct {
	scope cli.ScopeFlags
	out   output

	serviceType, class, plan, broker string
	// kubeName takes names for Kubernetes names only.
	kubeName bool
	// effective lists only what gives instances a plan.
	effective bool
}

// command completes a command: it takes a name at most, with --output.
func (f *flags) command(env *cli.Env, cmd *cobra.Command, run func(ctx context.Context, args []string) error) *cobra.Command {
	if cmd.Args == nil {
		cmd.Args = atMostOneName
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return run(cmd.Context(), args) }
	f.out.bind(cmd, env)
	return cmd
}

// bindScope adds the flags that say in which scopes to look.
func (f *flags) bindScope(cmd *cobra.Command) {
	f.scope.Bind(cmd.Flags(), true)
	_ = cmd.RegisterFlagCompletionFunc("scope", complete.Words("cluster", "namespace", "all"))
}

// bindNamespaces adds the flag of what is in namespaces only.
func (f *flags) bindNamespaces(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&f.scope.AllNamespaces, "all-namespaces", "A", false, "Look in every namespace")
}

// bindFilter adds the flag that narrows the list by a name, as in --type.
func (f *flags) bindFilter(cmd *cobra.Command, name, short, usage string) {
	of := map[string]struct {
		value   *string
		propose func(*cli.Env) complete.Func
	}{
		"type": {&f.serviceType, complete.Types}, "class": {&f.class, complete.Classes}, "plan": {&f.plan, complete.Plans}, "broker": {&f.broker, complete.Brokers},
	}[name]
	cmd.Flags().StringVarP(of.value, name, short, "", usage)
	_ = cmd.RegisterFlagCompletionFunc(name, of.propose(f.out.env))
}

// currentNamespace is where to look for what is in namespaces only: in the current one, or in
// all of them.
func (f *flags) currentNamespace(env *cli.Env) (cli.Scope, error) {
	namespace, _, err := env.Namespace()
	if f.scope.AllNamespaces {
		namespace = ""
	}
	return cli.Scope{Namespaces: true, Namespace: namespace}, err
}

// wants says whether what has this type and broker is listed; effective says that it gives
// instances a plan.
func (f *flags) wants(serviceType, broker string, effective bool) bool {
	return (f.serviceType == "" || serviceType == f.serviceType) && (f.broker == "" || broker == f.broker) && (effective || !f.effective)
}
