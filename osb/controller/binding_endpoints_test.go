package controller

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/deposit"
	"github.com/defaultplan/defaultplan/osb/controller/endpoints"
	"github.com/defaultplan/defaultplan/osb/controller/expose"
)

// An endpointWorld has a binding whose broker gives endpoints.
type endpointWorld struct {
	*bindingWorld
}

func newEndpointWorld(t *testing.T, edits ...func(*v1beta1.ServiceBinding)) *endpointWorld {
	t.Helper()
	return &endpointWorld{newBindingWorld(t, edits...)}
}

// deposited is the binding after a pass's part that stores what a broker gave, and a look of
// the reconciler of Services.
func (w *endpointWorld) deposited(given *osb.Binding) v1beta1.ServiceBindingStatus {
	w.Helper()
	s := w.reconciler.resourceOf(w.bindingHere())
	require.NoError(w, s.deposit.Write(w.Context(), &deposit.Call{Origin: s.provenance()}, given))
	status := w.keep(s)
	if w.reconciler.deposits.Endpoints.Disabled { // then nothing else looks at it
		return status
	}
	return w.healed()
}

// keep stores what a resource tells.
func (w *endpointWorld) keep(s *bindingResource) v1beta1.ServiceBindingStatus {
	w.Helper()
	b := w.bindingHere()
	s.deposit.Tell(&b.Status)
	require.NoError(w, w.cache.Status().Update(w.Context(), b))
	return b.Status
}

// healed is the binding after a look at its Service.
func (w *endpointWorld) healed() v1beta1.ServiceBindingStatus {
	w.Helper()
	return w.exposes().Status
}

func at(endpoints ...osb.Endpoint) *osb.Binding {
	return &osb.Binding{Credentials: givenText("host", "db.example.com").Credentials, Endpoints: endpoints}
}

// allows is an operator's exception to the rules.
func (w *endpointWorld) allows(what ...string) {
	w.Helper()
	require.NoError(w, w.exposer.Services.Rules.Given.Allow(what))
	require.NoError(w, w.reconciler.deposits.Endpoints.Given.Allow(what))
}

// serviceHere is the Service that is there now; nil for none.
func (w *endpointWorld) serviceHere(name string) *corev1.Service {
	w.Helper()
	var service corev1.Service
	err := w.cache.Get(w.Context(), client.ObjectKey{Namespace: "n", Name: name}, &service)
	require.NoError(w, client.IgnoreNotFound(err))
	if err != nil {
		return nil
	}
	return &service
}

// slicesHere are the addresses of the slices that are there, by family.
func (w *endpointWorld) slicesHere() []string {
	w.Helper()
	var list discoveryv1.EndpointSliceList
	require.NoError(w, w.cache.List(w.Context(), &list, client.InNamespace("n")))
	var all []string
	for _, slice := range list.Items {
		for _, e := range slice.Endpoints {
			all = append(all, e.Addresses...)
		}
	}
	return all
}

func ofEndpoints(status *v1beta1.ServiceBindingStatus) (v1beta1.ConditionStatus, string) {
	c, _ := v1beta1.FindCondition(status.Conditions, v1beta1.ConditionEndpoints)
	return c.Status, c.Reason
}

func byNamespacedBroker(b *v1beta1.ServiceBinding) {
	b.Status.ExternalProperties = &v1beta1.ServiceBindingPropertiesState{BrokerTarget: v1beta1.BrokerTarget{ServiceBrokerName: "theirs"}}
}

func byClusterBroker(b *v1beta1.ServiceBinding) {
	b.Status.ExternalProperties = &v1beta1.ServiceBindingPropertiesState{BrokerTarget: v1beta1.BrokerTarget{ClusterServiceBrokerName: "broker"}}
}

func fromKeys(host, port string) func(*v1beta1.ServiceBinding) {
	return func(b *v1beta1.ServiceBinding) {
		b.Spec.EndpointsFrom = []v1beta1.EndpointFrom{{HostKey: host, PortKey: port}}
	}
}

var (
	byName    = osb.Endpoint{Host: "db.example.com", Ports: []string{"5432"}}
	byAddress = osb.Endpoint{Host: "10.1.2.3", Ports: []string{"5432"}}
)

