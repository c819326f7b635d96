package charts_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// defaults are what the demo's class and plan give to an instance of azure-mysql/premium-p1.
func defaults(over object) object {
	all := object{
		"location": "eastus", "resourceGroup": "default", "sslEnforcement": "disabled", "backup-schedule": "1d",
		"firewallRules": []any{object{"name": "AllowAll", "startIPAddress": "0.0.0.0", "endIPAddress": "255.255.255.255"}},
	}
	for key, value := range over {
		if value == nil {
			delete(all, key)
			continue
		}
		all[key] = value
	}
	return all
}

// plan is the external name of the plan that an instance has.
func (e *testEnv) plan(name string) string {
	e.Helper()
	p := &api.ClusterServicePlan{}
	ref := e.instance(name).Spec.ClusterServicePlanRef
	require.NotNil(e, ref)
	p.Name = ref.Name
	require.NoError(e, e.Client().Get(e.Context(), client.ObjectKeyFromObject(p), p))
	return p.Spec.ExternalName
}

// secretKeys are the keys of a Secret.
func (e *testEnv) secretKeys(name string) []string {
	e.Helper()
	s := &corev1.Secret{}
	s.Namespace, s.Name = e.Namespace, name
	require.NoError(e, e.Client().Get(e.Context(), client.ObjectKeyFromObject(s), s))
	var keys []string
	for key := range s.Data {
		keys = append(keys, key)
	}
	return keys
}

// A chart that knows only that it needs mysql is installed, upgraded, rolled back and
// uninstalled; --wait returns when its database is there.
func TestChartByType(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	said := e.must("helm", "install", "blog", wordpress(), "--wait", "--timeout=60s")
	assert.Contains(t, said, "mysql resolved to plan azure-mysql/premium-p1 (suggested)")
	e.doesAsNoted(said)
	first := e.instance("blog-db")
	assert.True(t, isReady(first), "--wait waits for the instance")
	assert.Equal(t, "premium-p1", e.plan("blog-db"))
	assert.Equal(t, defaults(nil), e.parameters("blog-db"))
	assert.Equal(t, defaults(nil), e.atBroker(azure, "blog-db"))
	assert.Subset(t, e.secretKeys("blog-db"), []string{"host", "database", "username", "password"})

	e.must("helm", "upgrade", "blog", wordpress(), "--set", "parameters.location=westus", "--wait", "--timeout=60s")
	changed := e.instance("blog-db")
	assert.True(t, isReady(changed), "--wait waits for the update")
	assert.Equal(t, defaults(object{"location": "westus"}), e.atBroker(azure, "blog-db"), "what admission filled in stays")
	documented(t, e.must("svcat", "describe", "instance", "blog-db"), 5, ":   plan", ":   class", ":    plan", ":    class", ":     class", ":          user")
	kept := changed.Spec
	kept.Parameters = first.Spec.Parameters
	assert.Equal(t, first.Spec, kept, "only the parameter changed")

	e.must("helm", "upgrade", "blog", wordpress(), "--reuse-values", "--set", "replicas=2", "--wait", "--timeout=60s")
	assert.Equal(t, changed.Generation, e.instance("blog-db").Generation, "an upgrade of something else changes nothing here")

	e.must("helm", "rollback", "blog", "1", "--wait", "--timeout=60s")
	assert.Equal(t, defaults(object{"location": nil}), e.atBroker(azure, "blog-db"), "what the chart gives up is gone: a default is given once")
	assert.Equal(t, first.Spec.ExternalID, e.instance("blog-db").Spec.ExternalID)

	e.must("helm", "uninstall", "blog", "--wait", "--timeout=60s")
	e.Gone(e.an("ServiceInstance", "blog-db"))
	e.Gone(e.an("ServiceBinding", "blog-db"))
	assert.NotContains(t, azure.Instances(), first.Status.ExternalID, "nothing stays at the broker")
}

// doesAsNoted runs the commands of svcat that a chart's notes end with.
func (e *testEnv) doesAsNoted(said string) {
	e.Helper()
	_, notes, found := strings.Cut(said, "NOTES:")
	require.True(e, found, said)
	ran := 0
	for line := range strings.Lines(notes) {
		if words := strings.Fields(line); len(words) > 0 && words[0] == "svcat" {
			assert.Contains(e, e.must("svcat", words[1:]...), "premium-p1")
			ran++
		}
	}
	assert.Positive(e, ran, said)
}

// The proposal's words: --set className=custom-mysql --set planName=ha-mysql.
func TestChartByClassAndPlan(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	custom := e.Name("custom-mysql")
	e.must("svcat", "create", "class", custom, "--from", "azure-mysql", "--cluster")
	e.must("svcat", "create", "plan", e.Name("ha"), "--from", "azure-mysql/basic50", "--class", custom, "--cluster", "--provision-params", `{"replicas": 3}`)
	choice := []string{"--set", "className=" + custom, "--set", "planName=" + e.Name("ha"), "--wait", "--timeout=60s"}
	e.must("helm", append([]string{"install", "shop", wordpress()}, choice...)...)
	assert.Equal(t, e.Name("ha"), e.plan("shop-db"))
	assert.EqualValues(t, 3, e.atBroker(azure, "shop-db")["replicas"])

	e.must("helm", "upgrade", "shop", wordpress(), "--wait", "--timeout=60s")
	assert.Equal(t, e.Name("ha"), e.plan("shop-db"), "who names nothing any more keeps what was decided")

	said := e.refused("helm", "upgrade", "shop", wordpress(), "--set", "className=azure-mysql", "--set", "planName=basic50")
	assert.Contains(t, said, "the class cannot change")
	assert.Equal(t, e.Name("ha"), e.plan("shop-db"))
	e.must("helm", "rollback", "shop", "1", "--wait", "--timeout=60s")
	assert.Equal(t, e.Name("ha"), e.plan("shop-db"))

	e.must("helm", "uninstall", "shop", "--wait", "--timeout=60s")
	e.must("kubectl", "delete", "clusterserviceplans", "--field-selector=spec.clusterServiceClassRef.name="+custom)
	e.must("kubectl", "delete", "clusterserviceclass", custom)
}

// Helm 3 merges three ways instead of applying on the server.
func TestChartWithHelm3(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.must("helm3", "install", "blog", wordpress())
	e.ready(e.an("ServiceBinding", "blog-db"))
	first := e.instance("blog-db")
	assert.Equal(t, defaults(nil), e.atBroker(azure, "blog-db"))

	e.must("helm3", "upgrade", "blog", wordpress(), "--set", "parameters.location=westus")
	e.ready(e.an("ServiceInstance", "blog-db"))
	assert.Equal(t, defaults(object{"location": "westus"}), e.atBroker(azure, "blog-db"))
	kept := e.instance("blog-db").Spec
	kept.Parameters = first.Spec.Parameters
	assert.Equal(t, first.Spec, kept)

	e.must("helm3", "uninstall", "blog", "--wait")
	e.Gone(e.an("ServiceInstance", "blog-db"))
	assert.NotContains(t, azure.Instances(), first.Status.ExternalID)
	assert.Empty(t, azure.Violations())
}

func isReady(i *api.ServiceInstance) bool {
	ready, _ := api.FindCondition(i.Status.Conditions, api.ConditionReady)
	return ready.Status == api.ConditionTrue && i.Status.ObservedGeneration == i.Generation
}
