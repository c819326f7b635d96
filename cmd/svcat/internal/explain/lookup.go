package explain

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
)

func (g gatherer) plan(ctx context.Context, ref resolve.Ref) error {
	object, err := g.one(ctx, ref, v1beta1.NewPlan(ref.Namespace))
	if view, ok := catalog.PlanOf(object); ok {
		return g.addPlan(view)
	}
	return err
}

func (g gatherer) classOf(ctx context.Context, ref resolve.Ref) error {
	object, err := g.one(ctx, ref, v1beta1.NewClass(ref.Namespace))
	if view, ok := catalog.ClassOf(object); ok {
		return g.addClass(view)
	}
	return err
}

func (g gatherer) record(ctx context.Context, ref resolve.Ref) error {
	object, err := g.one(ctx, ref, v1beta1.NewType(ref.Namespace))
	if view, ok := catalog.TypeOf(object); ok {
		return g.addType(view)
	}
	return err
}

// one reads an object by its name; nil if there is none.
func (g gatherer) one(ctx context.Context, ref resolve.Ref, object client.Object) (client.Object, error) {
	err := g.reader.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, object)
	// A name that no object can have is of none.
	if apierrors.IsNotFound(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot get %T %q: %w", object, ref.Name, err)
	}
	return object, nil
}

// provisioning reads the policies about instances. A user who may not is told so: the
// rest is worth knowing without.
func (g gatherer) provisioning(ctx context.Context) error {
	return g.policiesOf(ctx, &v1beta1.ProvisioningPolicyList{}, "provisioningpolicies")
}

// binding reads the policies about bindings.
func (g gatherer) binding(ctx context.Context) error {
	return g.policiesOf(ctx, &v1beta1.BindingPolicyList{}, "bindingpolicies")
}

func (g gatherer) policiesOf(ctx context.Context, list client.ObjectList, resource string) error {
	err := catalog.Pages(ctx, g.reader, list, g.takePolicy)
	if apierrors.IsForbidden(err) {
		g.note("you may not list " + resource + ": whether one of them refuses a plan is not told here")
		return nil
	}
	return err
}

func (g gatherer) place(ctx context.Context, name string) error {
	found := &corev1.Namespace{}
	err := g.reader.Get(ctx, client.ObjectKey{Name: name}, found)
	switch {
	case apierrors.IsForbidden(err):
		g.note(fmt.Sprintf("you may not get namespace %q: policies that go by its labels may hold there without being told here", name))
		return nil
	case apierrors.IsNotFound(err):
		g.note(fmt.Sprintf("there is no namespace %q", name))
		return nil
	case err != nil:
		return fmt.Errorf("cannot get namespace %q: %w", name, err)
	}
	g.namespace = found
	return nil
}

// takePolicy adds one policy. One that cannot be compiled has no effect.
func (g gatherer) takePolicy(object runtime.Object) error {
	switch p := object.(type) {
	case *v1beta1.ProvisioningPolicy:
		if rule, err := policy.FromProvisioning(p); err == nil {
			g.addPolicy(p.DeepCopy(), rule)
		}
	case *v1beta1.BindingPolicy:
		if rule, err := policy.FromBinding(p); err == nil {
			g.addPolicy(p.DeepCopy(), rule)
		}
	}
	return nil
}
