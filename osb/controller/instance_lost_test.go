package controller

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// lostWorld is a provisioned instance, j, that is Ready, and whose plan, class or both are gone.
func lostWorld(t *testing.T, gone ...client.Object) *instanceWorld {
	t.Helper()
	w := newInstanceWorld(t)
	for range 3 {
		w.reconciled()
	}
	require.Equal(t, v1beta1.ConditionTrue, w.ready().Status)
	for _, o := range gone {
		require.NoError(t, w.cache.Delete(t.Context(), o))
	}
	w.took()
	return w
}

// edited changes what the spec says, as admission stores it.
func (w *instanceWorld) edited(edit func(*v1beta1.ServiceInstance)) {
	w.Helper()
	i := w.instance()
	edit(i)
	i.Generation++
	require.NoError(w, w.cache.Update(w.Context(), i))
}

func (w *instanceWorld) passes() {
	w.Helper()
	for range 4 {
		w.reconciled()
	}
}

// ready is the condition Ready of the instance.
func (w *instanceWorld) ready() v1beta1.Condition {
	w.Helper()
	ready, _ := v1beta1.FindCondition(w.instance().Status.Conditions, v1beta1.ConditionReady)
	return ready
}

func namedPlan(name string) *v1beta1.ClusterServicePlan {
	return &v1beta1.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func namedClass(name string) *v1beta1.ClusterServiceClass {
	return &v1beta1.ClusterServiceClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func withColor(i *v1beta1.ServiceInstance) {
	i.Spec.Parameters = &runtime.RawExtension{Raw: []byte(`{"color":"red"}`)}
}

// lost are the ways in which what an instance is of may be gone.
func lost() map[string][]client.Object {
	return map[string][]client.Object{
		"Plan": {namedPlan("small")}, "Class": {namedClass("db")}, "Both": {namedPlan("small"), namedClass("db")},
	}
}

// An instance whose plan or class is gone stays Ready while nothing has to be sent. What its broker has is enough to
// update it, and to remove it.
func TestInstanceOfALostPlan(t *testing.T) {
	t.Parallel()
	for name, gone := range lost() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := lostWorld(t, gone...)
			before := w.instance()
			w.passes()
			assert.Equal(t, before.ResourceVersion, w.instance().ResourceVersion, "nothing is to be said of it")

			w.edited(withColor)
			w.passes()
			assert.Equal(t, v1beta1.ConditionTrue, w.ready().Status, w.ready().Message)
			updates := w.broker.Calls(osbtest.Of(osbtest.Update))
			require.Len(t, updates, 1)
			assert.Equal(t, "db", updates[0].Body["service_id"])
			assert.NotContains(t, updates[0].Body, "plan_id", "the plan stays as it is")
			assert.Equal(t, map[string]any{"a": 1.0, "color": "red"}, updates[0].Body["parameters"])

			require.NoError(t, w.cache.Delete(t.Context(), w.instance()))
			w.passes()
			assert.Len(t, w.broker.Calls(osbtest.Of(osbtest.Deprovision)), 1)
			assert.True(t, apierrors.IsNotFound(w.cache.Get(t.Context(), w.at, &v1beta1.ServiceInstance{})))
		})
	}
}

// Another plan than the instance has is not taken for it because it is gone.
func TestInstanceOfAnotherLostPlan(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason string
		edit   func(*v1beta1.ServiceInstance)
	}{
		"Changed": {reason: "its user changed the plan before that was gone", edit: func(i *v1beta1.ServiceInstance) {
			i.Spec.ClusterServicePlanRef.Name = "large"
		}},
		"OtherScope": {reason: "a plan of that name in the namespace is another", edit: func(i *v1beta1.ServiceInstance) {
			i.Spec.ClusterServicePlanRef, i.Spec.ServicePlanRef = nil, &v1beta1.LocalObjectReference{Name: "small"}
		}},
		"OlderRecord": {reason: "an older release did not record which plan it is, and the spec changed since", edit: func(i *v1beta1.ServiceInstance) {
			withColor(i)
			i.Status.ExternalProperties.PlanRefName = ""
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := lostWorld(t, namedPlan("small"))
			i := w.instance()
			test.edit(i)
			require.NoError(t, w.cache.Status().Update(t.Context(), i.DeepCopy()))
			w.edited(test.edit)
			w.passes()
			assert.Equal(t, "ReferencesNonexistentServicePlan", w.ready().Reason, test.reason)
			assert.Equal(t, v1beta1.ConditionUnknown, w.ready().Status)
			assert.Empty(t, w.broker.Calls(osbtest.Of(osbtest.Update)))
		})
	}
}

