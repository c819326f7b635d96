package describe

import (
	"context"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// limited is a cluster where namespace shop may have two instances and one binding, which
// are taken.
func limited() []client.Object {
	class := &v1beta1.ClusterServiceClass{ObjectMeta: metav1.ObjectMeta{Name: "c"}}
	class.Spec.ExternalName = "mysql"
	plan := &v1beta1.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
	plan.Spec.ClusterServiceClassRef.Name = "c"
	policy := func(name, of string) *v1beta1.ProvisioningPolicy {
		p := &v1beta1.ProvisioningPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}}
		p.Spec.Action, p.Spec.MaxInstances, p.Spec.MaxBindings = v1beta1.PolicyLimit, new(int32(2)), new(int32(1))
		p.Spec.Subjects = []v1beta1.PolicySubject{{PlanSubject: v1beta1.PlanSubject{ClassName: of}}}
		p.Spec.Namespaces = &v1beta1.PolicyNamespaces{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "x"}}}
		p.Status.Slots = []v1beta1.PolicySlots{{Namespace: "shop", Instances: []types.UID{"u-1", "u-2"}, Bindings: []types.UID{"u-3"}}}
		return p
	}
	return []client.Object{
		class, plan, policy("a-others", "redis"), policy("small", "mysql"),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{"team": "x"}}},
	}
}

func TestWaitsForSlot(t *testing.T) {
	t.Parallel()
	meta := func(uid types.UID) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "shop", Name: "db", UID: uid}
	}
	ready := func(reason string) []v1beta1.Condition {
		return []v1beta1.Condition{{Type: v1beta1.ConditionReady, Status: v1beta1.ConditionUnknown, Reason: reason}}
	}
	plan := v1beta1.DecidedReference{ClusterServicePlanRef: &v1beta1.ClusterObjectReference{Name: "p"}}
	instance := func(uid types.UID, reason string) *waiter {
		i := &v1beta1.ServiceInstance{ObjectMeta: meta(uid)}
		i.Spec.DecidedReference, i.Status.Conditions = plan, ready(reason)
		return waitingInstance(i)
	}
	binding := &v1beta1.ServiceBinding{ObjectMeta: meta("u-9")}
	binding.Spec.InstanceRef, binding.Spec.DecidedReference, binding.Status.Conditions = &v1beta1.InstanceReference{Name: "mydb"}, plan, ready(reasonSlot)
	for name, tc := range map[string]struct {
		reason string
		waiter *waiter
		hidden string
		want   string
	}{
		"Instance":   {reason: "which policy, and how full it is", waiter: instance("u-9", reasonSlot), want: `ProvisioningPolicy "small" (2 of 2 instances taken)`},
		"Binding":    {reason: "by the other limit", waiter: waitingBinding(binding, nil), want: `ProvisioningPolicy "small" (1 of 1 binding taken)`},
		"Granted":    {reason: "it goes on by itself", waiter: instance("u-2", reasonSlot)},
		"Busy":       {reason: "it waits for something else", waiter: instance("u-9", "Provisioning")},
		"Policies":   {reason: "one may not read them", waiter: instance("u-9", reasonSlot), hidden: "ProvisioningPolicyList"},
		"Namespaces": {reason: "which policy holds cannot be told", waiter: instance("u-9", reasonSlot), hidden: "Namespace"},
		"NoClass":    {reason: "its class is gone: the line is left out", waiter: instance("u-9", reasonSlot), hidden: "ClusterServiceClass"},
		"NoPlan":     {reason: "its plan is gone", waiter: instance("u-9", reasonSlot), hidden: "ClusterServicePlan"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scheme, err := cli.Scheme()
			require.NoError(t, err)
			forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "things"}, "", nil)
			reader := interceptor.NewClient(fake.NewClientBuilder().WithScheme(scheme).WithObjects(limited()...).Build(), interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
					switch hidden := reflect.TypeOf(object).Elem().Name(); {
					case hidden != tc.hidden:
					case hidden == "Namespace":
						return forbidden
					default:
						return apierrors.NewNotFound(schema.GroupResource{Resource: "things"}, key.Name)
					}
					return c.Get(ctx, key, object, options...)
				},
				List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
					if _, is := list.(*v1beta1.ProvisioningPolicyList); is && tc.hidden == "ProvisioningPolicyList" {
						return forbidden
					}
					return c.List(ctx, list, options...)
				},
			})
			got, err := tc.waiter.slot(t.Context(), reader)
			require.NoError(t, err)
			assert.Equal(t, tc.want, got, tc.reason)
		})
	}
}
