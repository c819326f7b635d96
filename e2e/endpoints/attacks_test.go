package endpoints_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// Where no Service may lead: the places by which a Service would be a door.
func (e *testEnv) forbidden() map[string]string {
	e.Helper()
	kubernetes := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "kubernetes"}}
	e.Get(kubernetes)
	var slices discoveryv1.EndpointSliceList
	require.NoError(e, e.Client().List(e.Context(), &slices, client.InNamespace("default"), client.MatchingLabels{discoveryv1.LabelServiceName: "kubernetes"}))
	places := map[string]string{
		"ServiceOfTheAPIServer": kubernetes.Spec.ClusterIP, "Metadata": "169.254.169.254", "MetadataOfIPv6": "fd00:ec2::254", "MetadataInIPv6": "::ffff:169.254.169.254",
		"MetadataByName": "metadata.google.internal", "Loopback": "127.0.0.1", "LoopbackInIPv6": "::ffff:7f00:1", "LoopbackByNAT": "64:ff9b::7f00:1", "LinkLocal": "fe80::1",
		"Unspecified": "0.0.0.0", "Pod": "10.244.1.2", "Service": "db.prod.svc", "ServiceInFull": "db.prod.svc.cluster.local.", "ServiceInCapitals": "KUBERNETES.DEFAULT.SVC",
		"ShortName": "kubernetes", "Localhost": "x.LOCALHOST", "Number": "2130706433", "Hexadecimal": "0x7f.1", "NotAllowedOnes": "db.notallowed.svc",
	}
	for _, slice := range slices.Items {
		for _, endpoint := range slice.Endpoints {
			places["APIServer"] = endpoint.Addresses[0]
		}
	}
	return places
}

// A Service at the API server, at metadata, at the machine itself or within the cluster,
// by what a broker says and by what a binding makes of credentials.
func TestNoServiceLeadsThere(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	for name, host := range e.forbidden() {
		for way, b := range map[string]*api.ServiceBinding{
			"endpoints": e.binding("a-"+lower(name), nil, endpoint("db.example.com", "443"), endpoint(host, "443")),
			"from":      e.binding("b-"+lower(name), object{"h": host, "p": "443", "password": "hunter2"}),
		} {
			if way == "from" {
				b.Spec.EndpointsFrom = []api.EndpointFrom{{HostKey: "h", PortKey: "p"}}
			}
			e.Create(b)
			t.Run(name+"/"+way, func(t *testing.T) {
				t.Parallel()
				said := e.HasCondition(b, api.ConditionEndpoints, api.ConditionFalse, "")
				assert.Contains(t, []string{"EndpointsRefused", "EndpointsUnlawful"}, said.Reason, said.Message)
				e.HasCondition(b, api.ConditionReady, api.ConditionTrue, "")
				assert.Empty(t, b.Status.Service)
				assert.True(t, e.Absent(e.service(b.Name)))
			})
		}
	}
	allowed := e.binding("allowed", nil, endpoint("db.allowed.svc", "443"))
	e.Create(allowed)
	said := e.HasCondition(allowed, api.ConditionEndpoints, api.ConditionFalse, "")
	assert.Equal(t, "ServiceRefused", said.Reason, "the operator allows it to the controller, and its policy does not yet")
}

func lower(name string) string {
	letters := []byte(name)
	for i, c := range letters {
		if c >= 'A' && c <= 'Z' {
			letters[i] = c + ('a' - 'A')
		}
	}
	return string(letters)
}

// What was lawful at first is judged at every later update too; a Service that may not be
// any more goes.
func TestNoServiceLeadsThereLater(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	b := e.binding("reader", nil, endpoint("10.1.2.3", "443"))
	e.Create(b)
	e.HasCondition(b, api.ConditionEndpoints, api.ConditionTrue, "")
	e.moves(endpoint("169.254.169.254", "80"))
	e.Delete(e.Secret("reader"))
	said := e.HasCondition(b, api.ConditionEndpoints, api.ConditionFalse, "")
	assert.Equal(t, "EndpointsRefused", said.Reason)
	assert.True(t, e.Absent(e.service("reader")))
	assert.Empty(t, e.leads("reader"))
	e.HasCondition(b, api.ConditionReady, api.ConditionTrue, "")
}

