package controller

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/endpoints"
	"github.com/defaultplan/defaultplan/osb/controller/expose"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A binding is at a broker of a namespace's admin; its instance is abandoned, and created
// again, of the same name, at the cluster's broker. When the Secret is lost, the answer of the
// former broker must not be recorded as the cluster's, which is trusted with addresses.
func TestBindingOfAReplacedInstance(t *testing.T) {
	t.Parallel()
	w := &endpointWorld{newBindingWorld(t)}
	allowed := expose.Rules{}
	require.NoError(t, allowed.Allow([]string{"127.0.0.0/8"}))
	w.reconciler.engine.brokers.Guard.Around = func(context.Context) (*expose.Rules, error) { return &allowed, nil }
	w.reconciler.engine.brokers.Guard.Given = allowed.Rules
	own := osbtest.Start(t, osbtest.Options{Catalog: []byte(bindingsCatalog)})
	own.Add(osbtest.Instance{ID: "instance-id", ServiceID: "db", PlanID: "small"})
	own.SetEndpoints(func(osbtest.Binding) []map[string]any {
		return []map[string]any{{"host": "10.66.6.6", "ports": []string{"5432"}}}
	})
	theirs := &v1beta1.ServiceBroker{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "theirs", UID: "theirs-uid"}}
	theirs.Spec.URL = own.URL
	class := &v1beta1.ServiceClass{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "db"}}
	class.Spec.ServiceBrokerName, class.Spec.ExternalID, class.Spec.ExternalName, class.Spec.Bindable = "theirs", "db", "mysql", true
	plan := &v1beta1.ServicePlan{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "small"}}
	plan.Spec.ServiceBrokerName, plan.Spec.ExternalID, plan.Spec.ExternalName = "theirs", "small", "small"
	plan.Spec.ServiceClassRef.Name = "db"
	for _, o := range []client.Object{theirs, class, plan} {
		require.NoError(t, w.cache.Create(t.Context(), o))
	}
	var i v1beta1.ServiceInstance
	at := client.ObjectKey{Namespace: "n", Name: "i"}
	require.NoError(t, w.cache.Get(t.Context(), at, &i))
	clusters := i.DeepCopy()
	i.Spec.ClusterServiceClassRef, i.Spec.ClusterServicePlanRef = nil, nil
	i.Spec.ServiceClassRef, i.Spec.ServicePlanRef = &v1beta1.LocalObjectReference{Name: "db"}, &v1beta1.LocalObjectReference{Name: "small"}
	status := i.Status.DeepCopy()
	require.NoError(t, w.cache.Update(t.Context(), &i))
	i.Status = *status
	i.Status.ExternalProperties.BrokerTarget = v1beta1.BrokerTarget{ServiceBrokerName: "theirs", ClassExternalID: "db", PlanExternalID: "small"}
	require.NoError(t, w.cache.Status().Update(t.Context(), &i))
	w.pass()
	b := w.exposes()
	require.NotNil(t, b.Status.ExternalProperties)
	require.Equal(t, "theirs", b.Status.ExternalProperties.ServiceBrokerName)
	_, because := ofEndpoints(&b.Status)
	require.Equal(t, endpoints.ReasonAddressesRight, because)

	// The instance is abandoned, and made again at the cluster's broker.
	require.NoError(t, w.cache.Delete(t.Context(), &i))
	clusters.ResourceVersion = ""
	status = clusters.Status.DeepCopy()
	status.ExternalID = "instance-id-2"
	require.NoError(t, w.cache.Create(t.Context(), clusters))
	clusters.Status = *status
	require.NoError(t, w.cache.Status().Update(t.Context(), clusters))
	own.Add(osbtest.Instance{ID: "instance-id-2", ServiceID: "db", PlanID: "small"})
	require.NoError(t, w.cache.Delete(t.Context(), w.secretHere("b")))
	for range 6 {
		w.pass()
		b = w.exposes()
	}
	_, because = ofEndpoints(&b.Status)
	assert.Equal(t, endpoints.ReasonAddressesRight, because)
	ready, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionReady)
	assert.Contains(t, ready.Message, "another one of that name")
	assert.Empty(t, w.slicesHere(), "an address of a broker of one's own, without the right")
}
