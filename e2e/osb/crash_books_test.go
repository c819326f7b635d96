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
	err := c.Client().Get(c.Context(), client.ObjectKeyFromObject(o), o)
	require.NoError(c, client.IgnoreNotFound(err))
	return err != nil || o.GetDeletionTimestamp() != nil
}

// objects are the instances and bindings of the environment.
func (e *testEnv) objects() ([]api.ServiceInstance, []api.ServiceBinding) {
	e.Helper()
	var instances api.ServiceInstanceList
	var bindings api.ServiceBindingList
	require.NoError(e, e.Client().List(e.Context(), &instances, client.InNamespace(e.Namespace)))
	require.NoError(e, e.Client().List(e.Context(), &bindings, client.InNamespace(e.Namespace)))
	return instances.Items, bindings.Items
}

// booksAgree says that the broker has exactly what the cluster knows of, as it is there, and
// made nothing twice.
func (e *testEnv) booksAgree(broker *osbtest.Broker) {
	e.Helper()
	instances, bindings := e.objects()
	atBroker, bound := broker.Instances(), broker.Bindings()
	known, knownBound := []string{}, []string{}
	for i := range instances {
		o := &instances[i]
		known = append(known, o.Status.ExternalID)
		has := atBroker[o.Status.ExternalID]
		assert.Equal(e, osbtest.Ready, has.State, "instance %s", o.Name)
		assert.JSONEq(e, string(o.Spec.Parameters.Raw), jsonOf(e, has.Parameters), "instance %s", o.Name)
		require.NotNil(e, o.Status.ExternalProperties)
		assert.Equal(e, o.Status.ExternalProperties.PlanExternalID, has.PlanID, "instance %s", o.Name)
	}
	for i := range bindings {
		o := &bindings[i]
		knownBound = append(knownBound, o.Status.ExternalID)
		has := bound[o.Status.ExternalID]
		assert.Equal(e, osbtest.Ready, has.State, "binding %s", o.Name)
		e.holdsCredentials(o, has)
	}
	assert.ElementsMatch(e, known, slices.Collect(maps.Keys(atBroker)), "instances in the cluster and at the broker")
	assert.ElementsMatch(e, knownBound, slices.Collect(maps.Keys(bound)), "bindings in the cluster and at the broker")
	e.nothingMadeTwice(broker)
}

// holdsCredentials says that a binding's Secret has what the broker has on its books.
func (e *testEnv) holdsCredentials(b *api.ServiceBinding, has osbtest.Binding) {
	e.Helper()
	secret := e.Secret(b.Spec.SecretName)
	e.Get(secret)
	for _, key := range []string{"username", "password", "uri", "host"} {
		assert.Equal(e, has.Credentials[key], string(secret.Data[key]), "the %s of binding %s", key, b.Name)
	}
}

// nothingMadeTwice says that no ID was made more than once, but those that a clean-up freed.
func (e *testEnv) nothingMadeTwice(broker *osbtest.Broker) {
	e.Helper()
	for id, history := range broker.Histories() {
		assert.LessOrEqual(e, history.Made, history.Freed+1, "ID %s", id)
	}
}

// allGoes deletes all of the environment, bindings first, until nothing is left at the broker,
// nor any Secret. The broker's duties were kept, but for those excepted.
func (e *testEnv) allGoes(broker *osbtest.Broker, except ...string) {
	e.Helper()
	instances, bindings := e.objects()
	for i := range bindings {
		require.NoError(e, client.IgnoreNotFound(e.Client().Delete(e.Context(), &bindings[i])))
	}
	for i := range instances {
		require.NoError(e, client.IgnoreNotFound(e.Client().Delete(e.Context(), &instances[i])))
	}
	for i := range bindings {
		e.Gone(&bindings[i])
	}
	for i := range instances {
		e.Gone(&instances[i])
	}
	var secrets corev1.SecretList
	require.NoError(e, e.Client().List(e.Context(), &secrets, client.InNamespace(e.Namespace)))
	assert.Empty(e, secrets.Items, "Secrets")
	assert.Empty(e, broker.Instances(), "instances at the broker")
	assert.Empty(e, broker.Bindings(), "bindings at the broker")
	e.nothingMadeTwice(broker)
	broker.AssertDuties(e, except...)
}

func jsonOf(e *testEnv, value any) string {
	e.Helper()
	text, err := json.Marshal(value)
	require.NoError(e, err)
	return string(text)
}
