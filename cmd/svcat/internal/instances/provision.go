package instances

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/describe"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/parameters"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/planflags"
)

// provision is the command.
type provision struct {
	env        *cli.Env
	write      cli.WriteFlags
	wait       cli.WaitFlags
	plan       planflags.Flags
	parameters parameters.Flags
	externalID string
	// adopts says that the instance exists at its broker and is not provisioned.
	adopts bool
}

// NewProvision returns the command `svcat provision`.
func NewProvision(env *cli.Env) *cobra.Command {
	p := &provision{env: env}
	cmd := &cobra.Command{
		Use:   "provision NAME (--type TYPE | --class CLASS [--plan PLAN] | --selector LABELS)",
		Short: "Order an instance of a service",
		Long: `Order an instance of a service, and print it as it was decided on.

With --type alone the operator's default plan of that type is taken, with its
default parameters; --param and --params-json override them one by one. A class is
looked for in the namespace first, then in the cluster.`,
		Example: `  # a database, whichever it is here
  svcat provision mydb --type mysql

  # a plan of your choice, with one parameter other than the default
  svcat provision mydb --class azure-mysql --plan basic50 --param location=westus
  svcat provision mydb --plan azure-mysql/basic50

  # the heaviest plan that has four cores, and wait until it can be used
  svcat provision mydb --type mysql --selector Cores=4 --wait --timeout 10m

  # parameters that are no texts, and some that are secret
  svcat provision mydb --type mysql --params-json '{"size": 5, "tags": ["a", "b"]}'
  svcat provision mydb --type mysql --params-json @parameters.json --secret mysecret[parameters]

  # what would be sent, and what admission would make of it
  svcat provision mydb --type mysql --dry-run=client -o yaml
  svcat provision mydb --type mysql --dry-run=server -o yaml`,
		Args:              cli.OneName("instance"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              cli.OnName(p.run),
	}
	cmd.Flags().StringVar(&p.externalID, "external-id", "", "The ID of the instance at its broker, which requires the verb adopt; absent, admission generates one")
	p.bind(cmd)
	return cmd
}

// bind adds the flags that say what is ordered.
func (p *provision) bind(cmd *cobra.Command) {
	p.plan.Bind(cmd.Flags())
	p.parameters.Bind(cmd.Flags())
	p.wait.Bind(cmd.Flags())
	p.write.Bind(cmd.Flags())
	complete.Flags(cmd, planflags.Completions(p.env), "param", "secret", "external-id")
}

func (p *provision) run(ctx context.Context, name string) error {
	instance, err := p.instance(ctx, name)
	if err != nil {
		return err
	}
	creation := cli.Creation{
		Env: p.env, Write: &p.write, Wait: &p.wait, Done: fmt.Sprintf("instance %q was created", name),
		Show: func(w io.Writer) error { return describe.WriteInstance(w, instance) },
	}
	return creation.Run(ctx, instance)
}

// instance is the manifest that is sent.
func (p *provision) instance(ctx context.Context, name string) (*v1beta1.ServiceInstance, error) {
	if err := cli.InOrder(p.write.Validate, p.wait.Validate, p.plan.Validate, p.requireExternalID); err != nil {
		return nil, err
	}
	given, err := p.parameters.Parameters()
	if err != nil {
		return nil, err
	}
	from, err := p.parameters.From()
	if err != nil {
		return nil, err
	}
	namespace, _, err := p.env.Namespace()
	if err != nil {
		return nil, err
	}
	instance := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}}
	if p.adopts {
		instance.Annotations = map[string]string{v1beta1.AnnotationAdopt: "true"}
	}
	instance.Spec.Parameters, instance.Spec.ParametersFrom, instance.Spec.ExternalID = given, from, p.externalID
	return instance, p.plan.Write(ctx, p.env, namespace, &instance.Spec)
}
