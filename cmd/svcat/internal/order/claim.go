package order

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

// asksOwn says that the binding is to have an instance of its own.
func (b *bind) asksOwn() bool { return b.choice.given() }

// wellAsked says what does not go together.
func (b *bind) wellAsked() error {
	switch {
	case b.asksOwn() && b.name != "":
		return cli.Usagef("--name is for a binding to an INSTANCE: beside --type, --class, --plan or --selector the argument is the binding's own name")
	case b.asksOwn() && b.instanceNamespace != "":
		return cli.Usagef("--instance-namespace is for a binding to an INSTANCE: beside --type, --class, --plan or --selector there is none yet")
	case b.asksOwn():
		return b.choice.validate()
	case b.choice.kubeName:
		return cli.Usagef("--kube-name says how --class and --plan are meant: INSTANCE is a Kubernetes name anyway")
	case b.provisions.given():
		return cli.Usagef("--provision-param and --provision-params-json are for an instance of the binding's own: say of what it is, by --type, --class or --selector")
	}
	return nil
}

// claims writes into a binding what its own instance is to be.
func (b *bind) claims(ctx context.Context, binding *v1beta1.ServiceBinding) error {
	var own v1beta1.ServiceInstanceSpec
	var err error
	if binding.Spec.ProvisionParameters, err = b.provisions.parameters(); err != nil {
		return err
	}
	if err := b.choice.ask(ctx, b.env, binding.Namespace, &own); err != nil {
		return err
	}
	binding.Spec.PlanReference, binding.Spec.ServiceType, binding.Spec.PlanSelector = own.PlanReference, own.ServiceType, own.PlanSelector
	return nil
}

// beside tells who asks for another instance although one of that name is there: that
// may not have been meant. Who may not read it is not told.
func (b *bind) beside(ctx context.Context, c client.Client, binding *v1beta1.ServiceBinding) error {
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

// bindable proposes instances, but nothing where the argument is a new name.
func (b *bind) bindable() complete.Func {
	instances := complete.Instances(b.env)
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if b.asksOwn() {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return instances(cmd, args, typed)
	}
}

// own is the binding of that name that has an instance of its own; nil where there is
// none.
func own(ctx context.Context, reader client.Reader, namespace, name string) (*v1beta1.ServiceBinding, error) {
	binding := &v1beta1.ServiceBinding{}
	err := read(ctx, reader, namespace, name, binding)
	if absent(err) || err == nil && !binding.Dedicated() {
		return nil, nil
	}
	return binding, err
}

// withIt says what else goes when a binding does: the instance that was made for it.
// Empty: nothing.
func (f *farewell) withIt(ctx context.Context, reader client.Reader, binding *v1beta1.ServiceBinding) string {
	made := binding.Status.InstanceRef
	if !binding.Dedicated() || made == nil {
		return ""
	}
	if !f.abandon {
		return fmt.Sprintf("its own instance %q goes with it, and all that is in it", made.Name)
	}
	instance := &v1beta1.ServiceInstance{}
	if reader.Get(ctx, client.ObjectKey{Namespace: binding.Namespace, Name: made.Name}, instance) != nil {
		return fmt.Sprintf("its own instance %q is let go with it", made.Name)
	}
	return fmt.Sprintf("its own instance %q is let go with it: %s", made.Name, stays(ctx, reader, instance))
}
