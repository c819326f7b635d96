package controller

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/deposit"
	"github.com/defaultplan/defaultplan/osb/controller/endpoints"
	"github.com/defaultplan/defaultplan/osb/controller/expose"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// Without --endpoints the credentials are stored, and the condition says by which flag there
// would be a Service. Nothing is asked of the API server for it.
func TestEndpointsDisabled(t *testing.T) {
	t.Parallel()
	named := func(b *v1beta1.ServiceBinding) { b.Spec.ServiceName = "db" }
	cases := map[string]struct {
		reason  string
		edit    func(*v1beta1.ServiceBinding)
		given   *osb.Binding
		because string
		stored  int
		// event says that the user asked for a Service, and is told by an event.
		event bool
	}{
		"None":        {reason: "nothing is missed", given: givenText("a", "b")},
		"OfTheBroker": {reason: "no user asked for it: a condition, and no event", given: at(byName), because: endpoints.ReasonDisabled, stored: 1},
		"Named":       {reason: "spec.serviceName asks for it", edit: named, given: at(byName), because: endpoints.ReasonDisabled, stored: 1, event: true},
		"Mapped": {
			reason: "spec.endpointsFrom asks for it", edit: fromKeys("h", "p"), given: credentialsOf(t, `{"h":"db.example.com","p":"1"}`),
			because: endpoints.ReasonDisabled, stored: 1, event: true,
		},
		"NoEndpoints": {reason: "no flag would help", edit: named, given: givenText("a", "b"), because: endpoints.ReasonNoEndpoints},
		"Refused":     {reason: "nor here", given: at(osb.Endpoint{Host: "169.254.169.254", Ports: []string{"80"}}), because: expose.ReasonRefused, stored: 1},
		"NoHost": {
			reason: "a credential that may not be a host is not published", edit: fromKeys("h", "p"), given: credentialsOf(t, `{"h":"db.prod.svc","p":"1"}`),
			because: expose.ReasonRefused,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newEndpointWorld(t, byClusterBroker)
			if tc.edit != nil {
				w = newEndpointWorld(t, byClusterBroker, tc.edit)
			}
			w.reconciler.deposits.Endpoints.Disabled = true
			s := w.reconciler.resourceOf(w.bindingHere())
			require.NoError(t, s.deposit.Write(t.Context(), &deposit.Call{Origin: s.provenance()}, tc.given))
			status := w.keep(s)
			assert.NotNil(t, w.secretHere("b"))
			_, because := ofEndpoints(&status)
			assert.Equal(t, tc.because, because, tc.reason)
			assert.Len(t, status.Endpoints, tc.stored, tc.reason)
			assert.Empty(t, status.Service)
			told := s.finish(nil, nil)
			require.Len(t, told, map[bool]int{true: 1}[tc.event], tc.reason)
			for _, event := range told {
				assert.True(t, event.Warning)
				assert.Equal(t, endpoints.ReasonDisabled, event.Reason)
				assert.Contains(t, event.Message, "--endpoints")
				assert.Contains(t, event.Message, "controller.endpoints.enabled")
			}
			for _, request := range w.took() {
				assert.NotContains(t, request, "Service", tc.reason)
				assert.NotContains(t, request, "EndpointSlice", tc.reason)
			}
		})
	}
}

// The endpoints that status has become a Service once --endpoints is set.
func TestEndpointsEnabledLater(t *testing.T) {
	t.Parallel()
	w := newEndpointWorld(t, byClusterBroker)
	w.reconciler.deposits.Endpoints.Disabled = true
	w.deposited(at(byAddress))
	require.Nil(t, w.serviceHere("b"))
	w.reconciler.deposits.Endpoints.Disabled = false
	status := w.healed()
	assert.Equal(t, "b", status.Service)
	_, because := ofEndpoints(&status)
	assert.Equal(t, endpoints.ReasonExposed, because)
	assert.Equal(t, []string{"10.1.2.3"}, w.slicesHere())
}

