package watches

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/indexes/indextest"
	"github.com/defaultplan/defaultplan/osb/controller/policies"
	"github.com/defaultplan/defaultplan/resolve/quota"
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

// waitingBinding is one that waits for a slot in a namespace.
func waitingBinding(namespace, name string) *v1beta1.ServiceBinding {
	b := &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(name)}}
	b.Status.Conditions = []v1beta1.Condition{{Type: v1beta1.ConditionReady, Status: v1beta1.ConditionUnknown, Reason: policies.ReasonSlot}}
	return b
}

// TestWhoIsWokenByAPolicy: no object waits for a slot that it no longer needs.
func TestWhoIsWokenByAPolicy(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason        string
		before, after *v1beta1.ProvisioningPolicy
		want          []string
	}{
		"Granted":    {"the object that got one", limited("x"), limited("x", "one"), []string{"one"}},
		"Nothing":    {"a report was written", limited("x"), limited("x"), nil},
		"Freed":      {"the policy may not select them any more", limited("x", "y"), limited("y"), []string{"one", "two"}},
		"NotHereNow": {"the namespace was relabelled", limited("x"), func() *v1beta1.ProvisioningPolicy { p := limited(); p.Status.Slots = nil; return p }(), []string{"one", "two"}},
		"Edited":     {"anything may be else", limited(), func() *v1beta1.ProvisioningPolicy { p := limited(); p.Generation = 2; return p }(), []string{"elsewhere", "one", "two"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scheme := runtime.NewScheme()
			require.NoError(t, v1beta1.AddToScheme(scheme))
			builder := fake.NewClientBuilder().WithScheme(scheme).
				WithObjects([]client.Object{waitingBinding("n", "one"), waitingBinding("n", "two"), waitingBinding("m", "elsewhere")}...)
			require.NoError(t, AddIndexes(t.Context(), indextest.Fake{Builder: builder}))
			queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
			defer queue.ShutDown()
			bySlots(builder.Build(), quota.Bindings).Update(t.Context(), event.UpdateEvent{ObjectOld: tc.before, ObjectNew: tc.after}, queue)
			var woken []string
			for queue.Len() > 0 {
				request, _ := queue.Get()
				woken = append(woken, request.Name)
			}
			assert.ElementsMatch(t, tc.want, woken, tc.reason)
		})
	}
}

// TestRulesWakeWhatTheyDeny: what waits for a slot waits for that, whatever policies deny.
func TestRulesWakeWhatTheyDeny(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	require.NoError(t, v1beta1.AddToScheme(scheme))
	kept := waitingBinding("n", "denied")
	kept.Status.Conditions[0].Reason = policies.ReasonDenied
	instance := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "i"}}
	instance.Status.Conditions = kept.Status.Conditions
	builder := fake.NewClientBuilder().WithScheme(scheme).WithObjects(kept, waitingBinding("n", "waits"), instance)
	require.NoError(t, AddIndexes(t.Context(), indextest.Fake{Builder: builder}))
	reader := builder.Build()
	for kind, want := range map[quota.Kind]string{quota.Bindings: "denied", quota.Instances: "i"} {
		queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
		byRules(reader, kind).Create(t.Context(), event.CreateEvent{Object: &v1beta1.BindingPolicy{}}, queue)
		require.Equal(t, 1, queue.Len())
		request, _ := queue.Get()
		assert.Equal(t, want, request.Name)
		queue.ShutDown()
	}
}
