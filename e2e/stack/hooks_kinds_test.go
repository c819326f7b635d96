package stack

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// A hookedKind is a kind with a spec, a change of it, and what else its hooks are
// called for.
type hookedKind struct {
	kind, resource string
	namespaced     bool
	spec, change   string
	// offered says that labels and the annotations of defaults count, and judged
	// that there is no mutating half.
	offered, judged bool
}

var hookedKinds = []hookedKind{
	{kind: "ClusterServiceBroker", resource: "clusterservicebrokers", spec: `{"url":"http://b"}`, change: `{"relistRequests":1}`},
	{kind: "ServiceBroker", resource: "servicebrokers", namespaced: true, spec: `{"url":"http://b"}`, change: `{"relistRequests":1}`},
	{kind: "ClusterServiceClass", resource: "clusterserviceclasses", spec: `{"externalID":"i"}`, change: `{"serviceType":"mysql"}`, offered: true},
	{kind: "ServiceClass", resource: "serviceclasses", namespaced: true, spec: `{"externalID":"i"}`, change: `{"serviceType":"mysql"}`, offered: true},
	{
		kind: "ClusterServicePlan", resource: "clusterserviceplans", offered: true,
		spec: `{"externalID":"i","clusterServiceClassRef":{"name":"c"}}`, change: `{"defaultProvisionParameters":{"a":1}}`,
	},
	{
		kind: "ServicePlan", resource: "serviceplans", namespaced: true, offered: true,
		spec: `{"externalID":"i","serviceClassRef":{"name":"c"}}`, change: `{"defaultProvisionParameters":{"a":1}}`,
	},
	{kind: "ClusterServiceType", resource: "clusterservicetypes", change: `{"defaultPlanRef":{"name":"p"}}`, judged: true},
	{kind: "ServiceType", resource: "servicetypes", namespaced: true, change: `{"defaultPlanRef":{"name":"p"}}`, judged: true},
	{
		kind: "ServiceBinding", resource: "servicebindings", namespaced: true,
		spec: `{"instanceRef":{"name":"i"},"clusterServicePlanRef":{"name":"p"}}`, change: `{"parameters":{"a":1}}`,
	},
	{
		kind: "ProvisioningPolicy", resource: "provisioningpolicies", judged: true,
		spec: `{"action":"Deny","subjects":[{"planName":"p"}]}`, change: `{"message":"a"}`,
	},
	{
		kind: "BindingPolicy", resource: "bindingpolicies", judged: true,
		spec: `{"action":"Deny","subjects":[{"planName":"p"}]}`, change: `{"message":"a"}`,
	},
}

// object is a new object of the kind, held by a finalizer.
func (k hookedKind) object(t *testing.T, spec string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(api.GroupVersion.WithKind(k.kind))
	object.SetName("hooked-" + strings.ToLower(k.kind))
	object.SetFinalizers([]string{"example.org/a"})
	if k.namespaced {
		object.SetNamespace("default")
	}
	if spec != "" {
		var fields map[string]any
		require.NoError(t, json.Unmarshal([]byte(spec), &fields))
		object.Object["spec"] = fields
	}
	return object
}

// calls are those that an operation makes if it is decided or judged.
func (k hookedKind) calls(operation string, made bool) []string {
	if !made {
		return nil
	}
	if k.judged {
		return []string{operation + " /validate/" + k.resource}
	}
	return []string{operation + " /mutate/" + k.resource, operation + " /validate/" + k.resource}
}

