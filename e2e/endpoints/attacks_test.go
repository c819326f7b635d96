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
func (w *world) forbidden() map[string]string {
	w.Helper()
	kubernetes := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "kubernetes"}}
	w.Get(kubernetes)
	var slices discoveryv1.EndpointSliceList
	require.NoError(w, w.client.List(w.Context(), &slices, client.InNamespace("default"), client.MatchingLabels{discoveryv1.LabelServiceName: "kubernetes"}))
	places := map[string]string{
		"ServiceOfTheAPIServer": kubernetes.Spec.ClusterIP, "Metadata": "169.254.169.254", "MetadataOfIPv6": "fd00:ec2::254", "MetadataInIPv6": "::ffff:169.254.169.254",
		"MetadataByName": "metadata.google.internal", "Loopback": "127.0.0.1", "LoopbackInIPv6": "::ffff:7f00:1", "LoopbackByNAT": "64:ff9b::7f00:1", "LinkLocal": "fe80::1",
		"Unspecified": "0.0.0.0", "Pod": "10.244.1.2", "Service": "db.prod.svc", "ServiceInFull": "db.prod.svc.cluster.local.", "ServiceInCapitals": "KUBERNETES.DEFAULT.SVC",
		"ShortName": "kubernetes", "Localhost": "x.LOCALHOST", "Number": "2130706433", "Hexadecimal": "0x7f.1", "NotAllowedOnes": "db.notallowed.svc",
	}
	for _, slice := range slices.Items {
		for _, e := range slice.Endpoints {
			places["APIServer"] = e.Addresses[0]
		}
	}
	return places
}

// A Service at the API server, at metadata, at the machine itself or within the cluster,
// by what a broker says and by what a binding makes of credentials.
func TestNoServiceLeadsThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, host := range w.forbidden() {
		for way, b := range map[string]*api.ServiceBinding{
			"endpoints": w.binding("a-"+lower(name), nil, endpoint("db.example.com", "443"), endpoint(host, "443")),
			"from":      w.binding("b-"+lower(name), object{"h": host, "p": "443", "password": "hunter2"}),
		} {
			if way == "from" {
				b.Spec.EndpointsFrom = []api.EndpointFrom{{HostKey: "h", PortKey: "p"}}
			}
			w.Create(b)
			t.Run(name+"/"+way, func(t *testing.T) {
				t.Parallel()
				said := w.Says(b, api.ConditionEndpoints, api.ConditionFalse, "")
				assert.Contains(t, []string{"EndpointsRefused", "EndpointsUnlawful"}, said.Reason, said.Message)
				w.Says(b, api.ConditionReady, api.ConditionTrue, "")
				assert.Empty(t, b.Status.Service)
				assert.True(t, w.Absent(w.service(b.Name)))
			})
		}
	}
	allowed := w.binding("allowed", nil, endpoint("db.allowed.svc", "443"))
	w.Create(allowed)
	said := w.Says(allowed, api.ConditionEndpoints, api.ConditionFalse, "")
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
	w := newWorld(t)
	b := w.binding("reader", nil, endpoint("10.1.2.3", "443"))
	w.Create(b)
	w.Says(b, api.ConditionEndpoints, api.ConditionTrue, "")
	w.moves(endpoint("169.254.169.254", "80"))
	w.Delete(w.secret("reader"))
	said := w.Says(b, api.ConditionEndpoints, api.ConditionFalse, "")
	assert.Equal(t, "EndpointsRefused", said.Reason)
	assert.True(t, w.Absent(w.service("reader")))
	assert.Empty(t, w.leads("reader"))
	w.Says(b, api.ConditionReady, api.ConditionTrue, "")
}

