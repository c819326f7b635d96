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

// brokerValues are those of the broker chart for a market: the type, the defaults and the
// default plan that its catalog lacks.
func (e *testEnv) brokerValues(s *market, zone string) string {
	e.Helper()
	values := object{
		"name": s.class, "url": s.URL, "auth": object{"username": "admin", "password": "canary"},
		"services": []object{{
			"id": s.class, "name": s.class, "serviceType": s.serviceType, "defaultProvisionParameters": object{"zone": zone},
			"plans": []object{{"id": s.small, "name": "small", "isDefault": true}, {"id": s.large, "name": "large", "defaultBindParameters": object{"user": "admin"}}},
		}},
	}
	text, err := json.Marshal(values)
	require.NoError(e, err)
	return e.text(string(text))
}

func (e *testEnv) read(o *unstructured.Unstructured) *unstructured.Unstructured {
	e.Helper()
	require.NoError(e, e.Client().Get(e.Context(), client.ObjectKeyFromObject(o), o))
	return o
}

func (e *testEnv) class(name string) *api.ClusterServiceClass {
	e.Helper()
	c := &api.ClusterServiceClass{}
	require.NoError(e, e.Client().Get(e.Context(), client.ObjectKey{Name: name}, c))
	return c
}

func (e *testEnv) clusterPlan(name string) *api.ClusterServicePlan {
	e.Helper()
	p := &api.ClusterServicePlan{}
	require.NoError(e, e.Client().Get(e.Context(), client.ObjectKey{Name: name}, p))
	return p
}

// relists has the broker's catalog read again.
func (e *testEnv) relists(s *market) {
	e.Helper()
	e.must("svcat", "sync", "broker", s.class, "--scope", "cluster", "--wait")
}

// The proposal's broker chart: classes and plans come by the hook pre-install, with type
// and defaults; the relist completes them; and neither an upgrade nor a relist takes
// anything away.
func TestBrokerChart(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	s := e.offers(plainly)
	s.SetAuth("admin", "canary", "")
	e.must("helm", "install", "own", brokerChart(), "-f", e.brokerValues(s, "a"), "--wait", "--timeout=60s")

	class, small := e.class(s.class), e.clusterPlan(s.small)
	assert.Equal(t, "databases", class.Spec.Description, "the relist completed it")
	assert.True(t, class.Spec.Bindable)
	assert.Equal(t, s.class, class.Spec.ClusterServiceBrokerName)
	require.Len(t, class.OwnerReferences, 1, "it is the broker's")
	assert.Equal(t, "a small one", small.Spec.Description)
	assert.Equal(t, s.serviceType, small.Spec.ServiceType)
	assert.JSONEq(t, `{"zone":"a"}`, string(class.Spec.DefaultProvisionParameters.Raw))
	assert.JSONEq(t, `{"user":"admin"}`, string(e.clusterPlan(s.large).Spec.DefaultBindParameters.Raw))
	assert.Equal(t, "true", small.Annotations[api.AnnotationDefaultPlan])

	e.must("helm", "install", "blog", wordpress(), "--set", "database.serviceType="+s.serviceType, "--wait", "--timeout=60s")
	assert.Equal(t, "small", e.plan("blog-db"))
	assert.Equal(t, object{"zone": "a"}, e.atBroker(s.Broker, "blog-db"))

	// The operator's word after the chart's: another default plan.
	e.must("svcat", "set", "plan", s.class+"/large", "--default", "--cluster")
	e.must("helm", "upgrade", "own", brokerChart(), "-f", e.brokerValues(s, "b"), "--wait", "--timeout=60s")
	upgraded := e.class(s.class)
	assert.Equal(t, class.UID, upgraded.UID, "it was not recreated")
	assert.JSONEq(t, `{"zone":"b"}`, string(upgraded.Spec.DefaultProvisionParameters.Raw), "an upgrade brings the chart's new defaults")
	assert.Equal(t, "databases", upgraded.Spec.Description, "and takes nothing of the catalog's away")
	assert.Equal(t, "true", e.clusterPlan(s.large).Annotations[api.AnnotationDefaultPlan], "nor the operator's choice")
	assert.NotContains(t, e.clusterPlan(s.small).Annotations, api.AnnotationDefaultPlan)

	e.relists(s)
	assert.JSONEq(t, `{"zone":"b"}`, string(e.class(s.class).Spec.DefaultProvisionParameters.Raw), "nor does a relist")
	assert.Equal(t, s.serviceType, e.class(s.class).Spec.ServiceType)

	e.must("helm", "rollback", "own", "1", "--wait", "--timeout=60s")
	assert.Equal(t, class.UID, e.class(s.class).UID, "the first revision has it as a hook: it is kept")
	e.uninstallsBroker(s)
}

