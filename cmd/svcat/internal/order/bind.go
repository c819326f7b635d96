package order

import (
	"context"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/describe"
)

// bind is the command.
type bind struct {
	env   *cli.Env
	write cli.WriteFlags
	wait  cli.WaitFlags
	gift  gift

	name, secretName, externalID string
}

// NewBind returns the command `svcat bind`.
func NewBind(env *cli.Env) *cobra.Command {
	b := &bind{env: env}
	cmd := &cobra.Command{
		Use:   "bind INSTANCE",
		Short: "Ask for credentials of an instance, in a Secret",
		Long: `Ask for credentials of an instance, in a Secret, and print the binding as it was
decided on. The binding is called as the instance unless --name says otherwise, and
the Secret as the binding unless --secret-name does.`,
		Example: `  svcat bind mydb
  svcat bind mydb --name mydb-admin --param user=admin
  svcat bind mydb --name mydb-admin --secret-name admin-credentials --wait
  svcat bind mydb --params-json '{"teams": ["news", "weather"]}'
  svcat bind mydb --dry-run=server -o yaml`,
		Args:              cli.OneName("instance"),
		ValidArgsFunction: complete.Instances(env),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.Untouched(b.run(cmd.Context(), args[0]))
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&b.name, "name", "", "The name of the binding; absent, that of the instance")
	flags.StringVar(&b.secretName, "secret-name", "", "The name of the Secret; absent, that of the binding")
	flags.StringVar(&b.externalID, "external-id", "", "The ID of the binding at its broker; absent, admission makes one. Whoever gives one needs the right to adopt")
	b.gift.bind(flags)
	b.wait.Bind(flags)
	b.write.Bind(flags)
	completions(cmd, nil)
	return cmd
}

func (b *bind) run(ctx context.Context, instanceName string) error {
	binding, err := b.binding(instanceName)
	if err != nil {
		return err
	}
	c, err := b.env.Client()
	if err != nil {
		return err
	}
	// Admission lets a binding come before its instance, for manifests that hold
	// both; who types has mistyped.
	instance, err := findInstance(ctx, c, binding.Namespace, instanceName)
	if err != nil {
		return err
	}
	if b.write.Sends() {
		err = cli.Whole(ctx, quoted("binding", binding.Name)+" was created", func(ctx context.Context) error {
			return b.write.Create(ctx, c, binding)
		})
		if err != nil {
			return err
		}
	}
	var waited error
	if b.write.Stores() {
		waited = b.wait.Ready(ctx, b.env, binding)
	}
	if err := b.tell(binding, instance); err != nil {
		return err
	}
	return waited
}

// binding is the manifest that goes out.
func (b *bind) binding(instance string) (*v1beta1.ServiceBinding, error) {
	if err := validated(b.write.Validate, b.wait.Validate); err != nil {
		return nil, err
	}
	parameters, err := b.gift.parameters()
	if err != nil {
		return nil, err
	}
	from, err := b.gift.from()
	if err != nil {
		return nil, err
	}
	namespace, _, err := b.env.Namespace()
	if err != nil {
		return nil, err
	}
	name := b.name
	if name == "" {
		name = instance
	}
	binding := &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}}
	binding.Spec.InstanceRef = &v1beta1.InstanceReference{Name: instance}
	binding.Spec.SecretName, binding.Spec.ExternalID = b.secretName, b.externalID
	binding.Spec.Parameters, binding.Spec.ParametersFrom = parameters, from
	return binding, nil
}

func (b *bind) tell(binding *v1beta1.ServiceBinding, instance *v1beta1.ServiceInstance) error {
	if b.write.Output != "" {
		return b.write.PrintNew(b.env, binding)
	}
	if err := b.write.TellDryRun(b.env); err != nil {
		return err
	}
	return describe.WriteBinding(b.env.Out, binding, instance)
}