// Addresses of a namespace's own broker are its user's word: they need the right that he
// would need to do it himself; and so does what a binding makes an address of, whoever's
// broker it is. Given the right, the Service appears by itself.
func TestAddressesNeedTheRight(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		world func(*testing.T) *world
		from  bool
	}{
		"NamespacedBroker": {world: newNamespacedWorld},
		"Mapped":           {world: func(t *testing.T) *world { t.Helper(); return newWorld(t) }, from: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := tc.world(t)
			user := w.name("dev")
			w.grant(user, "edit", rbacv1.PolicyRule{APIGroups: []string{api.GroupName}, Resources: []string{"servicebindings"}, Verbs: []string{"create", "get"}})
			b := w.binding("reader", nil, endpoint("10.1.2.3", "443"))
			if tc.from {
				b = w.binding("reader", object{"h": "10.1.2.3", "p": 443})
				b.Spec.EndpointsFrom = []api.EndpointFrom{{HostKey: "h", PortKey: "p"}}
			}
			theirs := w.as(user)
			w.Eventually(func() (bool, error) {
				err := theirs.Create(t.Context(), b.DeepCopy())
				return err == nil, err
			})
			said := w.Says(b, api.ConditionEndpoints, api.ConditionFalse, "")
			assert.Equal(t, "AddressesForbidden", said.Reason)
			assert.Contains(t, said.Message, user)
			assert.True(t, w.Absent(w.service("reader")))
			w.grant(user, "slices", rbacv1.PolicyRule{APIGroups: []string{discoveryv1.GroupName}, Resources: []string{"endpointslices"}, Verbs: []string{"create"}})
			w.Says(b, api.ConditionEndpoints, api.ConditionTrue, "")
			assert.Equal(t, []string{"10.1.2.3"}, w.leads("reader"))
		})
	}
}

// Names of another's Secret, ConfigMap and Service: by another binding they are refused at
// once; what somebody made before is left alone, and said.
func TestNoNameIsSquatted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.binding("first", nil, endpoint("db.example.com", "443"))
	first.Spec.ServiceName, first.Spec.SecretName = "db", "creds"
	w.Create(first)
	w.Says(first, api.ConditionEndpoints, api.ConditionTrue, "")
	second := w.binding("second", nil, endpoint("evil.example.com", "443"))
	second.Spec.ServiceName = "db"
	err := w.client.Create(t.Context(), second)
	require.ErrorContains(t, err, `the Service "db" is binding "first"'s`)
	second.Spec.ServiceName, second.Spec.SecretName = "", "creds"
	require.ErrorContains(t, w.client.Create(t.Context(), second), `Secret "creds"`)
	second = w.binding("db", nil)
	require.ErrorContains(t, w.client.Create(t.Context(), second), `the Service "db" is binding "first"'s`, "by its own name")

	theirs := w.service("fourth")
	theirs.Spec = corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "mine.example.com"}
	w.Create(theirs)
	fourth := w.binding("fourth", object{"h": "db.example.com", "p": "443"})
	fourth.Spec.EndpointsFrom = []api.EndpointFrom{{HostKey: "h", PortKey: "p"}}
	w.Create(fourth)
	refused := w.Says(fourth, api.ConditionEndpoints, api.ConditionFalse, "")
	assert.Equal(t, "ServiceNotOwned", refused.Reason)
	w.Get(theirs)
	assert.Equal(t, "mine.example.com", theirs.Spec.ExternalName)
	w.Delete(theirs)
	w.Says(fourth, api.ConditionEndpoints, api.ConditionTrue, "")
	w.Get(theirs)
	assert.Equal(t, "db.example.com", theirs.Spec.ExternalName)

	published := &corev1.ConfigMap{ObjectMeta: w.meta("third"), Data: map[string]string{"mine": "m"}}
	w.Create(published)
	third := w.binding("third", object{"region": "west"})
	w.Create(third)
	said := w.Says(third, api.ConditionReady, api.ConditionUnknown, "")
	assert.Contains(t, said.Message, `ConfigMap "third"`)
	w.Get(published)
	assert.Equal(t, map[string]string{"mine": "m"}, published.Data)
	w.Delete(published)
	w.Says(third, api.ConditionReady, api.ConditionTrue, "")
	w.Get(published)
	assert.Equal(t, map[string]string{"region": "west"}, published.Data)
}
