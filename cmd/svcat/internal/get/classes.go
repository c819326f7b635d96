package get

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
)

// A classRow is a class as tables show it.
type classRow struct {
	key

	created metav1.Time

	title, serviceType, broker, description, scope, status string
	bindable                                               bool
}

func classRowOf(class catalog.Class) classRow {
	return classRow{
		key: keyOf(class.Object), created: class.Object.GetCreationTimestamp(),
		title: class.Title(), serviceType: class.Spec.ServiceType, broker: class.Broker, description: class.Spec.Description,
		scope: class.Scope(), status: class.State(), bindable: class.Spec.Bindable,
	}
}

// called says whether name is one of the row's two.
func (c classRow) called(name string, kubeName bool) bool {
	return c.name == name || !kubeName && c.title == name
}

// classColumns are the columns of classes in each layout.
var classColumns = map[string][]string{
	layoutTable:  {"type", "name", "description", "scope"},
	layoutWide:   {"type", "name", "description", "scope", "broker", "status", "bindable", "kubernetes name", columnAge},
	layoutLegacy: {"name", "namespace", "broker", "description"},
}

func (c classRow) cells(layout string) map[string]string {
	return map[string]string{
		"type": c.serviceType, "name": c.title, "namespace": c.namespace, "description": descriptionIn(layout, c.description),
		"scope": c.scope, "broker": c.broker, "status": c.status, "bindable": yesNo(c.bindable), "kubernetes name": c.name, columnAge: age(c.created),
	}
}

// A classList is one run of `get classes`.
type classList struct{ flags }

func newClasses(env *cli.Env) *cobra.Command {
	var f classList
	cmd := f.command(env, &cobra.Command{
		Use:     "classes [NAME]",
		Aliases: cli.Aliases("classes"),
		Short:   "List classes, or show one",
		Example: `  svcat get classes
  svcat get classes --type mysql
  svcat get classes --cluster --all-namespaces
  svcat get classes --broker azure
  svcat get class azure-mysql -o yaml
  svcat get class --kube-name 997b8372-8dac-40ac-ae65-758b4a5075a5`,
		ValidArgsFunction: complete.Classes(env),
	}, f.run)
	f.bindList(cmd)
	f.bindScope(cmd)
	f.bindFilter(cmd, "type", "", "List the classes of this type only")
	f.bindFilter(cmd, "broker", "b", "List the classes of this broker only")
	cmd.Flags().BoolVarP(&f.kubeName, "kube-name", "k", false, "Take NAME for the Kubernetes name, not for the external one")
	return cmd
}

func (f *classList) run(ctx context.Context, args []string) error {
	l := f.listing("classes", "ServiceClass", "", args)
	return l.show(ctx, func(scope cli.Scope) (rows, error) {
		if l.one {
			class, err := catalog.Finder{Reader: l.client, Scope: scope, KubeName: f.kubeName}.Class(ctx, args[0])
			if err != nil {
				return nil, err
			}
			row := classRowOf(class)
			return f.kept(map[key]classRow{row.key: row}), nil
		}
		all, err := loadClasses(ctx, l.client, catalog.Query{Scope: scope, Labels: f.labels}, nil)
		return f.kept(all), err
	})
}

// kept are the rows that the flags ask for.
func (f *classList) kept(all map[key]classRow) rows {
	kept := slices.DeleteFunc(slices.Collect(maps.Values(all)), func(c classRow) bool { return !f.wants(c.serviceType, c.broker, true) })
	slices.SortFunc(kept, func(a, b classRow) int {
		return cmp.Or(byType(a.serviceType, b.serviceType), cmp.Compare(a.title, b.title), cmp.Compare(a.scope, b.scope), cmp.Compare(a.name, b.name))
	})
	return table[classRow]{kept, classColumns, true}
}
