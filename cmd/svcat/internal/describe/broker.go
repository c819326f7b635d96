package describe

import (
	"cmp"
	"context"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/printer"
)

func newBroker(env *cli.Env) *cobra.Command {
	var scope cli.ScopeFlags
	cmd := &cobra.Command{
		Use:     "broker NAME",
		Aliases: cli.Aliases("broker"),
		Short:   "Show a broker: how it is reached, and how its last catalog went",
		Example: `  svcat describe broker azure
  svcat describe broker team-broker --scope namespace --namespace dev`,
		Args:              oneName,
		ValidArgsFunction: complete.Brokers(env),
		RunE:              described(env, scope.Nearest, catalog.Finder.Broker, describeBroker),
	}
	bindScope(cmd, &scope)
	return cmd
}

func describeBroker(ctx context.Context, reader client.Reader, w io.Writer, broker catalog.Broker) error {
	classes, err := classesOf(ctx, reader, broker)
	if err != nil {
		return err
	}
	var head printer.Pairs
	head.Add("Name:", broker.Object.GetName())
	addScope(&head, broker.Object, broker.Origin(), "")
	head.Add("URL:", broker.URL())
	head.Add("Status:", cmp.Or(fullStatus(broker.Status.Conditions), waiting(true)))
	head.AddSet("Controller:", byController(broker.Spec.ControllerName, broker.Object, broker.Status.ObservedGeneration, broker.Status.Conditions))
	head.AddSet("Credentials:", credentials(broker.Object))
	if broker.Spec.InsecureSkipTLSVerify {
		head.Add("Certificate:", "not verified (insecureSkipTLSVerify)")
	}
	head.Add("Relist:", relist(broker.Spec))
	head.AddSet("Catalog Fetched:", moment(broker.Status.LastCatalogRetrievalTime))
	head.AddSet("Next Retry:", moment(broker.Status.NextRetry))
	if restrictions := broker.Spec.CatalogRestrictions; restrictions != nil {
		head.AddSet("Only Classes:", strings.Join(restrictions.ServiceClass, "; "))
		head.AddSet("Only Plans:", strings.Join(restrictions.ServicePlan, "; "))
	}
	head.Add("Classes:", strconv.Itoa(classes))
	return cli.InOrder(
		func() error { return head.Write(w) },
		func() error { return writeConditions(w, broker.Status.Conditions) },
		func() error { return writeEvents(ctx, reader, w, broker.Object) },
	)
}

// classesOf counts the classes that a broker offers in its scope.
func classesOf(ctx context.Context, reader client.Reader, broker catalog.Broker) (n int, err error) {
	namespace := broker.Object.GetNamespace()
	field := v1beta1.PerScope(namespace, v1beta1.FieldClusterServiceBrokerName, v1beta1.FieldServiceBrokerName)
	query := catalog.Query{Scope: cli.ScopeOf(namespace), Fields: client.MatchingFields{field: broker.Object.GetName()}}
	err = catalog.Classes(ctx, reader, query, func(catalog.Class) error {
		n++
		return nil
	})
	return n, err
}

// credentials say which Secret a broker's credentials are in. The namespace is left out where
// it is the broker's.
func credentials(broker v1beta1.BrokerObject) string {
	secret := func(at types.NamespacedName) string {
		if at.Namespace == broker.GetNamespace() {
			return at.Name
		}
		return at.String()
	}
	basic, bearer := broker.GetAuthSecrets()
	switch none := (types.NamespacedName{}); {
	case basic != none:
		return "basic, from Secret " + secret(basic)
	case bearer != none:
		return "bearer token, from Secret " + secret(bearer)
	}
	return ""
}

// relist says when the catalog is fetched again.
func relist(spec *v1beta1.CommonServiceBrokerSpec) string {
	switch {
	case spec.RelistBehavior == v1beta1.RelistManual:
		return "when the spec changes, or by svcat sync broker"
	case spec.RelistDuration != nil:
		return "every " + spec.RelistDuration.Duration.String()
	}
	return "at the controller's own interval"
}
