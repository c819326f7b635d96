package bindings

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/describe"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/parameters"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/planflags"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/target"
)

// bind is the command.
type bind struct {
	env        *cli.Env
	write      cli.WriteFlags
	wait       cli.WaitFlags
	parameters parameters.Flags
	// plan and provision are for an instance of the binding's own.
	plan      planflags.Flags
	provision parameters.Flags

	name, secretName, serviceName, externalID string
	// adopt says that the broker has the binding already.
	adopt bool
	// instanceNamespace is that of an instance which another namespace shares.
	instanceNamespace string
}

// NewBind returns the command `svcat bind`.
func NewBind(env *cli.Env) *cobra.Command {
	b := &bind{env: env}
	cmd := &cobra.Command{
		Use:   "bind (INSTANCE | NAME (--type TYPE | --class CLASS [--plan PLAN] | --selector LABELS))",
		Short: "Ask for credentials of an instance, or of one of your own, in a Secret",
		Long: `Ask for credentials of an instance, in a Secret, and print the binding as it was
decided on. The binding is called as the instance unless --name says otherwise, and
the Secret as the binding unless --secret-name does.

With --type, --class, --plan or --selector the binding gets an instance of its own,
which is made for it and goes with it: one object in, one Secret out. Then the argument
is the binding's name. How the plan is chosen is as with svcat provision.

With --adopt the broker has the binding already, under the ID of --external-id, and is
never asked for another. Its credentials are fetched, or where that is not possible taken
from the Secret, if that says by its annotation whose they are: see docs/adopt.md.`,
		Example: `  svcat bind mydb
  svcat bind mydb --name mydb-admin --param user=admin
  svcat bind mydb --name mydb-admin --secret-name admin-credentials --wait
  svcat bind mydb --params-json '{"teams": ["news", "weather"]}'
  svcat bind mydb --dry-run=server -o yaml

  # an instance that another namespace shares with this one
  svcat bind mydb --instance-namespace infra --wait

  # a database for this binding alone, and its credentials
  svcat bind shop-db --type mysql --wait
  svcat bind shop-db --class azure-mysql --plan basic50 --provision-param location=westus

  # credentials that another cluster asked for
  svcat bind invoices --name shop --external-id 0d9c7f5e-3b1a-4e42-8f68-5a1f9a3c2b10 --adopt --wait`,
		Args:              cli.OneName("instance"),
		ValidArgsFunction: b.completeInstances(),
		RunE:              cli.OnName(b.run),
	}
	flags := cmd.Flags()
	flags.StringVar(&b.name, "name", "", "The name of the binding; absent, that of the instance")
	flags.StringVar(&b.secretName, "secret-name", "", "The name of the Secret; absent, that of the binding")
	flags.StringVar(&b.serviceName, "service-name", "", "The name of the Service in front of the broker's endpoints; absent, that of the binding")
	flags.StringVar(&b.externalID, "external-id", "", "The ID of the binding at its broker, which requires the verb adopt; absent, admission generates one")
	flags.BoolVar(&b.adopt, "adopt", false, "The broker has the binding of --external-id already: take it over, and ask for none")
	flags.StringVar(&b.instanceNamespace, "instance-namespace", "", "The namespace of the INSTANCE, if it is another that shares it (see svcat share)")
	b.parameters.Bind(flags)
	b.plan.Bind(flags)
	b.provision.BindProvision(flags)
	b.wait.Bind(flags)
	b.write.Bind(flags)
	proposals := planflags.Completions(env)
	proposals["instance-namespace"] = complete.Namespaces(env)
	complete.Flags(cmd, proposals, "param", "provision-param", "secret", "name", "secret-name", "service-name", "external-id")
	return cmd
}

func (b *bind) run(ctx context.Context, name string) error {
	binding, err := b.binding(ctx, name)
	if err != nil {
		return err
	}
	c, err := b.env.Client()
	if err != nil {
		return err
	}
	instance, err := b.instance(ctx, c, binding)
	if err != nil {
		return err
	}
	creation := cli.Creation{
		Env: b.env, Write: &b.write, Wait: &b.wait, Done: fmt.Sprintf("binding %q was created", binding.Name),
		Show: func(w io.Writer) error { return describe.WriteBinding(w, binding, instance) },
	}
	return creation.Run(ctx, binding)
}

// instance is the one that the binding is for; nil where it is still to be made. Admission
// lets a binding precede its instance, for manifests that hold both; on a command line an
// instance that does not exist is a typing error.
func (b *bind) instance(ctx context.Context, c client.Client, binding *v1beta1.ServiceBinding) (*v1beta1.ServiceInstance, error) {
	if b.dedicated() {
		return nil, b.warnSameName(ctx, c, binding)
	}
	if binding.Shares() {
		// The user need not be able to read it; admission decides.
		return nil, nil
	}
	return target.Instance(ctx, c, binding.Namespace, binding.Spec.InstanceRef.Name)
}

// binding is the manifest that is sent.
func (b *bind) binding(ctx context.Context, instance string) (*v1beta1.ServiceBinding, error) {
	if err := cli.InOrder(b.write.Validate, b.wait.Validate, b.validate); err != nil {
		return nil, err
	}
	given, err := b.parameters.Parameters()
	if err != nil {
		return nil, err
	}
	from, err := b.parameters.From()
	if err != nil {
		return nil, err
	}
	namespace, _, err := b.env.Namespace()
	if err != nil {
		return nil, err
	}
	binding := &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Name: cmp.Or(b.name, instance), Namespace: namespace}}
	binding.Spec.SecretName, binding.Spec.ServiceName, binding.Spec.ExternalID = b.secretName, b.serviceName, b.externalID
	binding.Spec.Parameters, binding.Spec.ParametersFrom = given, from
	if b.adopt {
		binding.Annotations = map[string]string{v1beta1.AnnotationAdopt: "true"}
	}
	if b.dedicated() {
		return binding, b.writeProvision(ctx, binding)
	}
	binding.Spec.InstanceRef = &v1beta1.InstanceReference{Name: instance, Namespace: b.instanceNamespace}
	return binding, nil
}
