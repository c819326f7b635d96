package charts_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// plainly is a catalog that says nothing of types and defaults, as of a broker that has
// never heard of them.
func plainly(service object) {
	delete(service, "tags")
	delete(service, "metadata")
	for _, plan := range service["plans"].([]object) {
		delete(plan, "metadata")
	}
}

// brokerValues are those of the broker chart for a stage: the type, the defaults and the
// default plan that its catalog lacks.
func (w *world) brokerValues(s *stage, zone string) string {
	w.Helper()
	values := object{
		"name": s.class, "url": s.URL, "auth": object{"username": "admin", "password": "canary"},
		"services": []object{{
			"id": s.class, "name": s.class, "serviceType": s.serviceType, "defaultProvisionParameters": object{"zone": zone},
			"plans": []object{{"id": s.small, "name": "small", "isDefault": true}, {"id": s.large, "name": "large", "defaultBindParameters": object{"user": "admin"}}},
		}},
	}
	text, err := json.Marshal(values)
	require.NoError(w, err)
	return w.text(string(text))
}

func (w *world) get(o *unstructured.Unstructured) *unstructured.Unstructured {
	w.Helper()
	require.NoError(w, w.client.Get(w.Context(), clientKey(o), o))
	return o
}

func (w *world) class(name string) *api.ClusterServiceClass {
	w.Helper()
	c := &api.ClusterServiceClass{}
	require.NoError(w, w.client.Get(w.Context(), client.ObjectKey{Name: name}, c))
	return c
}

func (w *world) clusterPlan(name string) *api.ClusterServicePlan {
	w.Helper()
	p := &api.ClusterServicePlan{}
	require.NoError(w, w.client.Get(w.Context(), client.ObjectKey{Name: name}, p))
	return p
}

// relists has the broker's catalog read again.
func (w *world) relists(s *stage) {
	w.Helper()
	w.must("svcat", "sync", "broker", s.class, "--scope", "cluster", "--wait")
}

// The proposal's broker chart: classes and plans come by the hook pre-install, with type
// and defaults; the relist completes them; and neither an upgrade nor a relist takes
// anything away.
func TestBrokerChart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.offers(plainly)
	s.SetAuth("admin", "canary", "")
	w.must("helm", "install", "own", brokerChart(), "-f", w.brokerValues(s, "a"), "--wait", "--timeout=60s")

	class, small := w.class(s.class), w.clusterPlan(s.small)
	assert.Equal(t, "databases", class.Spec.Description, "the relist completed it")
	assert.True(t, class.Spec.Bindable)
	assert.Equal(t, s.class, class.Spec.ClusterServiceBrokerName)
	require.Len(t, class.OwnerReferences, 1, "it is the broker's")
	assert.Equal(t, "a small one", small.Spec.Description)
	assert.Equal(t, s.serviceType, small.Spec.ServiceType)
	assert.JSONEq(t, `{"zone":"a"}`, string(class.Spec.DefaultProvisionParameters.Raw))
	assert.JSONEq(t, `{"user":"admin"}`, string(w.clusterPlan(s.large).Spec.DefaultBindParameters.Raw))
	assert.Equal(t, "true", small.Annotations[api.AnnotationDefaultPlan])

	w.must("helm", "install", "blog", wordpress(), "--set", "database.serviceType="+s.serviceType, "--wait", "--timeout=60s")
	assert.Equal(t, "small", w.plan("blog-db"))
	assert.Equal(t, object{"zone": "a"}, w.atBroker(s.Broker, "blog-db"))

	// The operator's word after the chart's: another default plan.
	w.must("svcat", "set", "plan", s.class+"/large", "--default", "--cluster")
	w.must("helm", "upgrade", "own", brokerChart(), "-f", w.brokerValues(s, "b"), "--wait", "--timeout=60s")
	upgraded := w.class(s.class)
	assert.Equal(t, class.UID, upgraded.UID, "it was not made anew")
	assert.JSONEq(t, `{"zone":"b"}`, string(upgraded.Spec.DefaultProvisionParameters.Raw), "an upgrade brings the chart's new defaults")
	assert.Equal(t, "databases", upgraded.Spec.Description, "and takes nothing of the catalog's away")
	assert.Equal(t, "true", w.clusterPlan(s.large).Annotations[api.AnnotationDefaultPlan], "nor the operator's choice")
	assert.NotContains(t, w.clusterPlan(s.small).Annotations, api.AnnotationDefaultPlan)

	w.relists(s)
	assert.JSONEq(t, `{"zone":"b"}`, string(w.class(s.class).Spec.DefaultProvisionParameters.Raw), "nor does a relist")
	assert.Equal(t, s.serviceType, w.class(s.class).Spec.ServiceType)

	w.must("helm", "rollback", "own", "1", "--wait", "--timeout=60s")
	assert.Equal(t, class.UID, w.class(s.class).UID, "the first revision has it as a hook: it is kept")
	w.uninstallsBroker(s)
}