// uninstallsBroker ends what TestBrokerChart began: the chart leaves the registration, and
// what exists goes on and can be removed, before the broker is.
func (e *testEnv) uninstallsBroker(s *market) {
	e.Helper()
	said := e.must("helm", "uninstall", "own", "--wait", "--timeout=60s")
	assert.Contains(e, said, "kept due to the resource policy")
	e.must("helm", "upgrade", "blog", wordpress(), "--reuse-values", "--set", "parameters.zone=c", "--wait", "--timeout=60s")
	assert.Equal(e, "c", e.atBroker(s.Broker, "blog-db")["zone"], "the broker still serves what exists")

	e.must("helm", "install", "own", brokerChart(), "-f", e.brokerValues(s, "d"), "--wait", "--timeout=60s")
	assert.JSONEq(e, `{"zone":"d"}`, string(e.class(s.class).Spec.DefaultProvisionParameters.Raw), "installed again, it takes over what it left")
	e.must("helm", "uninstall", "own", "--wait", "--timeout=60s")

	e.must("helm", "uninstall", "blog")
	e.Gone(e.an("ServiceInstance", "blog-db"))
	assert.Empty(e, s.Instances())
	e.must("svcat", "deregister", s.class, "--cluster", "--wait")
	e.Gone(e.an("ClusterServiceClass", s.class))
	e.Gone(e.an("ClusterServicePlan", s.small))
}

// A default that the operator changed is not overwritten by the next upgrade: Helm says
// whose it is, and --force-conflicts takes it back.
func TestBrokerChartMeetsTheOperator(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	s := e.offers(plainly)
	s.SetAuth("admin", "canary", "")
	e.must("helm", "install", "own", brokerChart(), "-f", e.brokerValues(s, "a"), "--wait", "--timeout=60s")
	e.must("svcat", "set", "class", s.class, "--cluster", "--provision-params", `{"zone": "operator"}`)
	e.relists(s)
	said := e.refused("helm", "upgrade", "own", brokerChart(), "-f", e.brokerValues(s, "b"))
	assert.Contains(t, said, "defaultProvisionParameters")
	assert.Contains(t, said, "svcat")
	assert.JSONEq(t, `{"zone":"operator"}`, string(e.class(s.class).Spec.DefaultProvisionParameters.Raw))
	e.must("helm", "upgrade", "own", brokerChart(), "-f", e.brokerValues(s, "b"), "--force-conflicts")
	assert.JSONEq(t, `{"zone":"b"}`, string(e.class(s.class).Spec.DefaultProvisionParameters.Raw))
	e.must("helm", "uninstall", "own", "--wait", "--timeout=60s")
	e.must("svcat", "deregister", s.class, "--cluster", "--wait")
}

// For who renders and applies, as Argo CD does, classes and plans are plain objects.
func TestBrokerChartAsObjects(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.Suffix += "-z" // which the relist escapes in names, and the chart too
	s := e.offers(plainly)
	s.SetAuth("admin", "canary", "")
	manifests := e.must("helm", "template", "own", brokerChart(), "-f", e.brokerValues(s, "a"), "--set", "catalogAs=objects")
	assert.NotContains(t, manifests, "helm.sh/hook")
	assert.Contains(t, manifests, "argocd.argoproj.io/sync-wave")
	class := strings.ReplaceAll(s.class, "z", "z7az")
	for range 2 {
		e.applies(manifests, "--server-side", "--field-manager=argocd-controller")
		e.ready(e.an("ClusterServiceBroker", s.class))
		e.relists(s)
	}
	assert.Equal(t, "databases", e.class(class).Spec.Description)
	assert.JSONEq(t, `{"zone":"a"}`, string(e.class(class).Spec.DefaultProvisionParameters.Raw))
	old := e.must("helm3", "template", "own", brokerChart(), "-f", e.brokerValues(s, "a"), "--set", "catalogAs=objects")
	assert.Equal(t, objectsOf(t, manifests), objectsOf(t, old), "Helm 3 renders the same")
	e.must("svcat", "deregister", s.class, "--cluster", "--wait")
	assert.Empty(t, s.Calls(osbtest.Of(osbtest.Provision)))
}
