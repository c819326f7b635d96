package endpoints_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// A name becomes an alias, with all its ports; it is put right when a user changes it, and
// goes with the binding.
func TestNameBecomesAService(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	b := e.binding("reader", nil, endpoint("DB.example.com.", "5432", "9000-9001"), object{"host": "db.example.com", "ports": []string{"53"}, "protocol": "all"})
	e.Create(b)
	e.HasCondition(b, api.ConditionReady, api.ConditionTrue, "")
	e.HasCondition(b, api.ConditionEndpoints, api.ConditionTrue, "")
	assert.Equal(t, "reader", b.Status.Service)
	assert.Equal(t, []string{"reader"}, b.Status.Secrets)
	service := e.service("reader")
	e.Get(service)
	assert.Equal(t, corev1.ServiceTypeExternalName, service.Spec.Type)
	assert.Equal(t, "db.example.com", service.Spec.ExternalName)
	assert.Len(t, service.Spec.Ports, 5)
	assert.True(t, metav1.IsControlledBy(service, b))

	service.Spec.ExternalName = "evil.example.com"
	require.NoError(t, e.Client().Update(t.Context(), service))
	e.Eventually(func() (bool, error) {
		err := e.Client().Get(t.Context(), client.ObjectKeyFromObject(service), service)
		return service.Spec.ExternalName == "db.example.com", err
	})
	e.Delete(service)
	e.Eventually(func() (bool, error) {
		return client.IgnoreNotFound(e.Client().Get(t.Context(), client.ObjectKeyFromObject(service), service)) == nil && service.Spec.ExternalName == "db.example.com", nil
	})
	e.Delete(b)
	e.Gone(b, service)
	assert.True(t, e.Absent(e.Secret("reader")))
}

// Addresses become a Service without a selector, and a slice for each family and set of
// ports. The Service has the name that is asked for.
func TestAddressesBecomeAService(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	b := e.binding("reader", nil, endpoint("10.1.2.3", "5432"), endpoint("10.1.2.4", "5432"), endpoint("192.168.7.7", "9000-9002"))
	b.Spec.ServiceName = "db"
	e.Create(b)
	e.HasCondition(b, api.ConditionReady, api.ConditionTrue, "")
	e.HasCondition(b, api.ConditionEndpoints, api.ConditionTrue, "")
	assert.Equal(t, "db", b.Status.Service)
	service := e.service("db")
	e.Get(service)
	assert.Equal(t, corev1.ServiceTypeClusterIP, service.Spec.Type)
	assert.NotEqual(t, corev1.ClusterIPNone, service.Spec.ClusterIP)
	assert.Empty(t, service.Spec.Selector)
	assert.Len(t, service.Spec.Ports, 4)
	assert.ElementsMatch(t, []string{"10.1.2.3", "10.1.2.4", "192.168.7.7"}, e.leads("db"))

	// Other credentials, other endpoints: the lost Secret is fetched again.
	e.moves(endpoint("10.9.9.9", "5432"))
	e.Delete(e.Secret("reader"))
	e.Eventually(func() (bool, error) {
		addresses := e.leads("db")
		return len(addresses) == 1 && addresses[0] == "10.9.9.9", nil
	})
	e.Delete(b)
	e.Gone(b, service)
	e.Eventually(func() (bool, error) {
		var list discoveryv1.EndpointSliceList
		err := e.Client().List(t.Context(), &list, client.InNamespace(e.Namespace))
		return len(list.Items) == 0, err
	})
}

// Credentials that are host and port are endpoints where the spec says so, and what a
// broker says is not secret is in a ConfigMap; the well-known keys are beside the broker's.
func TestKeysHaveTheirPlaces(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	b := e.binding("reader", object{"hostname": "db.example.com", "port": 3306, "user": "u", "password": "hunter2", "region": "west", "name": "d"})
	b.Spec.EndpointsFrom = []api.EndpointFrom{{HostKey: "hostname", PortKey: "port"}}
	b.Spec.SecretTransforms = []api.SecretTransform{{Preset: &api.PresetTransform{Name: api.PresetServiceBinding}}, {PublishKey: &api.PublishKeyTransform{Key: "hostname"}}}
	e.Create(b)
	e.HasCondition(b, api.ConditionReady, api.ConditionTrue, "")
	e.HasCondition(b, api.ConditionEndpoints, api.ConditionTrue, "")
	assert.Equal(t, []string{"reader"}, b.Status.ConfigMaps)
	service, published, secret := e.service("reader"), e.configMap("reader"), e.Secret("reader")
	e.Get(service)
	e.Get(published)
	e.Get(secret)
	assert.Equal(t, "db.example.com", service.Spec.ExternalName)
	assert.Equal(t, map[string]string{"region": "west", "hostname": "db.example.com"}, published.Data, "the plan's default, and the binding's own")
	got := map[string]string{}
	for key, value := range secret.Data {
		got[key] = string(value)
	}
	class := e.Name("db")
	assert.Equal(t, map[string]string{
		"host": "db.example.com", "port": "3306", "user": "u", "username": "u", "password": "hunter2", "name": "d", "database": "d", "type": class, "provider": class,
	}, got)

	e.Delete(published)
	e.Eventually(func() (bool, error) {
		return client.IgnoreNotFound(e.Client().Get(t.Context(), client.ObjectKeyFromObject(published), published)) == nil && published.Data["region"] == "west", nil
	})
	e.HasCondition(b, api.ConditionReady, api.ConditionTrue, "")
	e.Delete(b)
	e.Gone(b, service)
	for _, o := range []client.Object{published, secret} {
		assert.True(t, e.Absent(o), "%T", o)
	}
}

// An unbind removes what the binding created, and nothing that was there before it or
// beside it.
func TestUnbindRemovesExactlyThese(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	theirs := []client.Object{
		&corev1.Service{ObjectMeta: e.Meta("reader"), Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "mine.example.com"}},
		&corev1.ConfigMap{ObjectMeta: e.Meta("other"), Data: map[string]string{"a": "b"}},
		&discoveryv1.EndpointSlice{
			ObjectMeta:  metav1.ObjectMeta{Namespace: e.Namespace, Name: "mine", Labels: map[string]string{discoveryv1.LabelServiceName: "reader", discoveryv1.LabelManagedBy: api.ManagedByController}},
			AddressType: discoveryv1.AddressTypeIPv4, Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.8.8.8"}}},
		},
	}
	e.Create(theirs...)
	b := e.binding("reader", nil, endpoint("10.1.2.3", "5432"))
	e.Create(b)
	e.HasCondition(b, api.ConditionReady, api.ConditionTrue, "")
	said := e.HasCondition(b, api.ConditionEndpoints, api.ConditionFalse, "")
	assert.Equal(t, "ServiceNotOwned", said.Reason)
	assert.Empty(t, b.Status.Service)
	assert.NotNil(t, b.Status.Binding, "the credentials are there all the same")
	e.Delete(b)
	e.Gone(b)
	for _, o := range theirs {
		version := o.GetResourceVersion()
		e.Get(o)
		assert.Equal(t, version, o.GetResourceVersion(), "%T", o)
	}
}
