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
)

// A brokerRow is a broker as tables show it.
type brokerRow struct {
	key

	created metav1.Time

	url, status, scope, relist, fetched string
}

func brokerRowOf(broker catalog.Broker) brokerRow {
	row := brokerRow{
		key: keyOf(broker.Object), created: broker.Object.GetCreationTimestamp(),
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

// brokerColumns are the columns of brokers in each layout.
var brokerColumns = map[string][]string{
	layoutTable:  {"name", "url", "status", "scope", columnAge},
	layoutWide:   {"name", "url", "status", "scope", "relist", "catalog fetched", columnAge},
	layoutLegacy: {"name", "namespace", "url", "status"},
}

func (b brokerRow) cells(string) map[string]string {
	return map[string]string{
		"name": b.name, "namespace": b.namespace, "url": b.url, "status": b.status,
		"scope": b.scope, "relist": b.relist, "catalog fetched": b.fetched, columnAge: age(b.created),
	}
}

// A brokerList is one run of `get brokers`.
type brokerList struct{ flags }

func newBrokers(env *cli.Env) *cobra.Command {
	var f brokerList
	cmd := f.command(env, &cobra.Command{
		Use:     "brokers [NAME]",
		Aliases: cli.Aliases("brokers"),
		Short:   "List brokers, or show one",
		Example: `  svcat get brokers
  svcat get brokers --scope cluster
  svcat get broker azure -o yaml`,
		ValidArgsFunction: complete.Brokers(env),
	}, f.run)
	f.bindList(cmd)
	f.bindScope(cmd)
	return cmd
}

func (f *brokerList) run(ctx context.Context, args []string) error {
	l := f.listing("brokers", "ServiceBroker", "", args)
	return l.show(ctx, func(scope cli.Scope) (rows, error) {
		if l.one {
			broker, err := catalog.Finder{Reader: l.client, Scope: scope}.Broker(ctx, args[0])
			if err != nil {
				return nil, err
			}
			return table[brokerRow]{of: []brokerRow{brokerRowOf(broker)}, columns: brokerColumns}, nil
		}
		var all []brokerRow
		err := catalog.Brokers(ctx, l.client, catalog.Query{Scope: scope, Labels: f.labels}, func(broker catalog.Broker) error {
			all = append(all, brokerRowOf(broker))
			return nil
		})
		slices.SortFunc(all, func(a, b brokerRow) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.scope, b.scope)) })
		return table[brokerRow]{of: all, columns: brokerColumns}, err
	})
}