// uninstallsBroker ends what TestBrokerChart began: the chart leaves the registration, and
// what exists goes on and can be removed, before the broker is.
func (w *world) uninstallsBroker(s *stage) {
	w.Helper()
	said := w.must("helm", "uninstall", "own", "--wait", "--timeout=60s")
	assert.Contains(w, said, "kept due to the resource policy")
	w.must("helm", "upgrade", "blog", wordpress(), "--reuse-values", "--set", "parameters.zone=c", "--wait", "--timeout=60s")
	assert.Equal(w, "c", w.atBroker(s.Broker, "blog-db")["zone"], "the broker still serves what exists")

	w.must("helm", "install", "own", brokerChart(), "-f", w.brokerValues(s, "d"), "--wait", "--timeout=60s")
	assert.JSONEq(w, `{"zone":"d"}`, string(w.class(s.class).Spec.DefaultProvisionParameters.Raw), "installed again, it takes over what it left")
	w.must("helm", "uninstall", "own", "--wait", "--timeout=60s")

	w.must("helm", "uninstall", "blog")
	w.gone(w.an("ServiceInstance", "blog-db"))
	assert.Empty(w, s.Instances())
	w.must("svcat", "deregister", s.class, "--cluster", "--wait")
	w.gone(w.an("ClusterServiceClass", s.class))
	w.gone(w.an("ClusterServicePlan", s.small))
}

// A default that the operator changed is not overwritten by the next upgrade: Helm says
// whose it is, and --force-conflicts takes it back.
func TestBrokerChartMeetsTheOperator(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.offers(plainly)
	s.SetAuth("admin", "canary", "")
	w.must("helm", "install", "own", brokerChart(), "-f", w.brokerValues(s, "a"), "--wait", "--timeout=60s")
	w.must("svcat", "set", "class", s.class, "--cluster", "--provision-params", `{"zone": "operator"}`)
	w.relists(s)
	said := w.refused("helm", "upgrade", "own", brokerChart(), "-f", w.brokerValues(s, "b"))
	assert.Contains(t, said, "defaultProvisionParameters")
	assert.Contains(t, said, "svcat")
	assert.JSONEq(t, `{"zone":"operator"}`, string(w.class(s.class).Spec.DefaultProvisionParameters.Raw))
	w.must("helm", "upgrade", "own", brokerChart(), "-f", w.brokerValues(s, "b"), "--force-conflicts")
	assert.JSONEq(t, `{"zone":"b"}`, string(w.class(s.class).Spec.DefaultProvisionParameters.Raw))
	w.must("helm", "uninstall", "own", "--wait", "--timeout=60s")
	w.must("svcat", "deregister", s.class, "--cluster", "--wait")
}

// For who renders and applies, as Argo CD does, classes and plans are plain objects.
func TestBrokerChartAsObjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.suffix += "-z" // which the relist escapes in names, and the chart too
	s := w.offers(plainly)
	s.SetAuth("admin", "canary", "")
	manifests := w.must("helm", "template", "own", brokerChart(), "-f", w.brokerValues(s, "a"), "--set", "catalogAs=objects")
	assert.NotContains(t, manifests, "helm.sh/hook")
	assert.Contains(t, manifests, "argocd.argoproj.io/sync-wave")
	class := strings.ReplaceAll(s.class, "z", "z7az")
	for range 2 {
		w.applies(manifests, "--server-side", "--field-manager=argocd-controller")
		w.ready(w.an("ClusterServiceBroker", s.class))
		w.relists(s)
	}
	assert.Equal(t, "databases", w.class(class).Spec.Description)
	assert.JSONEq(t, `{"zone":"a"}`, string(w.class(class).Spec.DefaultProvisionParameters.Raw))
	old := w.must("helm3", "template", "own", brokerChart(), "-f", w.brokerValues(s, "a"), "--set", "catalogAs=objects")
	assert.Equal(t, objectsOf(t, manifests), objectsOf(t, old), "Helm 3 renders the same")
	w.must("svcat", "deregister", s.class, "--cluster", "--wait")
	assert.Empty(t, s.Calls(osbtest.Of(osbtest.Provision)))
}
