package osb_test

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// ends is what becomes of all after the crash: what was asked for is there, or gone, the
// books agree, and all of it can be removed.
func (c *crash) ends() {
	c.Helper()
	for _, o := range []client.Object{c.instance, c.binding} {
		if o.GetUID() == "" {
			continue // it was never made
		}
		if c.deleted(o) {
			c.Gone(o)
			continue
		}
		c.Ready(o)
	}
	c.booksAgree(c.broker)
	c.allGoes(c.broker)
	c.Delete(c.registered) // it goes in its own time
}

// deleted says whether an object is gone, or asked to go.
func (c *crash) deleted(o client.Object) bool {
	c.Helper()
	err := c.client.Get(c.Context(), client.ObjectKeyFromObject(o), o)
	require.NoError(c, client.IgnoreNotFound(err))
	return err != nil || o.GetDeletionTimestamp() != nil
}

// objects are the instances and bindings of the world.
func (w *world) objects() ([]api.ServiceInstance, []api.ServiceBinding) {
	w.Helper()
	var instances api.ServiceInstanceList
	var bindings api.ServiceBindingList
	require.NoError(w, w.client.List(w.Context(), &instances, client.InNamespace(w.namespace)))
	require.NoError(w, w.client.List(w.Context(), &bindings, client.InNamespace(w.namespace)))
	return instances.Items, bindings.Items
}

// booksAgree says that the broker has exactly what the cluster knows of, as it is there, and
// made nothing twice.
func (w *world) booksAgree(broker *osbtest.Broker) {
	w.Helper()
	instances, bindings := w.objects()
	atBroker, bound := broker.Instances(), broker.Bindings()
	known, knownBound := []string{}, []string{}
	for i := range instances {
		o := &instances[i]
		known = append(known, o.Status.ExternalID)
		has := atBroker[o.Status.ExternalID]
		assert.Equal(w, osbtest.Ready, has.State, "instance %s", o.Name)
		assert.JSONEq(w, string(o.Spec.Parameters.Raw), jsonOf(w, has.Parameters), "instance %s", o.Name)
		require.NotNil(w, o.Status.ExternalProperties)
		assert.Equal(w, o.Status.ExternalProperties.PlanExternalID, has.PlanID, "instance %s", o.Name)
	}
	for i := range bindings {
		o := &bindings[i]
		knownBound = append(knownBound, o.Status.ExternalID)
		has := bound[o.Status.ExternalID]
		assert.Equal(w, osbtest.Ready, has.State, "binding %s", o.Name)
		w.holdsCredentials(o, has)
	}
	assert.ElementsMatch(w, known, slices.Collect(maps.Keys(atBroker)), "instances in the cluster and at the broker")
	assert.ElementsMatch(w, knownBound, slices.Collect(maps.Keys(bound)), "bindings in the cluster and at the broker")
	w.nothingMadeTwice(broker)
}

// holdsCredentials says that a binding's Secret has what the broker has on its books.
func (w *world) holdsCredentials(b *api.ServiceBinding, has osbtest.Binding) {
	w.Helper()
	secret := w.secret(b.Spec.SecretName)
	w.Get(secret)
	for _, key := range []string{"username", "password", "uri", "host"} {
		assert.Equal(w, has.Credentials[key], string(secret.Data[key]), "the %s of binding %s", key, b.Name)
	}
}

// nothingMadeTwice says that no ID was made more than once.
func (w *world) nothingMadeTwice(broker *osbtest.Broker) {
	w.Helper()
	for id, history := range broker.Histories() {
		assert.LessOrEqual(w, history.Made, 1, "ID %s", id)
	}
}

// allGoes deletes all of the world, bindings first, until nothing is left at the broker,
// nor any Secret. The broker's duties were kept, but for those excepted.
func (w *world) allGoes(broker *osbtest.Broker, except ...string) {
	w.Helper()
	instances, bindings := w.objects()
	for i := range bindings {
		require.NoError(w, client.IgnoreNotFound(w.client.Delete(w.Context(), &bindings[i])))
	}
	for i := range instances {
		require.NoError(w, client.IgnoreNotFound(w.client.Delete(w.Context(), &instances[i])))
	}
	for i := range bindings {
		w.Gone(&bindings[i])
	}
	for i := range instances {
		w.Gone(&instances[i])
	}
	var secrets corev1.SecretList
	require.NoError(w, w.client.List(w.Context(), &secrets, client.InNamespace(w.namespace)))
	assert.Empty(w, secrets.Items, "Secrets")
	assert.Empty(w, broker.Instances(), "instances at the broker")
	assert.Empty(w, broker.Bindings(), "bindings at the broker")
	w.nothingMadeTwice(broker)
	broker.AssertDuties(w, except...)
}

func jsonOf(w *world, value any) string {
	w.Helper()
	text, err := json.Marshal(value)
	require.NoError(w, err)
	return string(text)
}
