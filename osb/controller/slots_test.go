package controller

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/metrics/metricstest"
	"github.com/defaultplan/defaultplan/osb/controller/policies"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// limited is a policy that lets a namespace have one binding to mysql, and granted it to
// those.
func limited(granted ...types.UID) *v1beta1.ProvisioningPolicy {
	p := &v1beta1.ProvisioningPolicy{ObjectMeta: metav1.ObjectMeta{Name: "few"}}
	p.Spec.Action, p.Spec.MaxBindings, p.Spec.Message = v1beta1.PolicyLimit, new(int32(1)), "ask Ann"
	p.Spec.Subjects = []v1beta1.PolicySubject{{PlanSubject: v1beta1.PlanSubject{ServiceType: "mysql"}}}
	p.Status.Slots = []v1beta1.PolicySlots{{Namespace: "n", Bindings: granted}}
	return p
}

// knowing reads policies from a store of their own, and everything else from the world's.
type knowing struct {
	client.Reader

	policies client.Reader
}

func (k knowing) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	switch list.(type) {
	case *v1beta1.ProvisioningPolicyList, *metav1.PartialObjectMetadataList:
		return k.policies.List(ctx, list, options...)
	}
	return k.Reader.List(ctx, list, options...)
}

func (k knowing) Get(ctx context.Context, at client.ObjectKey, o client.Object, options ...client.GetOption) error {
	if _, is := o.(*v1beta1.ProvisioningPolicy); is {
		return k.policies.Get(ctx, at, o, options...)
	}
	return k.Reader.Get(ctx, at, o, options...)
}

// limit has the world's binding be under what the cache knows and what there is.
func (w *bindingWorld) limit(known, live *v1beta1.ProvisioningPolicy) {
	w.Helper()
	with := func(p *v1beta1.ProvisioningPolicy) knowing {
		builder := fake.NewClientBuilder().WithScheme(w.cache.Scheme())
		if p != nil {
			builder = builder.WithObjects(p.DeepCopy())
		}
		return knowing{w.cache, builder.Build()}
	}
	w.reconciler.slots = &policies.Slots{Cached: with(known), Live: with(live)}
}

func (w *bindingWorld) waits(b *v1beta1.ServiceBinding) {
	w.Helper()
	ready, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionReady)
	assert.Equal(w, v1beta1.ConditionUnknown, ready.Status)
	assert.Equal(w, policies.ReasonSlot, ready.Reason)
	assert.Contains(w, ready.Message, `ProvisioningPolicy "few" lets namespace "n" have 1 binding`)
	assert.Contains(w, ready.Message, "ask Ann")
	assert.Empty(w, b.Status.CurrentOperation, "nothing may be at the broker")
	assert.Nil(w, b.Status.InProgressProperties)
	assert.Equal(w, v1beta1.UnbindNotRequired, b.Status.UnbindStatus)
	assert.Empty(w, w.broker.Calls(osbtest.Of(osbtest.Bind)))
}

func TestWithoutSlotNothingIsBound(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t)
	w.limit(limited("other"), limited("other"))
	b, _ := w.pass()
	w.waits(b)
	assert.Equal(t, []string{"patch status ServiceBinding"}, w.took()[1:], "no intent was stored")
	assert.Contains(t, <-w.recorder.Events, "Normal WaitingForSlot ProvisioningPolicy")
	again, _ := w.pass()
	assert.Equal(t, b.ResourceVersion, again.ResourceVersion, "a waiting object is not written")
	assert.Empty(t, w.recorder.Events, "it is told once")

	w.limit(limited("binding-uid"), limited("binding-uid"))
	b, _ = w.pass()
	require.NotNil(t, b.Status.Binding)
}

// TestTheSlotIsLookedAtAfterTheIntent: what the cache has may be old.
func TestTheSlotIsLookedAtAfterTheIntent(t *testing.T) {
	t.Parallel()
	for name, known := range map[string]*v1beta1.ProvisioningPolicy{"Taken": limited("binding-uid"), "PolicyIsNew": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newBindingWorld(t)
			w.limit(known, limited("other"))
			b, result := w.pass()
			w.waits(b)
			assert.Equal(t, time.Second, result.RequeueAfter)
			assert.Zero(t, metricstest.Series(t, w.registry, "defaultplan_broker_calls_total"), "the broker was not asked")
			require.NotNil(t, b.Status.NextRetry, "it is not tried without end")
			assert.Equal(t, []string{"patch status ServiceBinding", "get ServiceInstance", "patch status ServiceBinding"}, w.took()[1:])
			b.Status.NextRetry = nil
			require.NoError(t, w.cache.Status().Update(t.Context(), b))
			w.limit(limited("binding-uid"), limited("binding-uid"))
			b, _ = w.pass()
			require.NotNil(t, b.Status.Binding)
			assert.Len(t, w.broker.Bindings(), 1)
			w.broker.AssertDuties(t)
		})
	}
}

// What exists is nothing to limits.
func TestWhatIsBoundNeedsNoSlot(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t)
	b, _ := w.pass()
	require.NotNil(t, b.Status.Binding)
	w.limit(limited(), limited())
	require.NoError(t, w.cache.Delete(t.Context(), w.secretHere("b")))
	b, _ = w.pass()
	assert.NotNil(t, b.Status.ExternalProperties)
	ready, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionReady)
	assert.NotEqual(t, policies.ReasonSlot, ready.Reason)
	require.NoError(t, w.cache.Delete(t.Context(), b))
	b, _ = w.pass()
	assert.Nil(t, b)
	assert.Empty(t, w.broker.Bindings())
}

// TestAPlanThatIsNotKnownMayBeLimited: where no plan of the catalog is the one that the instance has, as users who replace it
// can bring about, a binding has no slot of a limit that may be about it.
func TestAPlanThatIsNotKnownMayBeLimited(t *testing.T) {
	t.Parallel()
	elsewhere := limited("other")
	elsewhere.Spec.Namespaces = &v1beta1.PolicyNamespaces{Names: []string{"m"}}
	other := limited("other")
	other.Spec.Subjects[0].PlanSubject = v1beta1.PlanSubject{PlanName: "premium"}
	for name, tc := range map[string]struct {
		reason string
		policy *v1beta1.ProvisioningPolicy
		bound  bool
	}{
		"Here":      {reason: "the plan that it has may be premium", policy: other},
		"Elsewhere": {reason: "the limit is of another namespace", policy: elsewhere, bound: true},
		"Granted":   {reason: "it has its slot", policy: limited("binding-uid"), bound: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newBindingWorld(t)
			instance := &v1beta1.ServiceInstance{}
			require.NoError(t, w.cache.Get(t.Context(), client.ObjectKey{Namespace: "n", Name: "i"}, instance))
			instance.Status.ExternalProperties.ClusterServicePlanExternalID = "gone"
			require.NoError(t, w.cache.Status().Update(t.Context(), instance))
			w.limit(tc.policy, tc.policy)
			b, _ := w.pass()
			assert.Equal(t, tc.bound, b.Status.Binding != nil, tc.reason)
			if !tc.bound {
				ready, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionReady)
				assert.Equal(t, policies.ReasonSlot, ready.Reason)
				assert.Contains(t, ready.Message, `whether ProvisioningPolicy "few" limits it cannot be known`)
			}
		})
	}
}
