package brokers

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// register is the command.
type register struct {
	env   *cli.Env
	write cli.WriteFlags
	wait  cli.WaitFlags
	scope scope
	about about
}

// NewRegister returns the command `svcat register`.
func NewRegister(env *cli.Env) *cobra.Command {
	r := &register{env: env}
	cmd := &cobra.Command{
		Use:   "register NAME --url URL",
		Short: "Register a broker, whose catalog becomes classes and plans",
		Long: `Register a broker, whose catalog becomes classes and plans: for the current
namespace, or with --scope cluster for everybody.`,
		Example: `  svcat register azure --url https://broker.example.com --scope cluster --basic-secret brokers/azure --wait
  svcat register mine --url https://broker.example.com --bearer-secret token --ca ca.crt
  svcat register mine --url https://broker.example.com --relist-behavior manual \
      --class-restrictions 'spec.externalName in (mysql, redis)' --plan-restrictions spec.free=true
  svcat register mine --url https://broker.example.com --dry-run=client -o yaml`,
		Args:              cli.OneName("broker"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              cli.OnName(r.run),
	}
	r.about.bind(cmd.Flags())
	r.scope.bind(cmd.Flags())
	r.wait.Bind(cmd.Flags())
	r.write.Bind(cmd.Flags())
	completions(cmd)
	return cmd
}

func (r *register) run(ctx context.Context, name string) error {
	broker, err := r.broker(name)
	if err != nil {
		return err
	}
	creation := cli.Creation{
		Env: r.env, Write: &r.write, Wait: &r.wait, Done: fmt.Sprintf("broker %q was registered", name),
		Show: func(w io.Writer) error { return writeBroker(w, broker) },
	}
	return creation.Run(ctx, broker)
}

// broker is the manifest that goes out.
func (r *register) broker(name string) (client.Object, error) {
	if err := cli.InOrder(r.write.Validate, r.wait.Validate, r.scope.validate, r.about.validate); err != nil {
		return nil, err
	}
	namespace, _, err := r.env.Namespace()
	if err != nil {
		return nil, err
	}
	if r.scope.cluster {
		return r.about.clusterBroker(name, namespace)
	}
	return r.about.serviceBroker(name, namespace)
}
