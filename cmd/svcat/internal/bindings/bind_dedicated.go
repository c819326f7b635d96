package bindings

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
)

// dedicated says that the binding is to have an instance of its own.
func (b *bind) dedicated() bool { return b.plan.Given() }

// validate reports flags that exclude each other.
func (b *bind) validate() error {
	switch {
	case b.dedicated() && b.name != "":
		return cli.Usagef("--name is for a binding to an INSTANCE: beside --type, --class, --plan or --selector the argument is the binding's own name")
	case b.dedicated() && b.instanceNamespace != "":
		return cli.Usagef("--instance-namespace is for a binding to an INSTANCE: beside --type, --class, --plan or --selector there is none yet")
	case b.dedicated() && b.adopt:
		return cli.Usagef("--adopt is for a binding to an INSTANCE: beside --type, --class, --plan or --selector a new one is made, to which its broker has no binding")
	case b.adopt && b.externalID == "":
		return cli.Usagef("say which binding of the broker's: --external-id ID")
	case b.dedicated():
		return b.plan.Validate()
	case b.plan.KubeName:
		return cli.Usagef("--kube-name says how --class and --plan are meant: INSTANCE is a Kubernetes name anyway")
	case b.provision.Given():
		return cli.Usagef("--provision-param and --provision-params-json are for an instance of the binding's own: say of what it is, by --type, --class or --selector")
	}
	return nil
}

// writeProvision writes into a binding which instance is provisioned for it.
func (b *bind) writeProvision(ctx context.Context, binding *v1beta1.ServiceBinding) error {
	var own v1beta1.ServiceInstanceSpec
	var err error
	if binding.Spec.ProvisionParameters, err = b.provision.Parameters(); err != nil {
		return err
	}
	if err := b.plan.Write(ctx, b.env, binding.Namespace, &own); err != nil {
		return err
	}
	binding.Spec.PlanReference, binding.Spec.ServiceType, binding.Spec.PlanSelector = own.PlanReference, own.ServiceType, own.PlanSelector
	return nil
}

// warnSameName says that there is an instance of the binding's name already: to get another
// one may not have been meant. A user who may not read it is told nothing.
func (b *bind) warnSameName(ctx context.Context, c client.Client, binding *v1beta1.ServiceBinding) error {
	err := c.Get(ctx, client.ObjectKeyFromObject(binding), &v1beta1.ServiceInstance{})
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(b.env.ErrOut, "there is an instance %q too: this binding gets another, of its own; svcat bind %s alone binds to that one\n", binding.Name, binding.Name)
	return err
}

// completeInstances proposes instances, but nothing where the argument is a new name.
func (b *bind) completeInstances() complete.Func {
	instances := complete.Instances(b.env)
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if b.dedicated() {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return instances(cmd, args, typed)
	}
}