// A record of an older release does not name the plan: as long as the spec is the one that was carried out, it is that.
func TestInstanceOfALostPlanByAnOlderRecord(t *testing.T) {
	t.Parallel()
	w := lostWorld(t, namedPlan("small"))
	i := w.instance()
	i.Status.ExternalProperties.PlanRefName = ""
	require.NoError(t, w.cache.Status().Update(t.Context(), i))
	w.passes()
	assert.Equal(t, v1beta1.ConditionTrue, w.ready().Status, w.ready().Message)
}

// What was never made is not made of a plan that is gone.
func TestNothingIsMadeOfALostPlan(t *testing.T) {
	t.Parallel()
	w := newInstanceWorld(t)
	require.NoError(t, w.cache.Delete(t.Context(), namedPlan("small")))
	w.passes()
	assert.Equal(t, "ReferencesNonexistentServicePlan", w.ready().Reason)
	assert.Empty(t, w.broker.Calls(osbtest.Of(osbtest.Provision)))
}

// A binding to an instance whose plan is gone is made, and removed: its broker needs no more than IDs.
func TestBindingOfALostPlan(t *testing.T) {
	t.Parallel()
	for name, gone := range lost() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newBindingWorld(t)
			instance := &v1beta1.ServiceInstance{}
			require.NoError(t, w.cache.Get(t.Context(), client.ObjectKey{Namespace: "n", Name: "i"}, instance))
			instance.Status.ExternalProperties.PlanRefName, instance.Status.ExternalProperties.ClusterServicePlanExternalID = "small", "small"
			require.NoError(t, w.cache.Status().Update(t.Context(), instance))
			for _, o := range gone {
				require.NoError(t, w.cache.Delete(t.Context(), o))
			}
			for range 3 {
				w.pass()
			}
			b := w.bindingHere()
			ready, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionReady)
			assert.Equal(t, v1beta1.ConditionTrue, ready.Status, ready.Message)
			require.NoError(t, w.cache.Delete(t.Context(), b))
			for range 3 {
				w.pass()
			}
			assert.Len(t, w.broker.Calls(osbtest.Of(osbtest.Unbind)), 1)
		})
	}
}

// Whether credentials can be fetched only the class says: while it is gone, those that are lost are not given up.
func TestCredentialsOfALostClass(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t)
	instance := &v1beta1.ServiceInstance{}
	require.NoError(t, w.cache.Get(t.Context(), client.ObjectKey{Namespace: "n", Name: "i"}, instance))
	instance.Status.ExternalProperties.PlanRefName, instance.Status.ExternalProperties.ClusterServicePlanExternalID = "small", "small"
	require.NoError(t, w.cache.Status().Update(t.Context(), instance))
	w.pass()
	for _, o := range lost()["Class"] {
		require.NoError(t, w.cache.Delete(t.Context(), o))
	}
	require.NoError(t, w.cache.Delete(t.Context(), w.secretHere("b")))
	for range 3 {
		w.pass()
	}
	assert.Len(t, w.broker.Calls(osbtest.Of(osbtest.Bind)), 1)
	assert.Empty(t, w.broker.Calls(osbtest.Of(osbtest.Unbind)))
}

// An operation that runs while the plan goes is asked about to its end.
func TestOperationOfALostPlanIsPolled(t *testing.T) {
	t.Parallel()
	w := lostWorld(t, namedPlan("small"))
	i := w.instance()
	i.Status.AsyncOpInProgress, i.Status.CurrentOperation = true, v1beta1.InstanceUpdate
	i.Status.InProgressProperties = i.Status.ExternalProperties
	require.NoError(t, w.cache.Status().Update(t.Context(), i))
	w.passes()
	assert.NotEmpty(t, w.broker.Calls(osbtest.Of(osbtest.PollInstance)))
}