// A Service that was made before --endpoints was unset stays as it is, and goes with its
// binding, by the garbage collector: all of it has the binding as its controlling owner.
func TestEndpointsDisabledLater(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t)
	w.broker.SetEndpoints(func(osbtest.Binding) []map[string]any {
		return []map[string]any{{"host": "10.1.2.3", "ports": []string{"5432"}}}
	})
	w.pass()
	w.exposes()
	own := &endpointWorld{bindingWorld: w}
	before := own.serviceHere("b")
	require.NotNil(t, before)
	w.took()

	w.reconciler.deposits.Endpoints.Disabled = true
	b, _ := w.pass()
	said, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionEndpoints)
	assert.Equal(t, v1beta1.ConditionUnknown, said.Status)
	assert.Equal(t, endpoints.ReasonDisabled, said.Reason)
	assert.Contains(t, said.Message, `the Service "b" stays as it is`)
	ready, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionReady)
	assert.Equal(t, v1beta1.ConditionTrue, ready.Status)
	assert.Equal(t, "b", b.Status.Service)
	assert.Len(t, b.Status.Endpoints, 1)
	version := b.ResourceVersion
	b, _ = w.pass()
	assert.Equal(t, version, b.ResourceVersion, "it is said once")

	require.NoError(t, w.cache.Delete(t.Context(), b))
	b, _ = w.pass()
	assert.Nil(t, b)
	assert.Empty(t, w.broker.Bindings())
	after := own.serviceHere("b")
	require.NotNil(t, after, "here is no garbage collector")
	assert.Equal(t, before.ResourceVersion, after.ResourceVersion)
	var slices discoveryv1.EndpointSliceList
	require.NoError(t, w.cache.List(t.Context(), &slices))
	require.Len(t, slices.Items, 1)
	for _, owners := range [][]metav1.OwnerReference{after.OwnerReferences, slices.Items[0].OwnerReferences} {
		require.Len(t, owners, 1)
		assert.Equal(t, "ServiceBinding", owners[0].Kind)
		assert.EqualValues(t, "binding-uid", owners[0].UID)
		assert.Equal(t, new(true), owners[0].Controller)
	}
	for _, request := range w.took() {
		assert.NotContains(t, request, "EndpointSlice")
		assert.NotEqual(t, "get Service", request)
	}
}

// A binding that asks for a Service becomes Ready without --endpoints, and one event tells
// what it misses.
func TestEndpointsDisabledIsToldByAnEvent(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t, func(b *v1beta1.ServiceBinding) { b.Spec.ServiceName = "db" })
	w.reconciler.deposits.Endpoints.Disabled = true
	w.broker.SetEndpoints(func(osbtest.Binding) []map[string]any {
		return []map[string]any{{"host": "db.example.com", "ports": []string{"5432"}}}
	})
	b, _ := w.pass()
	ready, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionReady)
	assert.Equal(t, v1beta1.ConditionTrue, ready.Status)
	told := 0
	for len(w.recorder.Events) > 0 {
		if strings.Contains(<-w.recorder.Events, endpoints.ReasonDisabled) {
			told++
		}
	}
	assert.Equal(t, 1, told)
	var services corev1.ServiceList
	require.NoError(t, w.cache.List(t.Context(), &services))
	assert.Empty(t, services.Items)
}

// A binding whose Service stays without --endpoints says so in the condition, and not by an
// event for each failing unbind.
func TestEndpointsDisabledIsNotToldAgain(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t, func(b *v1beta1.ServiceBinding) { b.Spec.ServiceName = "db" })
	w.broker.SetEndpoints(func(osbtest.Binding) []map[string]any {
		return []map[string]any{{"host": "db.example.com", "ports": []string{"5432"}}}
	})
	w.pass()
	b := w.exposes()
	require.Equal(t, "db", b.Status.Service)
	w.reconciler.deposits.Endpoints.Disabled = true
	w.pass()
	w.broker.Next(osbtest.Unbind, osbtest.Status(500, "{}"), osbtest.Status(500, "{}"))
	require.NoError(t, w.cache.Delete(t.Context(), b))
	w.pass()
	w.pass()
	for len(w.recorder.Events) > 0 {
		assert.NotContains(t, <-w.recorder.Events, endpoints.ReasonDisabled)
	}
	assert.NotEmpty(t, w.broker.Calls(osbtest.Of(osbtest.Unbind)))
}
