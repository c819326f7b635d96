package brokers

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/removal"
)

// deregister is the command.
type deregister struct {
	env     *cli.Env
	write   cli.WriteFlags
	wait    cli.WaitFlags
	removal removal.Flags
	scope   scope
}

// NewDeregister returns the command `svcat deregister`.
func NewDeregister(env *cli.Env) *cobra.Command {
	d := &deregister{env: env}
	cmd := &cobra.Command{
		Use:   "deregister NAME",
		Short: "Remove a broker, with the classes and plans of its catalog",
		Long: `Remove a broker, with the classes and plans of its catalog: one of the current
namespace, or with --scope cluster one of the cluster. It waits until its instances
are gone. At a terminal it asks first, with the number of its classes and plans and its
age; --yes skips the question. Scripts are not asked.`,
		Example: `  svcat deregister mine
  svcat deregister mine --namespace dev
  svcat deregister azure --scope cluster --wait`,
		Args:              cli.OneName("broker"),
		ValidArgsFunction: complete.Brokers(env),
		RunE:              cli.OnName(d.run),
	}
	d.scope.bind(cmd.Flags())
	d.removal.BindYes(cmd.Flags())
	d.wait.Bind(cmd.Flags())
	d.write.Bind(cmd.Flags())
	completions(cmd)
	return cmd
}

func (d *deregister) run(ctx context.Context, name string) error {
	if err := cli.InOrder(d.write.Validate, d.wait.Validate, d.scope.validate); err != nil {
		return err
	}
	namespace, _, err := d.env.Namespace()
	if err != nil {
		return err
	}
	c, err := d.env.Client()
	if err != nil {
		return err
	}
	broker, err := d.find(ctx, c, namespace, name)
	if err != nil {
		return err
	}
	if err := d.confirm(ctx, c, broker); err != nil {
		return err
	}
	err = cli.Whole(ctx, fmt.Sprintf("broker %q is being removed", name), func(ctx context.Context) error {
		return d.write.Delete(ctx, c, broker)
	})
	if err != nil {
		return err
	}
	if d.wait.Wait && d.write.Stores() {
		if err := d.wait.Gone(ctx, d.env, broker); err != nil {
			return err
		}
		return d.write.Report(d.env, broker, "Successfully removed broker %q", name)
	}
	return d.write.Report(d.env, broker, "Removal requested for broker: %s", name)
}

// find finds the broker in the scope that was said.
func (d *deregister) find(ctx context.Context, c client.Client, namespace, name string) (client.Object, error) {
	if d.scope.cluster {
		namespace = ""
	}
	broker, err := find(ctx, c, cli.ScopeOf(namespace), name)
	return broker.Object, err
}

// confirm asks whether it is meant, with what the broker's catalog has here.
func (d *deregister) confirm(ctx context.Context, c client.Client, broker client.Object) error {
	if !d.removal.Asks(d.env, &d.write) {
		return nil
	}
	field := v1beta1.FieldServiceBrokerName
	if d.scope.cluster {
		field = v1beta1.FieldClusterServiceBrokerName
	}
	offered := catalog.Query{Scope: cli.ScopeOf(broker.GetNamespace()), Fields: client.MatchingFields{field: broker.GetName()}}
	classes, err := catalog.All(ctx, c, offered, catalog.Classes)
	var plans []catalog.Plan
	if err == nil {
		plans, err = catalog.All(ctx, c, offered, catalog.Plans)
	}
	what := removal.Broker(broker, len(classes), len(plans), time.Now())
	switch {
	case apierrors.IsForbidden(err):
		// To delete a broker does not take the right to list what it offers.
		what = fmt.Sprintf("broker %q (you may not list its classes and plans)", broker.GetName())
	case err != nil:
		return err
	}
	return d.removal.Confirm(ctx, d.env, &d.write, what)
}