// What a Service is made of, and for whom.
func TestExpose(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		edits   []func(*v1beta1.ServiceBinding)
		given   *osb.Binding
		may     bool
		status  v1beta1.ConditionStatus
		because string
		stored  int
	}{
		"None":             {reason: "nothing is said where nothing is asked for", given: givenText("a", "b")},
		"Named":            {reason: "who names a Service wants one", edits: []func(*v1beta1.ServiceBinding){func(b *v1beta1.ServiceBinding) { b.Spec.ServiceName = "db" }}, given: givenText("a", "b"), status: v1beta1.ConditionFalse, because: endpoints.ReasonNoEndpoints},
		"Name":             {reason: "an alias", given: at(byName), status: v1beta1.ConditionTrue, because: endpoints.ReasonExposed, stored: 1},
		"NameOfNamespaced": {reason: "of any broker", edits: []func(*v1beta1.ServiceBinding){byNamespacedBroker}, given: at(byName), status: v1beta1.ConditionTrue, because: endpoints.ReasonExposed, stored: 1},
		"Address":          {reason: "of a cluster's broker", edits: []func(*v1beta1.ServiceBinding){byClusterBroker}, given: at(byAddress), status: v1beta1.ConditionTrue, because: endpoints.ReasonExposed, stored: 1},
		"AddressForbidden": {reason: "Attack: a broker of one's own gives an address", edits: []func(*v1beta1.ServiceBinding){byNamespacedBroker}, given: at(byAddress), status: v1beta1.ConditionFalse, because: endpoints.ReasonAddressesRight, stored: 1},
		"AddressAllowed":   {reason: "who may do it himself", edits: []func(*v1beta1.ServiceBinding){byNamespacedBroker}, given: at(byAddress), may: true, status: v1beta1.ConditionTrue, because: endpoints.ReasonExposed, stored: 1},
		"NoUser":           {reason: "no user is on record who may", edits: []func(*v1beta1.ServiceBinding){byNamespacedBroker, func(b *v1beta1.ServiceBinding) { b.Spec.UserInfo = nil }}, given: at(byAddress), may: true, status: v1beta1.ConditionFalse, because: endpoints.ReasonAddressesRight, stored: 1},
		"EmptyUser":        {reason: "nor may who has no name", edits: []func(*v1beta1.ServiceBinding){byNamespacedBroker, func(b *v1beta1.ServiceBinding) { b.Spec.UserInfo = &v1beta1.UserInfo{} }}, given: at(byAddress), may: true, status: v1beta1.ConditionFalse, because: endpoints.ReasonAddressesRight, stored: 1},
		"Refused":          {reason: "it is judged again when the rules change", given: at(osb.Endpoint{Host: "kubernetes.default.svc", Ports: []string{"443"}}), status: v1beta1.ConditionFalse, because: expose.ReasonRefused, stored: 1},
		"Unlawful":         {reason: "no status holds what cannot be read", given: at(osb.Endpoint{Host: "a b", Ports: []string{"443"}}), status: v1beta1.ConditionFalse, because: expose.ReasonUnlawful},
		"From":             {reason: "credentials that are host and port", edits: []func(*v1beta1.ServiceBinding){fromKeys("h", "p")}, given: credentialsOf(t, `{"h":"db.example.com","p":5432}`), status: v1beta1.ConditionTrue, because: endpoints.ReasonExposed, stored: 1},
		"FromIsLast":       {reason: "what the broker says comes first", edits: []func(*v1beta1.ServiceBinding){fromKeys("h", "p")}, given: at(byName), status: v1beta1.ConditionTrue, because: endpoints.ReasonExposed, stored: 1},
		"FromAbsent":       {reason: "a key that is not there", edits: []func(*v1beta1.ServiceBinding){fromKeys("h", "q")}, given: credentialsOf(t, `{"h":"db.example.com","p":5432}`), status: v1beta1.ConditionFalse, because: endpoints.ReasonKeyAbsent},
		"FromAddress": {
			reason: "Attack: a value that the user can choose, of a cluster's broker", edits: []func(*v1beta1.ServiceBinding){fromKeys("h", "p"), byClusterBroker},
			given: credentialsOf(t, `{"h":"10.1.2.3","p":"1"}`), status: v1beta1.ConditionFalse, because: endpoints.ReasonAddressesRight, stored: 1,
		},
		"FromAddressAllowed": {reason: "who may", edits: []func(*v1beta1.ServiceBinding){fromKeys("h", "p"), byClusterBroker}, given: credentialsOf(t, `{"h":"10.1.2.3","p":"1"}`), may: true, status: v1beta1.ConditionTrue, because: endpoints.ReasonExposed, stored: 1},
		"FromSecretWithDot":  {reason: "what could be a host is one, and no condition tells it", edits: []func(*v1beta1.ServiceBinding){fromKeys("h", "p")}, given: credentialsOf(t, `{"h":"hunter2.x","p":"1"}`), status: v1beta1.ConditionTrue, because: endpoints.ReasonExposed, stored: 1},
		"FromSecret":         {reason: "a credential that is no host is not shown", edits: []func(*v1beta1.ServiceBinding){fromKeys("h", "p")}, given: credentialsOf(t, `{"h":"hunter2","p":"1"}`), status: v1beta1.ConditionFalse, because: expose.ReasonRefused},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newEndpointWorld(t, tc.edits...)
			w.may = tc.may
			status := w.deposited(tc.given)
			is, because := ofEndpoints(&status)
			assert.Equal(t, tc.status, is, tc.reason)
			assert.Equal(t, tc.because, because, tc.reason)
			assert.Len(t, status.Endpoints, tc.stored, tc.reason)
			for _, c := range status.Conditions {
				assert.NotContains(t, c.Message, "hunter2")
			}
			assert.Equal(t, is == v1beta1.ConditionTrue, status.Service != "")
			name := endpoints.ServiceName(w.bindingHere())
			service := w.serviceHere(name)
			assert.Equal(t, is == v1beta1.ConditionTrue, service != nil, tc.reason)
			if service == nil {
				assert.Empty(t, w.slicesHere())
				return
			}
			assert.True(t, metav1.IsControlledBy(service, w.bindingHere()))
			assert.Equal(t, v1beta1.ManagedByController, service.Labels[v1beta1.LabelManagedBy])
			w.took()
			assert.Equal(t, status, w.healed(), "a second look changes nothing")
			for _, request := range w.took() {
				assert.Regexp(t, "^(get|list) ", request, "and writes and asks nothing")
			}
		})
	}
}

