package get

import (
	"context"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/util/jsonpath"

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

	// selector and sortBy are what --selector and --sort-by were given.
	selector, sortBy string
	watch, watchOnly bool
	// labels and order are what they mean; nil without them.
	labels labels.Selector
	order  *jsonpath.JSONPath
}

// command completes a command: it takes a name at most, with --output.
func (f *flags) command(env *cli.Env, cmd *cobra.Command, run func(ctx context.Context, args []string) error) *cobra.Command {
	if cmd.Args == nil {
		cmd.Args = atMostOneName
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.parse(args); err != nil {
			return err
		}
		return run(cmd.Context(), args)
	}
	f.out.bind(cmd, env)
	return cmd
}

// bindList adds the flags of kubectl's lists.
func (f *flags) bindList(cmd *cobra.Command) {
	all := cmd.Flags()
	all.StringVarP(&f.selector, "selector", "l", "", "List only what has these labels, as in env=dev,tier!=free")
	all.StringVar(&f.sortBy, "sort-by", "", "Sort by this field of the objects, a JSONPath such as .metadata.creationTimestamp")
	all.BoolVarP(&f.watch, "watch", "w", false, "After the list, go on to print each row that changes, until Ctrl-C")
	all.BoolVar(&f.watchOnly, "watch-only", false, "As --watch, without the list at first")
}

// parse reads the values of bindList's flags.
func (f *flags) parse(args []string) (err error) {
	if f.selector != "" && len(args) > 0 {
		return cli.Usagef("--selector narrows a list, and %q is one object: give one of them", args[0])
	}
	if f.selector != "" {
		if f.labels, err = labels.Parse(f.selector); err != nil {
			return cli.Usagef("--selector %q cannot be read: %w; write KEY=VALUE, KEY!=VALUE, KEY or 'KEY in (A,B)', with commas between several", f.selector, err)
		}
	}
	if f.sortBy != "" {
		if f.order, err = fieldPath(f.sortBy); err != nil {
			return cli.Usagef("--sort-by %q cannot be read: %w; write the path of a field, such as .metadata.creationTimestamp", f.sortBy, err)
		}
	}
	f.watch = f.watch || f.watchOnly
	return nil
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

// A filter is a flag that narrows the list by a value, and how a sentence begins to say so.
type filter struct{ flag, value, words string }

func (f *flags) filters() []filter {
	return []filter{
		{"type", f.serviceType, "of type"}, {"class", f.class, "of class"}, {"plan", f.plan, "of plan"}, {"broker", f.broker, "of broker"},
		{"selector", f.selector, "with labels"},
	}
}
