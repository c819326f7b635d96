package brokers

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
)

// syncBroker is the command `sync broker`.
type syncBroker struct {
	env   *cli.Env
	write cli.WriteFlags
	wait  cli.WaitFlags
	scope cli.ScopeFlags
}

// NewSync returns the command `svcat sync`.
func NewSync(env *cli.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "sync",
		Aliases: []string{"relist"},
		Short:   "Have a broker's catalog read again",
		Example: "  svcat sync broker azure",
	}
	cmd.AddCommand(newSyncBroker(env))
	return cmd
}

func newSyncBroker(env *cli.Env) *cobra.Command {
	s := &syncBroker{env: env}
	cmd := &cobra.Command{
		Use:     "broker NAME",
		Aliases: cli.Aliases("broker"),
		Short:   "Have a broker's catalog read again",
		Long: `Have a broker's catalog read again: that of the current namespace, else that of the
cluster. With --wait until its catalog was taken over.`,
		Example: `  svcat sync broker azure
  svcat sync broker azure --scope cluster --wait
  svcat relist broker mine --namespace dev`,
		Args:              cli.OneName("broker"),
		ValidArgsFunction: complete.Brokers(env),
		RunE:              cli.OnName(s.run),
	}
	s.scope.Bind(cmd.Flags(), false)
	s.wait.Bind(cmd.Flags())
	s.write.Bind(cmd.Flags())
	completions(cmd)
	return cmd
}

func (s *syncBroker) run(ctx context.Context, name string) error {
	if err := cli.InOrder(s.write.Validate, s.wait.Validate); err != nil {
		return err
	}
	scope, err := s.scope.Resolve(s.env)
	if err != nil {
		return err
	}
	c, err := s.env.Client()
	if err != nil {
		return err
	}
	broker, err := find(ctx, c, scope, name)
	if err != nil {
		return err
	}
	err = cli.Whole(ctx, fmt.Sprintf("broker %q is being synchronized", name), func(ctx context.Context) error {
		return s.raise(ctx, c, broker)
	})
	if err != nil {
		return err
	}
	if s.write.Stores() {
		if err := s.wait.Ready(ctx, s.env, broker.Object); err != nil {
			return err
		}
	}
	if s.wait.Wait && s.write.Stores() {
		return s.write.Report(s.env, broker.Object, "Synchronized broker: %s", name)
	}
	return s.write.Report(s.env, broker.Object, "Synchronization requested for broker: %s", name)
}

// raise counts up by one the requests that the broker has now.
func (s *syncBroker) raise(ctx context.Context, c client.Client, broker catalog.Broker) error {
	return cli.Edit(ctx, c, &s.write, broker.Object, func(v1beta1.BrokerObject) error {
		broker.Spec.RelistRequests++
		return nil
	})
}