func credentialsOf(t *testing.T, text string) *osb.Binding {
	t.Helper()
	return &osb.Binding{Credentials: credentialsIn(t, text)}
}

// What is another's is never touched: no Service, and no slice of it.
func TestServiceForeign(t *testing.T) {
	t.Parallel()
	w := newEndpointWorld(t, byClusterBroker)
	theirs := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "b"}, Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "mine"}}}
	require.NoError(t, w.cache.Create(t.Context(), theirs))
	status := w.deposited(at(byAddress))
	is, because := ofEndpoints(&status)
	assert.Equal(t, v1beta1.ConditionFalse, is)
	assert.Equal(t, endpoints.ReasonServiceForeign, because)
	assert.Empty(t, status.Service)
	assert.Equal(t, theirs.ResourceVersion, w.serviceHere("b").ResourceVersion)
	assert.NotNil(t, w.secretHere("b"), "the credentials are stored all the same")
	w.exposes()
	assert.Equal(t, theirs.ResourceVersion, w.serviceHere("b").ResourceVersion)
	require.NoError(t, w.cache.Delete(t.Context(), theirs))
	status = w.healed()
	assert.Equal(t, "b", status.Service, "once it is gone")

	var list discoveryv1.EndpointSliceList
	require.NoError(t, w.cache.List(t.Context(), &list))
	slice := &list.Items[0]
	slice.OwnerReferences = nil
	require.NoError(t, w.cache.Update(t.Context(), slice))
	status = w.healed()
	_, because = ofEndpoints(&status)
	assert.Equal(t, endpoints.ReasonServiceForeign, because)
	assert.Nil(t, w.serviceHere("b"), "half of it is none")
	assert.Equal(t, []string{"10.1.2.3"}, w.slicesHere(), "and the slice is left alone")
}

// Trouble with the Service never keeps credentials from the Secret; it is tried again, or
// said why not.
func TestServiceTrouble(t *testing.T) {
	t.Parallel()
	services := schema.GroupResource{Resource: "services"}
	cases := map[string]struct {
		reason, request string
		err             error
		status          v1beta1.ConditionStatus
		because         string
	}{
		"Away":          {reason: "it comes back", request: "create Service", err: apierrors.NewServiceUnavailable("away"), status: v1beta1.ConditionUnknown, because: endpoints.ReasonServiceNotWritten},
		"Quota":         {reason: "someone must act", request: "create Service", err: apierrors.NewForbidden(services, "b", nil), status: v1beta1.ConditionFalse, because: endpoints.ReasonServiceRefused},
		"Name":          {reason: "a binding's name that is no Service's", request: "create Service", err: apierrors.NewInvalid(schema.GroupKind{Kind: "Service"}, "b", nil), status: v1beta1.ConditionFalse, because: endpoints.ReasonServiceRefused},
		"Slice":         {reason: "a Service without one is none", request: "create EndpointSlice", err: apierrors.NewForbidden(services, "b", nil), status: v1beta1.ConditionFalse, because: endpoints.ReasonServiceRefused},
		"Unknown":       {reason: "where the cluster's own addresses are cannot be read", request: "get Service", err: apierrors.NewServiceUnavailable("away"), status: v1beta1.ConditionUnknown, because: endpoints.ReasonServiceNotWritten},
		"NotToBeKnown":  {reason: "without the right the flags say it", request: "get Service", err: apierrors.NewForbidden(services, "b", nil), status: v1beta1.ConditionTrue, because: endpoints.ReasonExposed},
		"NoRightToTell": {reason: "the review fails", request: "create LocalSubjectAccessReview", err: apierrors.NewServiceUnavailable("away"), status: v1beta1.ConditionUnknown, because: endpoints.ReasonServiceNotWritten},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newEndpointWorld(t, byNamespacedBroker)
			w.may = true
			w.fail[tc.request] = tc.err
			status := w.deposited(at(byAddress))
			is, because := ofEndpoints(&status)
			assert.Equal(t, tc.status, is, tc.reason)
			assert.Equal(t, tc.because, because, tc.reason)
			assert.NotNil(t, w.secretHere("b"))
			status = w.healed()
			is, _ = ofEndpoints(&status)
			assert.Equal(t, v1beta1.ConditionTrue, is, "the next look finds no trouble")
			assert.Equal(t, []string{"10.1.2.3"}, w.slicesHere())
		})
	}
}
