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
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/table"
)

// A brokerRow is a broker as tables show it.
type brokerRow struct {
	key

	url, status, scope, relist, fetched string
}

func brokerRowOf(broker catalog.Broker) brokerRow {
	row := brokerRow{
		key: key{broker.Object.GetNamespace(), broker.Object.GetName()},
		url: broker.URL(), status: v1beta1.LastConditionState(broker.Status.Conditions), scope: scopeOf(broker.Object.GetNamespace()),
		relist: string(cmp.Or(broker.Spec.RelistBehavior, v1beta1.RelistDuration)), fetched: moment(broker.Status.LastCatalogRetrievalTime),
	}
	if every := broker.Spec.RelistDuration; every != nil && broker.Spec.RelistBehavior != v1beta1.RelistManual {
		row.relist = "every " + every.Duration.String()
	}
	return row
}

// scopeOf is the column SCOPE of what nobody but a person makes.
func scopeOf(namespace string) string {
	if namespace == "" {
		return "cluster"
	}
	return "ns (" + namespace + ")"
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

func (r brokerRows) fill(layout string) (t *table.Table, wrap bool) {
	switch layout {
	case layoutLegacy:
		t = table.New("name", "namespace", "url", "status")
		for _, b := range r {
			t.Add(b.name, b.namespace, b.url, b.status)
		}
		return t, false
	case layoutWide:
		t = table.New("name", "url", "status", "scope", "relist", "catalog fetched")
		for _, b := range r {
			t.Add(b.name, b.url, b.status, b.scope, b.relist, b.fetched)
		}
		return t, false
	}
	t = table.New("name", "url", "status", "scope")
	for _, b := range r {
		t.Add(b.name, b.url, b.status, b.scope)
	}
	return t, false
}

// brokerFlags are those of `get brokers`.
type brokerFlags struct {
	place cli.PlaceFlags
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
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), env, args) },
	}
	f.place.Bind(cmd.Flags(), true)
	f.out.bind(cmd, env)
	completeFlags(cmd, env)
	return cmd
}

func (f *brokerFlags) run(ctx context.Context, env *cli.Env, args []string) error {
	place, err := f.place.Place(env)
	if err != nil {
		return err
	}
	c, err := env.Client()
	if err != nil {
		return err
	}
	l := listing{output: f.out, place: place, plural: "brokers", cluster: "ClusterServiceBroker", namespaced: "ServiceBroker"}
	l.named(args, false)
	return l.show(ctx, func(place catalog.Place) (rows, error) {
		if l.one {
			broker, err := catalog.Finder{Reader: c, Place: place}.Broker(ctx, args[0])
			if err != nil {
				return nil, err
			}
			return brokerRows{brokerRowOf(broker)}, nil
		}
		var all brokerRows
		err := catalog.Brokers(ctx, c, catalog.Query{Place: place}, func(broker catalog.Broker) error {
			all = append(all, brokerRowOf(broker))
			return nil
		})
		slices.SortFunc(all, func(a, b brokerRow) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.scope, b.scope)) })
		return all, err
	})
}
