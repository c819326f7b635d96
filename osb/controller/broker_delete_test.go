package controller

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
)

// What the catalog lists no more is deleted a while after it was marked.
func TestBrokerSweeps(t *testing.T) {
	t.Parallel()
	inBothScopes(t, func(w *brokerWorld) {
		w.pass(0)
		w.answer = func(string) (*osb.Catalog, error) { return &osb.Catalog{}, nil }
		w.reconciler.ask(keyOfBroker(w.broker().object))
		assert.Equal(w, markedPause, w.pass(0).RequeueAfter)
		assert.Equal(w, 3, w.offerings())
		w.pass(markedPause)
		assert.Zero(w, w.offerings())
	})
}

// offerings counts the classes and plans that there are.
func (w *brokerWorld) offerings() int {
	count := 0
	for _, list := range []client.ObjectList{&v1beta1.ClusterServiceClassList{}, &v1beta1.ServiceClassList{}, &v1beta1.ClusterServicePlanList{}, &v1beta1.ServicePlanList{}} {
		require.NoError(w, w.client.List(w.Context(), list))
		items, err := meta.ExtractList(list)
		require.NoError(w, err)
		count += len(items)
	}
	return count
}

func (w *brokerWorld) instance(name string, change func(*v1beta1.ServiceInstance)) *v1beta1.ServiceInstance {
	w.Helper()
	i := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name}}
	change(i)
	require.NoError(w, w.client.Create(w.Context(), i))
	return i
}

// A deletion marks at once, waits while instances exist at the broker, by whatever they
// are known to, names them, and then takes plans, classes and the finalizer.
func TestBrokerDeletion(t *testing.T) {
	t.Parallel()
	inBothScopes(t, func(w *brokerWorld) {
		w.pass(0)
		w.events()
		copied := &v1beta1.ServicePlan{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "copy"}, Spec: v1beta1.ServicePlanSpec{ClusterServiceBrokerName: "b", ServiceClassRef: v1beta1.LocalObjectReference{Name: "x"}}}
		byClass := w.instance("by-class", func(i *v1beta1.ServiceInstance) {
			i.Spec.ClusterServiceClassRef = &v1beta1.ClusterObjectReference{Name: "db"}
			if w.namespaced {
				i.Spec.ClusterServiceClassRef, i.Spec.ServiceClassRef = nil, &v1beta1.LocalObjectReference{Name: "db"}
				copied.Spec.ClusterServiceBrokerName, copied.Spec.ServiceBrokerName = "", "b"
			}
		})
		require.NoError(w, w.client.Create(w.Context(), copied))
		byCopy := w.instance("by-copy", func(i *v1beta1.ServiceInstance) {
			i.Spec.ServicePlanRef = &v1beta1.LocalObjectReference{Name: "copy"}
		})
		byTarget := w.instance("by-target", func(i *v1beta1.ServiceInstance) {
			i.Status.InProgressProperties = &v1beta1.ServiceInstancePropertiesState{BrokerTarget: v1beta1.BrokerTarget{ClusterServiceBrokerName: "b"}}
			if w.namespaced {
				i.Status.InProgressProperties.BrokerTarget = v1beta1.BrokerTarget{ServiceBrokerName: "b"}
			}
		})
		w.instance("of-another", func(i *v1beta1.ServiceInstance) {
			i.Status.ExternalProperties = &v1beta1.ServiceInstancePropertiesState{BrokerTarget: v1beta1.BrokerTarget{ClusterServiceBrokerName: "c", ServiceBrokerName: ""}}
		})
		require.NoError(w, w.client.Delete(w.Context(), w.broker().object))
		assert.Equal(w, instancesPause, w.pass(0).RequeueAfter)
		ready, _ := v1beta1.FindCondition(w.broker().status.Conditions, v1beta1.ConditionReady)
		assert.Equal(w, "deletion waits for 3 instances at the broker: n/by-class, n/by-copy, n/by-target", ready.Message)
		assert.Equal(w, "Warning DeletionBlockedByInstances", w.events())
		require.NoError(w, w.client.Get(w.Context(), client.ObjectKeyFromObject(copied), copied))
		assert.True(w, copied.Status.RemovedFromBrokerCatalog, "nothing new is provisioned from it")
		writes := w.writes
		w.pass(instancesPause)
		assert.Equal(w, writes, w.writes)
		assert.Empty(w, w.events())
		for _, i := range []client.Object{byClass, byCopy, byTarget} {
			assert.Equal(w, instancesPause, w.pass(instancesPause).RequeueAfter)
			require.NoError(w, w.client.Delete(w.Context(), i))
		}
		w.events()
		assert.Zero(w, w.pass(instancesPause).RequeueAfter)
		assert.Equal(w, 1, w.offerings(), "what is user-defined stays")
		err := w.client.Get(w.Context(), w.at, w.emptyBroker())
		assert.True(w, apierrors.IsNotFound(err))
		assert.Equal(w, map[bool]string{false: "Normal DeletedClusterServiceBrokerSuccessfully", true: "Normal DeletedSuccessfully"}[w.namespaced], w.events())
		assert.Len(w, w.etags, 1, "a broker that goes is not asked for its catalog")
	})
}
