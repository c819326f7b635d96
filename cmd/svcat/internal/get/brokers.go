package get

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/printer"
)

// A brokerRow is a broker as tables show it.
type brokerRow struct {
	key

	url, status, scope, relist, fetched string
}

func brokerRowOf(broker catalog.Broker) brokerRow {
	row := brokerRow{
		key: key{broker.Object.GetNamespace(), broker.Object.GetName()},
		url: broker.URL(), status: v1beta1.LastConditionState(broker.Status.Conditions), scope: broker.Scope(),
		relist: string(cmp.Or(broker.Spec.RelistBehavior, v1beta1.RelistDuration)), fetched: moment(broker.Status.LastCatalogRetrievalTime),
	}
	if every := broker.Spec.RelistDuration; every != nil && broker.Spec.RelistBehavior != v1beta1.RelistManual {
		row.relist = "every " + every.Duration.String()
	}
	return row
}

// moment is a time in UTC, empty for none.
func moment(at *metav1.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

type brokerRows []brokerRow

func (r brokerRows) keys() []key { return keysOf(r) }

func (r brokerRows) fill(layout string) (t *printer.Table, wrap bool) {
	columns := map[string][]string{
		layoutTable:  {"name", "url", "status", "scope"},
		layoutWide:   {"name", "url", "status", "scope", "relist", "catalog fetched"},
		layoutLegacy: {"name", "namespace", "url", "status"},
	}
	return filled(r, columns[layout], func(b *brokerRow) map[string]string {
		return map[string]string{
			"name": b.name, "namespace": b.namespace, "url": b.url, "status": b.status,
			"scope": b.scope, "relist": b.relist, "catalog fetched": b.fetched,
		}
	}), false
}

// brokerFlags are those of `get brokers`.
type brokerFlags struct {
	scope cli.ScopeFlags
	out   output
}

func newBrokers(env *cli.Env) *cobra.Command {
	var f brokerFlags
	cmd := &cobra.Command{
		Use:     "brokers [NAME]",
		Aliases: []string{"broker", "brk"},
		Short:   "List brokers, or show one",
		Example: `  svcat get brokers
  svcat get brokers --scope cluster
  svcat get broker azure -o yaml`,
		Args:              atMostOneName,
		ValidArgsFunction: complete.Brokers(env),
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), args) },
	}
	f.scope.Bind(cmd.Flags(), true)
	f.out.bind(cmd, env)
	completeFlags(cmd, env)
	return cmd
}

func (f *brokerFlags) run(ctx context.Context, args []string) error {
	l := listing{output: f.out, where: f.scope.Resolve, plural: "brokers", cluster: "ClusterServiceBroker", namespaced: "ServiceBroker"}
	l.named(args, false)
	return l.show(ctx, func(scope cli.Scope) (rows, error) {
		if l.one {
			broker, err := catalog.Finder{Reader: l.client, Scope: scope}.Broker(ctx, args[0])
			if err != nil {
				return nil, err
			}
			return brokerRows{brokerRowOf(broker)}, nil
		}
		var all brokerRows
		err := catalog.Brokers(ctx, l.client, catalog.Query{Scope: scope}, func(broker catalog.Broker) error {
			all = append(all, brokerRowOf(broker))
			return nil
		})
		slices.SortFunc(all, func(a, b brokerRow) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.scope, b.scope)) })
		return all, err
	})
}