// hooksOfEachKind proves the conditions of the other kinds as shipped: from the
// first to the last write of one object.
func hooksOfEachKind(t *testing.T, s *Stack, hook *listener) {
	t.Helper()
	// An owner that is not there would be the garbage collector's reason to delete.
	owner := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	require.NoError(t, s.Client().Get(t.Context(), client.ObjectKeyFromObject(owner), owner))
	owned := fmt.Sprintf(`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Namespace","name":"default","uid":%q}]}}`, owner.UID)
	for _, k := range hookedKinds {
		t.Run(k.kind, func(t *testing.T) {
			object := k.object(t, k.spec)
			require.NoError(t, s.Client().Create(t.Context(), object))
			assert.Equal(t, k.calls("CREATE", true), hook.take(), "each create is judged")
			send := func(reason, patch string, made bool) {
				t.Helper()
				require.NoError(t, s.Client().Patch(t.Context(), object, client.RawPatch(types.MergePatchType, []byte(patch))), reason)
				assert.Equal(t, k.calls("UPDATE", made), hook.take(), reason)
			}
			annotation := func(key, value string) string { return fmt.Sprintf(`{"metadata":{"annotations":{%q:%s}}}`, key, value) }
			send("a touch", `{}`, false)
			send("an annotation of others, by one controller", annotation("example.org/a", `"1"`), false)
			send("and by another that conflicts with it", annotation("example.org/a", `"2"`), false)
			send("a label", `{"metadata":{"labels":{"a":"b"}}}`, k.offered)
			send("a default turned on", annotation(api.AnnotationDefaultPlan, `"true"`), k.offered)
			send("a default turned off", annotation(api.AnnotationDefaultPlan, `null`), k.offered)
			send("a suggestion", annotation(api.AnnotationSuggestedPlan, `"true"`), k.offered)
			send("an owner", owned, false)
			send("a finalizer of others", `{"metadata":{"finalizers":["example.org/a","example.org/b"]}}`, false)
			send("a change of spec", `{"spec":`+k.change+`}`, true)
			require.NoError(t, s.Client().Status().Patch(t.Context(), object, client.RawPatch(types.MergePatchType, []byte(`{"status":{}}`))))
			require.NoError(t, s.Client().Delete(t.Context(), object))
			assert.Empty(t, hook.take(), "neither status nor deletion is ours to judge")
			send("letting it go", `{"metadata":{"finalizers":null}}`, false)
		})
	}
}

// bindingsAreCalledWhileUndecided proves what bindings have in common with
// instances and with no other kind.
func bindingsAreCalledWhileUndecided(t *testing.T, s *Stack, hook *listener) {
	t.Helper()
	k := hookedKind{kind: "ServiceBinding", resource: "servicebindings", namespaced: true}
	for name, tc := range map[string]struct {
		reason, spec string
		terminating  bool
		patch        string
		made         bool
	}{
		"Touch":            {reason: "the keeper's touch reaches admission", spec: `{"instanceRef":{"name":"i"}}`, patch: `{}`, made: true},
		"TerminatingTouch": {reason: "a terminating binding is never decided", spec: `{"instanceRef":{"name":"i"}}`, terminating: true, patch: `{}`},
		"Release":          {reason: "letting it go passes without us", spec: `{"instanceRef":{"name":"i"}}`, terminating: true, patch: `{"metadata":{"finalizers":null}}`},
		"LocalDecision":    {reason: "a namespaced plan is a decision too", spec: `{"instanceRef":{"name":"i"},"servicePlanRef":{"name":"p"}}`, patch: `{"metadata":{"labels":{"a":"b"}}}`},
		"AppliedDefaults": {
			reason: "admission owns it", spec: `{"instanceRef":{"name":"i"},"servicePlanRef":{"name":"p"}}`, made: true,
			patch: `{"metadata":{"annotations":{"` + api.AnnotationAppliedDefaults + `":"{}"}}}`,
		},
		"Minted": {
			reason: "admission owns it", spec: `{"instanceRef":{"name":"i"},"servicePlanRef":{"name":"p"}}`, made: true,
			patch: `{"metadata":{"annotations":{"` + api.AnnotationMintedExternalID + `":"y"}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			binding := k.object(t, tc.spec)
			binding.SetName("binding-" + strings.ToLower(name))
			require.NoError(t, s.Client().Create(t.Context(), binding))
			if tc.terminating {
				s.deleteHeld(t, binding)
			}
			hook.take()
			require.NoError(t, s.Client().Patch(t.Context(), binding, client.RawPatch(types.MergePatchType, []byte(tc.patch))))
			assert.Equal(t, k.calls("UPDATE", tc.made), hook.take(), tc.reason)
		})
	}
}

// deleteHeld deletes an object that a finalizer holds, and returns when the API
// server's own cache knows: it tries an update on what that has first, and an
// object that it does not know to be deleted is one that may be decided.
func (s *Stack) deleteHeld(t *testing.T, object client.Object) {
	t.Helper()
	require.NoError(t, s.Client().Delete(t.Context(), object))
	cached := &client.GetOptions{Raw: &metav1.GetOptions{ResourceVersion: "0"}}
	require.NoError(t, wait.Eventually(t.Context(), func() (bool, error) {
		err := s.Client().Get(t.Context(), client.ObjectKeyFromObject(object), object, cached)
		return err == nil && object.GetDeletionTimestamp() != nil, err
	}))
}