// Addresses of a namespace's own broker are its user's word: they need the right that he
// would need to do it himself; and so does what a binding makes an address of, whichever
// user's broker it is. Given the right, the Service appears by itself.
func TestAddressesNeedTheRight(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		env  func(*testing.T) *testEnv
		from bool
	}{
		"NamespacedBroker": {env: newLocalEnv},
		"Mapped":           {env: func(t *testing.T) *testEnv { t.Helper(); return newEnv(t) }, from: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := tc.env(t)
			user := e.Name("dev")
			e.Grant(user, rbacv1.PolicyRule{APIGroups: []string{api.GroupName}, Resources: []string{"servicebindings"}, Verbs: []string{"create", "get"}})
			b := e.binding("reader", nil, endpoint("10.1.2.3", "443"))
			if tc.from {
				b = e.binding("reader", object{"h": "10.1.2.3", "p": 443})
				b.Spec.EndpointsFrom = []api.EndpointFrom{{HostKey: "h", PortKey: "p"}}
			}
			theirs := e.As(user).Client()
			e.Eventually(func() (bool, error) {
				err := theirs.Create(t.Context(), b.DeepCopy())
				return err == nil, err
			})
			said := e.HasCondition(b, api.ConditionEndpoints, api.ConditionFalse, "")
			assert.Equal(t, "AddressesForbidden", said.Reason)
			assert.Contains(t, said.Message, user)
			assert.True(t, e.Absent(e.service("reader")))
			e.Grant(user, rbacv1.PolicyRule{APIGroups: []string{discoveryv1.GroupName}, Resources: []string{"endpointslices"}, Verbs: []string{"create"}})
			e.HasCondition(b, api.ConditionEndpoints, api.ConditionTrue, "")
			assert.Equal(t, []string{"10.1.2.3"}, e.leads("reader"))
		})
	}
}

// Names of another's Secret, ConfigMap and Service: by another binding they are refused at
// once; what a user created before is left alone, and reported.
func TestNoNameIsSquatted(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	first := e.binding("first", nil, endpoint("db.example.com", "443"))
	first.Spec.ServiceName, first.Spec.SecretName = "db", "creds"
	e.Create(first)
	e.HasCondition(first, api.ConditionEndpoints, api.ConditionTrue, "")
	second := e.binding("second", nil, endpoint("evil.example.com", "443"))
	second.Spec.ServiceName = "db"
	err := e.Client().Create(t.Context(), second)
	require.ErrorContains(t, err, `the Service "db" is binding "first"'s`)
	second.Spec.ServiceName, second.Spec.SecretName = "", "creds"
	require.ErrorContains(t, e.Client().Create(t.Context(), second), `Secret "creds"`)
	second = e.binding("db", nil)
	require.ErrorContains(t, e.Client().Create(t.Context(), second), `the Service "db" is binding "first"'s`, "by its own name")

	theirs := e.service("fourth")
	theirs.Spec = corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "mine.example.com"}
	e.Create(theirs)
	fourth := e.binding("fourth", object{"h": "db.example.com", "p": "443"})
	fourth.Spec.EndpointsFrom = []api.EndpointFrom{{HostKey: "h", PortKey: "p"}}
	e.Create(fourth)
	refused := e.HasCondition(fourth, api.ConditionEndpoints, api.ConditionFalse, "")
	assert.Equal(t, "ServiceNotOwned", refused.Reason)
	e.Get(theirs)
	assert.Equal(t, "mine.example.com", theirs.Spec.ExternalName)
	e.Delete(theirs)
	e.HasCondition(fourth, api.ConditionEndpoints, api.ConditionTrue, "")
	e.Get(theirs)
	assert.Equal(t, "db.example.com", theirs.Spec.ExternalName)

	published := &corev1.ConfigMap{ObjectMeta: e.Meta("third"), Data: map[string]string{"mine": "m"}}
	e.Create(published)
	third := e.binding("third", object{"region": "west"})
	e.Create(third)
	said := e.HasCondition(third, api.ConditionReady, api.ConditionUnknown, "")
	assert.Contains(t, said.Message, `ConfigMap "third"`)
	e.Get(published)
	assert.Equal(t, map[string]string{"mine": "m"}, published.Data)
	e.Delete(published)
	e.HasCondition(third, api.ConditionReady, api.ConditionTrue, "")
	e.Get(published)
	assert.Equal(t, map[string]string{"region": "west"}, published.Data)
}
