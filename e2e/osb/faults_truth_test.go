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
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// is says whether an object has a condition with status True, observed at its generation.
func is(o client.Object, typ string) bool {
	c, _ := api.FindCondition(env.ConditionsOf(o), typ)
	return c.Status == api.ConditionTrue && c.ObservedGeneration == o.GetGeneration()
}

// read reads all objects again.
func (e *shakyEnv) read() error {
	instances, bindings := api.ServiceInstanceList{}, api.ServiceBindingList{}
	for _, list := range []client.ObjectList{&instances, &bindings} {
		if err := e.Client().List(e.Context(), list, client.InNamespace(e.Namespace)); err != nil {
			return fmt.Errorf("cannot list: %w", err)
		}
	}
	e.instances, e.bindings = e.instances[:0], e.bindings[:0]
	for n := range instances.Items {
		e.instances = append(e.instances, &instances.Items[n])
	}
	for n := range bindings.Items {
		e.bindings = append(e.bindings, &bindings.Items[n])
	}
	return nil
}

// rest waits until everything is Ready, or Failed and Stalled, or a binding that waits
// for an instance that is.
func (e *shakyEnv) rest() {
	e.Helper()
	e.until(func() (bool, error) {
		if err := e.read(); err != nil {
			return true, err
		}
		failed := map[string]bool{}
		for _, i := range e.instances {
			failed[i.Name] = is(i, api.ConditionFailed)
			if !ended(i) {
				return false, fmt.Errorf("instance %s is not at rest: %s", i.Name, env.StatusOf(i))
			}
		}
		for _, b := range e.bindings {
			if !ended(b) && !failed[b.Spec.InstanceRef.Name] {
				return false, fmt.Errorf("binding %s is not at rest: %s", b.Name, env.StatusOf(b))
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
func (e *shakyEnv) truthful() {
	e.Helper()
	atBroker, bound := e.broker.Instances(), e.broker.Bindings()
	said, saidBound := []string{}, []string{}
	for _, i := range e.instances {
		if i.Status.ProvisionStatus == api.Provisioned {
			said = append(said, i.Status.ExternalID)
			e.instanceIs(i, atBroker[i.Status.ExternalID])
		}
		assert.False(e, is(i, api.ConditionReady) && i.Status.ProvisionStatus != api.Provisioned, "instance %s", i.Name)
	}
	for _, b := range e.bindings {
		if is(b, api.ConditionReady) {
			saidBound = append(saidBound, b.Status.ExternalID)
			assert.Equal(e, osbtest.Ready, bound[b.Status.ExternalID].State, "binding %s", b.Name)
			e.holdsCredentials(b, bound[b.Status.ExternalID])
			continue
		}
		assert.Nil(e, b.Status.Binding, "binding %s", b.Name)
	}
	assert.ElementsMatch(e, said, slices.Collect(maps.Keys(atBroker)), "instances in the cluster and at the broker")
	assert.ElementsMatch(e, saidBound, slices.Collect(maps.Keys(bound)), "bindings in the cluster and at the broker")
}

// instanceIs compares an instance that is said to exist: Ready is as its spec asks, any
// other is as its status says that it was asked for last, or as what it says was sent
// since, and may have been acted on.
func (e *shakyEnv) instanceIs(i *api.ServiceInstance, has osbtest.Instance) {
	e.Helper()
	assert.Equal(e, osbtest.Ready, has.State, "instance %s", i.Name)
	require.NotNil(e, i.Status.ExternalProperties, "instance %s", i.Name)
	may := []*runtime.RawExtension{i.Spec.Parameters}
	if !is(i, api.ConditionReady) {
		may[0] = i.Status.ExternalProperties.Parameters
		if sent := i.Status.InProgressProperties; sent != nil {
			may = append(may, sent.Parameters)
		}
		if e.lied(i.Status.ExternalID) {
			may = append(may, i.Spec.Parameters)
		}
	}
	asSaid := func(said *runtime.RawExtension) bool {
		var parameters map[string]any
		require.NoError(e, json.Unmarshal(said.Raw, &parameters))
		return assert.ObjectsAreEqual(parameters, has.Parameters)
	}
	assert.True(e, slices.ContainsFunc(may, asSaid), "instance %s has %v, and says %s", i.Name, has.Parameters, may)
}

// lied says that the broker updated an instance and answered 5xx, which means that it
// did not: no platform can know better.
func (e *shakyEnv) lied(id string) bool {
	updates := e.broker.Calls(osbtest.About(id), osbtest.Of(osbtest.Update))
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
