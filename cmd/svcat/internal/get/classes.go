package get

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/printer"
)

// A classRow is a class as tables show it.
type classRow struct {
	key

	title, serviceType, broker, description, scope, status string
	bindable                                               bool
}

func classRowOf(class catalog.Class) classRow {
	return classRow{
		key:   key{class.Object.GetNamespace(), class.Object.GetName()},
		title: class.Title(), serviceType: class.Spec.ServiceType, broker: class.Broker, description: class.Spec.Description,
		scope: class.Scope(), status: class.State(), bindable: class.Spec.Bindable,
	}
}

// called says whether name is one of the row's two.
func (c classRow) called(name string, kubeName bool) bool {
	return c.name == name || !kubeName && c.title == name
}

type classRows []classRow

func (r classRows) keys() []key { return keysOf(r) }

func (r classRows) fill(layout string) (t *printer.Table, wrap bool) {
	columns := map[string][]string{
		layoutTable:  {"type", "name", "description", "scope"},
		layoutWide:   {"type", "name", "description", "scope", "broker", "status", "bindable", "kubernetes name"},
		layoutLegacy: {"name", "namespace", "broker", "description"},
	}
	return filled(r, columns[layout], func(c *classRow) map[string]string {
		return map[string]string{
			"type": c.serviceType, "name": c.title, "namespace": c.namespace, "description": descriptionIn(layout, c.description),
			"scope": c.scope, "broker": c.broker, "status": c.status, "bindable": yesNo(c.bindable), "kubernetes name": c.name,
		}
	}), true
}

func (r classRows) sort() classRows {
	slices.SortFunc(r, func(a, b classRow) int {
		return cmp.Or(byType(a.serviceType, b.serviceType), cmp.Compare(a.title, b.title), cmp.Compare(a.scope, b.scope), cmp.Compare(a.name, b.name))
	})
	return r
}

// classFlags are those of `get classes`.
type classFlags struct {
	scope               cli.ScopeFlags
	out                 output
	serviceType, broker string
	kubeName            bool
}

func newClasses(env *cli.Env) *cobra.Command {
	var f classFlags
	cmd := &cobra.Command{
		Use:     "classes [NAME]",
		Aliases: []string{"class", "cl"},
		Short:   "List classes, or show one",
		Example: `  svcat get classes
  svcat get classes --type mysql
  svcat get classes --cluster --all-namespaces
  svcat get classes --broker azure
  svcat get class azure-mysql -o yaml
  svcat get class --kube-name 997b8372-8dac-40ac-ae65-758b4a5075a5`,
		Args:              atMostOneName,
		ValidArgsFunction: complete.Classes(env),
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), args) },
	}
	flags := cmd.Flags()
	f.scope.Bind(flags, true)
	f.out.bind(cmd, env)
	flags.StringVar(&f.serviceType, "type", "", "List the classes of this type only")
	flags.StringVarP(&f.broker, "broker", "b", "", "List the classes of this broker only")
	flags.BoolVarP(&f.kubeName, "kube-name", "k", false, "Take NAME for the Kubernetes name, not for the external one")
	completeFlags(cmd, env, "type", "broker")
	return cmd
}

func (f *classFlags) run(ctx context.Context, args []string) error {
	l := listing{output: f.out, where: f.scope.Resolve, plural: "classes", cluster: "ClusterServiceClass", namespaced: "ServiceClass", by: names{serviceType: f.serviceType, broker: f.broker}}
	l.named(args, false)
	l.narrow("of type", f.serviceType)
	l.narrow("of broker", f.broker)
	return l.show(ctx, func(scope cli.Scope) (rows, error) {
		if l.one {
			class, err := catalog.Finder{Reader: l.client, Scope: scope, KubeName: f.kubeName}.Class(ctx, args[0])
			if err != nil {
				return nil, err
			}
			row := classRowOf(class)
			return f.kept(map[key]classRow{row.key: row}), nil
		}
		all, err := loadClasses(ctx, l.client, scope, nil)
		return f.kept(all), err
	})
}

// kept are the rows that the flags ask for.
func (f *classFlags) kept(all map[key]classRow) classRows {
	return classRows(slices.DeleteFunc(slices.Collect(maps.Values(all)), func(c classRow) bool {
		return f.serviceType != "" && c.serviceType != f.serviceType || f.broker != "" && c.broker != f.broker
	})).sort()
}
