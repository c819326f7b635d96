package controller

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/expose"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// Whatever became of Service and slices, or of the endpoints, they are brought back.
func TestHeal(t *testing.T) {
	t.Parallel()
	w := newEndpointWorld(t, byClusterBroker)
	w.deposited(at(byAddress, osb.Endpoint{Host: "2001:db8::1", Ports: []string{"1"}}))
	whole := func(why string) {
		t.Helper()
		status := w.healed()
		is, _ := ofEndpoints(&status)
		assert.Equal(t, v1beta1.ConditionTrue, is, why)
		service := w.serviceHere("b")
		require.NotNil(t, service, why)
		assert.Empty(t, service.Spec.Selector, why)
		assert.Len(t, service.Spec.Ports, 2, why)
		assert.ElementsMatch(t, []string{"10.1.2.3", "2001:db8::1"}, w.slicesHere(), why)
	}
	whole("as it is")
	require.NoError(t, w.cache.Delete(t.Context(), w.serviceHere("b")))
	whole("the Service was deleted")
	service := w.serviceHere("b")
	service.Spec.Selector, service.Spec.ExternalIPs, service.Labels = map[string]string{"app": "evil"}, []string{"1.2.3.4"}, nil
	service.Spec.Ports = service.Spec.Ports[:1]
	require.NoError(t, w.cache.Update(t.Context(), service))
	whole("it was edited")
	service = w.serviceHere("b")
	uid := service.UID
	service.Spec.Type = corev1.ServiceTypeLoadBalancer
	require.NoError(t, w.cache.Update(t.Context(), service))
	whole("its type was")
	assert.Equal(t, corev1.ServiceTypeClusterIP, w.serviceHere("b").Spec.Type, uid)

	var list discoveryv1.EndpointSliceList
	require.NoError(t, w.cache.List(t.Context(), &list))
	list.Items[0].Endpoints[0].Addresses = []string{"10.6.6.6"}
	require.NoError(t, w.cache.Update(t.Context(), &list.Items[0]))
	list.Items[1].Labels = nil
	require.NoError(t, w.cache.Update(t.Context(), &list.Items[1]))
	whole("slices were edited")
	require.NoError(t, w.cache.Delete(t.Context(), &list.Items[0]))
	whole("one was deleted")
}

// Other endpoints, as new credentials bring them: what is made of the former is gone.
func TestExposeAnew(t *testing.T) {
	t.Parallel()
	w := newEndpointWorld(t, byClusterBroker)
	w.deposited(at(byAddress))
	status := w.deposited(at(osb.Endpoint{Host: "10.9.9.9", Ports: []string{"1"}}))
	assert.Equal(t, []string{"10.9.9.9"}, w.slicesHere())
	assert.Equal(t, "b", status.Service)
	status = w.deposited(at(byAddress, osb.Endpoint{Host: "2001:db8::1", Ports: []string{"5432"}}))
	assert.Equal(t, new(corev1.IPFamilyPolicyPreferDualStack), w.serviceHere("b").Spec.IPFamilyPolicy, "of both families")
	w.deposited(at(byAddress))
	assert.Equal(t, new(corev1.IPFamilyPolicySingleStack), w.serviceHere("b").Spec.IPFamilyPolicy, "of one again")
	status = w.deposited(at(byName))
	assert.Equal(t, corev1.ServiceTypeExternalName, w.serviceHere("b").Spec.Type)
	assert.Equal(t, "db.example.com", status.Endpoints[0].Host)
	w.deposited(at(byAddress))
	assert.Equal(t, []string{"10.1.2.3"}, w.slicesHere())

	status = w.deposited(at(osb.Endpoint{Host: "169.254.169.254", Ports: []string{"80"}}))
	is, because := ofEndpoints(&status)
	assert.Equal(t, v1beta1.ConditionFalse, is)
	assert.Equal(t, expose.ReasonRefused, because)
	assert.Empty(t, status.Service)
	assert.Nil(t, w.serviceHere("b"), "what it led to is not what it is for any more")
	assert.Empty(t, w.slicesHere())

	w.exposer.Services.Rules.Reread = 0
	w.allows([]string{"169.254.169.254"}...)
	status = w.healed()
	assert.Equal(t, "b", status.Service, "the operator allows it")
	status = w.deposited(givenText("a", "b"))
	assert.Empty(t, status.Endpoints)
	_, has := v1beta1.FindCondition(status.Conditions, v1beta1.ConditionEndpoints)
	assert.False(t, has, "there are none any more")
	assert.Nil(t, w.serviceHere("b"))
	assert.Empty(t, w.slicesHere())
}

