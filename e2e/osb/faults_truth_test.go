package osb_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// is says whether an object has a condition with status True, observed at its generation.
func is(o client.Object, typ string) bool {
	c, _ := api.FindCondition(stack.ConditionsOf(o), typ)
	return c.Status == api.ConditionTrue && c.ObservedGeneration == o.GetGeneration()
}

// read reads all objects anew.
func (w *shakyWorld) read() error {
	instances, bindings := api.ServiceInstanceList{}, api.ServiceBindingList{}
	for _, list := range []client.ObjectList{&instances, &bindings} {
		if err := w.client.List(w.Context(), list, client.InNamespace(w.namespace)); err != nil {
			return fmt.Errorf("cannot list: %w", err)
		}
	}
	w.instances, w.bindings = w.instances[:0], w.bindings[:0]
	for n := range instances.Items {
		w.instances = append(w.instances, &instances.Items[n])
	}
	for n := range bindings.Items {
		w.bindings = append(w.bindings, &bindings.Items[n])
	}
	return nil
}

// rest waits until everything is Ready, or Failed and Stalled, or a binding that waits
// for an instance that is.
func (w *shakyWorld) rest() {
	w.Helper()
	w.until(func() (bool, error) {
		if err := w.read(); err != nil {
			return true, err
		}
		failed := map[string]bool{}
		for _, i := range w.instances {
			failed[i.Name] = is(i, api.ConditionFailed)
			if !ended(i) {
				return false, fmt.Errorf("instance %s is not at rest: %s", i.Name, stack.StatusOf(i))
			}
		}
		for _, b := range w.bindings {
			if !ended(b) && !failed[b.Spec.InstanceRef.Name] {
				return false, fmt.Errorf("binding %s is not at rest: %s", b.Name, stack.StatusOf(b))
			}
		}
		return true, nil
	})
}

// ended says that nothing more is done.
func ended(o client.Object) bool {
	if is(o, api.ConditionOrphanMitigation) {
		return false
	}
	return is(o, api.ConditionReady) || is(o, api.ConditionFailed) && is(o, api.ConditionStalled)
}

// truthful compares what every status says with the broker's books: they are the truth.
func (w *shakyWorld) truthful() {
	w.Helper()
	atBroker, bound := w.broker.Instances(), w.broker.Bindings()
	said, saidBound := []string{}, []string{}
	for _, i := range w.instances {
		if i.Status.ProvisionStatus == api.Provisioned {
			said = append(said, i.Status.ExternalID)
			w.instanceIs(i, atBroker[i.Status.ExternalID])
		}
		assert.False(w, is(i, api.ConditionReady) && i.Status.ProvisionStatus != api.Provisioned, "instance %s", i.Name)
	}
	for _, b := range w.bindings {
		if is(b, api.ConditionReady) {
			saidBound = append(saidBound, b.Status.ExternalID)
			assert.Equal(w, osbtest.Ready, bound[b.Status.ExternalID].State, "binding %s", b.Name)
			w.holdsCredentials(b, bound[b.Status.ExternalID])
			continue
		}
		assert.Nil(w, b.Status.Binding, "binding %s", b.Name)
	}
	assert.ElementsMatch(w, said, slices.Collect(maps.Keys(atBroker)), "instances in the cluster and at the broker")
	assert.ElementsMatch(w, saidBound, slices.Collect(maps.Keys(bound)), "bindings in the cluster and at the broker")
}

// instanceIs compares an instance that is said to exist: Ready is as its spec asks, any
// other is as its status says that it was asked for last, or as what it says was sent
// since, and may have been acted on.
func (w *shakyWorld) instanceIs(i *api.ServiceInstance, has osbtest.Instance) {
	w.Helper()
	assert.Equal(w, osbtest.Ready, has.State, "instance %s", i.Name)
	require.NotNil(w, i.Status.ExternalProperties, "instance %s", i.Name)
	may := []*runtime.RawExtension{i.Spec.Parameters}
	if !is(i, api.ConditionReady) {
		may[0] = i.Status.ExternalProperties.Parameters
		if sent := i.Status.InProgressProperties; sent != nil {
			may = append(may, sent.Parameters)
		}
		if w.lied(i.Status.ExternalID) {
			may = append(may, i.Spec.Parameters)
		}
	}
	asSaid := func(said *runtime.RawExtension) bool {
		var parameters map[string]any
		require.NoError(w, json.Unmarshal(said.Raw, &parameters))
		return assert.ObjectsAreEqual(parameters, has.Parameters)
	}
	assert.True(w, slices.ContainsFunc(may, asSaid), "instance %s has %v, and says %s", i.Name, has.Parameters, may)
}

// lied says that the broker updated an instance and answered 5xx, which means that it
// did not: no platform can know better.
func (w *shakyWorld) lied(id string) bool {
	updates := w.broker.Calls(osbtest.About(id), osbtest.Of(osbtest.Update))
	return slices.ContainsFunc(updates, func(call osbtest.Call) bool { return call.Acted && call.Status >= http.StatusInternalServerError })
}

// counted is how many are Ready, and how many Failed.
func counted[O client.Object](objects []O) (ready, failed int) {
	for _, o := range objects {
		if is(o, api.ConditionReady) {
			ready++
		}
		if is(o, api.ConditionFailed) {
			failed++
		}
	}
	return ready, failed
}
