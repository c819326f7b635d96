package controller

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/deposit"
	"github.com/defaultplan/defaultplan/osb/controller/endpoints"
	"github.com/defaultplan/defaultplan/osb/controller/expose"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A name that a credential is has its Service once what was in the way is gone; one that
// may not be a host at all is not shown, and the message says how it is judged again.
func TestMappedNameComesLater(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, because string
		before, after   func(*endpointWorld)
	}{
		"Foreign": {
			reason: "another's Service is removed", because: endpoints.ReasonServiceForeign,
			before: func(w *endpointWorld) {
				require.NoError(w, w.cache.Create(w.Context(), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "b"}}))
			},
			after: func(w *endpointWorld) { require.NoError(w, w.cache.Delete(w.Context(), w.serviceHere("b"))) },
		},
		"Quota": {
			reason: "the quota has room", because: endpoints.ReasonServiceRefused,
			before: func(w *endpointWorld) {
				w.fail["create Service"] = apierrors.NewForbidden(schema.GroupResource{Resource: "services"}, "b", nil)
			},
			after: func(*endpointWorld) {},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newEndpointWorld(t, fromKeys("h", "p"))
			tc.before(w)
			status := w.deposited(credentialsOf(t, `{"h":"db.example.com","p":"1"}`))
			_, because := ofEndpoints(&status)
			assert.Equal(t, tc.because, because, tc.reason)
			tc.after(w)
			status = w.healed()
			assert.Equal(t, "b", status.Service, tc.reason)
		})
	}
	w := newEndpointWorld(t, fromKeys("h", "p"))
	secret := credentialsOf(t, `{"h":"db.prod.svc","p":"1"}`)
	status := w.deposited(secret)
	said, _ := v1beta1.FindCondition(status.Conditions, v1beta1.ConditionEndpoints)
	assert.Contains(t, said.Message, "delete the binding's Secret")
	assert.Empty(t, status.Endpoints)
	w.allows([]string{"prod.svc"}...)
	w.exposer.Services.Rules.Reread = 0
	status = w.deposited(secret)
	assert.Equal(t, "b", status.Service)
	w.exposer.Services.Rules.Given, w.reconciler.deposits.Endpoints.Given = expose.Rules{}, expose.Rules{}
	status = w.healed()
	said, _ = v1beta1.FindCondition(status.Conditions, v1beta1.ConditionEndpoints)
	assert.Equal(t, expose.ReasonRefused, said.Reason, "the operator allows it no more")
	assert.NotContains(t, said.Message, "db.prod.svc")
	assert.Len(t, status.Endpoints, 1, "what status told already stays, to be judged again")
	assert.Nil(t, w.serviceHere("b"))
}

// A Service that a crash left, before status knew of it, goes when the next reply is refused.
func TestServiceOfACrash(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		next   *osb.Binding
	}{
		"Refused": {reason: "it may not be", next: at(osb.Endpoint{Host: "169.254.169.254", Ports: []string{"80"}})},
		"Absent":  {reason: "its address is unknown", next: givenText("a", "b")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newEndpointWorld(t, byClusterBroker, func(b *v1beta1.ServiceBinding) { b.Spec.ServiceName = "db" })
			stored := w.reconciler.resourceOf(w.bindingHere())
			require.NoError(t, stored.deposit.Write(t.Context(), &deposit.Call{Origin: stored.provenance()}, at(byAddress)))
			w.keep(stored)
			w.fail["patch status ServiceBinding"] = apierrors.NewServiceUnavailable("away")
			_, err := w.exposer.Reconcile(t.Context(), reconcile.Request{NamespacedName: w.at})
			require.Error(t, err)
			require.NotNil(t, w.serviceHere("db"))
			require.Empty(t, w.bindingHere().Status.Service, "status does not tell it")
			w.deposited(tc.next)
			assert.Nil(t, w.serviceHere("db"), tc.reason)
			assert.Empty(t, w.slicesHere(), tc.reason)
		})
	}
}

// Whether a Service is there that may not be: where that cannot be read it is told, and
// tried again; who has no right to Services made none.
func TestServiceNotRead(t *testing.T) {
	t.Parallel()
	w := newEndpointWorld(t)
	refused := at(osb.Endpoint{Host: "169.254.169.254", Ports: []string{"80"}})
	for _, tc := range []struct {
		err  error
		want string
	}{
		{err: apierrors.NewForbidden(schema.GroupResource{Resource: "services"}, "b", nil), want: expose.ReasonRefused},
		{err: apierrors.NewServiceUnavailable("away"), want: endpoints.ReasonServiceNotWritten},
	} {
		w.fail["get PartialObjectMetadata"] = tc.err
		status := w.deposited(refused)
		_, because := ofEndpoints(&status)
		assert.Equal(t, tc.want, because)
	}
	status := w.healed()
	_, because := ofEndpoints(&status)
	assert.NotEqual(t, endpoints.ReasonServiceNotWritten, because, "there is none")
}

// The Service of a binding whose unbind fails goes all the same, and status does not name it.
func TestServiceGoesBeforeTheUnbind(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t)
	w.broker.SetEndpoints(func(osbtest.Binding) []map[string]any {
		return []map[string]any{{"host": "db.example.com", "ports": []string{"5432"}}}
	})
	w.pass()
	b := w.exposes()
	require.Equal(t, "b", b.Status.Service)
	w.broker.Next(osbtest.Unbind, osbtest.Status(500, "{}"))
	require.NoError(t, w.cache.Delete(t.Context(), b))
	w.pass()
	b = w.exposes()
	require.NotNil(t, b, "its broker did not unbind it yet")
	assert.Empty(t, b.Status.Service)
	assert.Nil(t, (&endpointWorld{w}).serviceHere("b"))
}