// The cluster's own addresses are found where the cluster says them.
func TestSurroundings(t *testing.T) {
	t.Parallel()
	w := newEndpointWorld(t, byClusterBroker)
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "kubernetes", Labels: map[string]string{discoveryv1.LabelServiceName: "kubernetes"}},
		Endpoints:  []discoveryv1.Endpoint{{Addresses: []string{"10.3.3.3"}}},
	}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "kubernetes"}, Spec: corev1.ServiceSpec{ClusterIP: "10.4.4.4"}}
	ranges := &networkingv1.ServiceCIDR{ObjectMeta: metav1.ObjectMeta{Name: "kubernetes"}, Spec: networkingv1.ServiceCIDRSpec{CIDRs: []string{"10.5.0.0/16", "fd00:5::/64"}}}
	for _, o := range []client.Object{slice, service, ranges} {
		require.NoError(t, w.cache.Create(t.Context(), o))
	}
	for host, fine := range map[string]bool{"10.3.3.3": false, "10.4.4.4": false, "10.5.6.7": false, "::ffff:10.5.6.7": false, "fd00:5::1": false, "10.1.2.3": true} {
		status := w.deposited(at(osb.Endpoint{Host: host, Ports: []string{"443"}}))
		is, _ := ofEndpoints(&status)
		assert.Equal(t, fine, is == v1beta1.ConditionTrue, host)
	}
}

// A whole life: bound with a Service, a ConfigMap and a Secret, all named by status, and
// unbound with none.
func TestEndpointsOfALife(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t, func(b *v1beta1.ServiceBinding) {
		b.Spec.ServiceName, b.Spec.SecretTransforms = "db", []v1beta1.SecretTransform{publishKey("host")}
	})
	w.brokerOf("db", `"bindings_retrievable":true`, false)
	w.retrievable()
	w.broker.SetEndpoints(func(osbtest.Binding) []map[string]any {
		return []map[string]any{{"host": "10.1.2.3", "ports": []string{"5432"}}}
	})
	w.pass()
	b := w.exposes()
	assert.Equal(t, []string{"b"}, b.Status.Secrets)
	assert.Equal(t, []string{"b"}, b.Status.ConfigMaps)
	assert.Equal(t, "db", b.Status.Service)
	assert.Equal(t, []v1beta1.BindingEndpoint{{Host: "10.1.2.3", Ports: []string{"5432"}}}, b.Status.Endpoints)
	own := &endpointWorld{bindingWorld: w}
	assert.NotNil(t, own.serviceHere("db"))
	w.took()
	before := b.ResourceVersion
	b, _ = w.pass()
	assert.Equal(t, before, b.ResourceVersion, "a second pass changes nothing")
	assert.Equal(t, before, w.exposes().ResourceVersion, "nor does a second look at the Service")

	require.NoError(t, w.cache.Delete(t.Context(), w.configMapHere()))
	w.pass()
	b, _ = w.pass()
	ready, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionReady)
	assert.NotEqual(t, v1beta1.ConditionFalse, ready.Status)
	for range 5 {
		if b, _ = w.pass(); w.configMapHere() != nil && b.Status.CurrentOperation == "" && b.Status.Binding != nil {
			break
		}
	}
	require.NotNil(t, w.configMapHere(), "a ConfigMap that is lost is written again: %v", b.Status.Conditions)

	require.NoError(t, w.cache.Delete(t.Context(), b))
	w.exposes()
	for range 3 {
		if b, _ = w.pass(); b == nil {
			break
		}
	}
	assert.Nil(t, b)
	assert.Nil(t, own.serviceHere("db"))
	assert.Empty(t, own.slicesHere())
	assert.Nil(t, w.configMapHere())
	assert.Empty(t, w.broker.Bindings())
}
