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
	return one(ctx, g.reader, ref, v1beta1.NewPlan(ref.Namespace), catalog.PlanOf, g.addPlan)
}

func (g gatherer) classOf(ctx context.Context, ref resolve.Ref) error {
	return one(ctx, g.reader, ref, v1beta1.NewClass(ref.Namespace), catalog.ClassOf, g.addClass)
}

func (g gatherer) record(ctx context.Context, ref resolve.Ref) error {
	return one(ctx, g.reader, ref, v1beta1.NewType(ref.Namespace), catalog.TypeOf, g.addType)
}

// one reads an object by its name and adds its view, if there is one.
func one[V any](
	ctx context.Context, reader client.Reader, ref resolve.Ref, object client.Object,
	view func(client.Object) (V, bool), add func(V) error,
) error {
	err := reader.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, object)
	switch {
	case isAbsent(err):
		return nil
	case err != nil:
		return fmt.Errorf("cannot get %T %q: %w", object, ref.Name, err)
	}
	found, _ := view(object)
	return add(found)
}

// isAbsent says that there is no object of the name that was read; a name that no object can
// have is of none.
func isAbsent(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)
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
		return g.note("you may not list " + resource + ": whether one of them refuses a plan is not told here")
	}
	return err
}

func (g gatherer) place(ctx context.Context, name string) error {
	found := &corev1.Namespace{}
	err := g.reader.Get(ctx, client.ObjectKey{Name: name}, found)
	switch {
	case apierrors.IsForbidden(err):
		return g.note(fmt.Sprintf("you may not get namespace %q: policies that go by its labels may hold there without being told here", name))
	case apierrors.IsNotFound(err):
		return g.note(fmt.Sprintf("there is no namespace %q", name))
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
			return g.addPolicy(p.DeepCopy(), rule)
		}
	case *v1beta1.BindingPolicy:
		if rule, err := policy.FromBinding(p); err == nil {
			return g.addPolicy(p.DeepCopy(), rule)
		}
	}
	return nil
}
