package charts_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

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
func (w *world) plan(name string) string {
	w.Helper()
	p := &api.ClusterServicePlan{}
	ref := w.instance(name).Spec.ClusterServicePlanRef
	require.NotNil(w, ref)
	p.Name = ref.Name
	require.NoError(w, w.client.Get(w.Context(), clientKey(p), p))
	return p.Spec.ExternalName
}

// secretKeys are the keys of a Secret.
func (w *world) secretKeys(name string) []string {
	w.Helper()
	s := &corev1.Secret{}
	s.Namespace, s.Name = w.namespace, name
	require.NoError(w, w.client.Get(w.Context(), clientKey(s), s))
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
	w := newWorld(t)
	said := w.must("helm", "install", "blog", wordpress(), "--wait", "--timeout=60s")
	assert.Contains(t, said, "mysql resolved to plan azure-mysql/premium-p1 (suggested)")
	w.doesAsNoted(said)
	first := w.instance("blog-db")
	assert.True(t, isReady(first), "--wait waits for the instance")
	assert.Equal(t, "premium-p1", w.plan("blog-db"))
	assert.Equal(t, defaults(nil), w.parameters("blog-db"))
	assert.Equal(t, defaults(nil), w.atBroker(azure, "blog-db"))
	assert.Subset(t, w.secretKeys("blog-db"), []string{"host", "database", "username", "password"})

	w.must("helm", "upgrade", "blog", wordpress(), "--set", "parameters.location=westus", "--wait", "--timeout=60s")
	changed := w.instance("blog-db")
	assert.True(t, isReady(changed), "--wait waits for the update")
	assert.Equal(t, defaults(object{"location": "westus"}), w.atBroker(azure, "blog-db"), "what admission filled in stays")
	documented(t, w.must("svcat", "describe", "instance", "blog-db"), 5, ":   plan", ":   class", ":    plan", ":    class", ":     class", ":          user")
	kept := changed.Spec
	kept.Parameters = first.Spec.Parameters
	assert.Equal(t, first.Spec, kept, "only the parameter changed")

	w.must("helm", "upgrade", "blog", wordpress(), "--reuse-values", "--set", "replicas=2", "--wait", "--timeout=60s")
	assert.Equal(t, changed.Generation, w.instance("blog-db").Generation, "an upgrade of something else changes nothing here")

	w.must("helm", "rollback", "blog", "1", "--wait", "--timeout=60s")
	assert.Equal(t, defaults(object{"location": nil}), w.atBroker(azure, "blog-db"), "what the chart gives up is gone: a default is given once")
	assert.Equal(t, first.Spec.ExternalID, w.instance("blog-db").Spec.ExternalID)

	w.must("helm", "uninstall", "blog", "--wait", "--timeout=60s")
	w.gone(w.an("ServiceInstance", "blog-db"))
	w.gone(w.an("ServiceBinding", "blog-db"))
	assert.NotContains(t, azure.Instances(), first.Status.ExternalID, "nothing stays at the broker")
}

// doesAsNoted runs the commands of svcat that a chart's notes end with.
func (w *world) doesAsNoted(said string) {
	w.Helper()
	_, notes, found := strings.Cut(said, "NOTES:")
	require.True(w, found, said)
	ran := 0
	for line := range strings.Lines(notes) {
		if words := strings.Fields(line); len(words) > 0 && words[0] == "svcat" {
			assert.Contains(w, w.must("svcat", words[1:]...), "premium-p1")
			ran++
		}
	}
	assert.Positive(w, ran, said)
}

// The proposal's words: --set className=custom-mysql --set planName=ha-mysql.
func TestChartByClassAndPlan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	custom := w.name("custom-mysql")
	w.must("svcat", "create", "class", custom, "--from", "azure-mysql", "--cluster")
	w.must("svcat", "create", "plan", w.name("ha"), "--from", "azure-mysql/basic50", "--class", custom, "--cluster", "--provision-params", `{"replicas": 3}`)
	choice := []string{"--set", "className=" + custom, "--set", "planName=" + w.name("ha"), "--wait", "--timeout=60s"}
	w.must("helm", append([]string{"install", "shop", wordpress()}, choice...)...)
	assert.Equal(t, w.name("ha"), w.plan("shop-db"))
	assert.EqualValues(t, 3, w.atBroker(azure, "shop-db")["replicas"])

	w.must("helm", "upgrade", "shop", wordpress(), "--wait", "--timeout=60s")
	assert.Equal(t, w.name("ha"), w.plan("shop-db"), "who names nothing any more keeps what was decided")

	said := w.refused("helm", "upgrade", "shop", wordpress(), "--set", "className=azure-mysql", "--set", "planName=basic50")
	assert.Contains(t, said, "the class cannot change")
	assert.Equal(t, w.name("ha"), w.plan("shop-db"))
	w.must("helm", "rollback", "shop", "1", "--wait", "--timeout=60s")
	assert.Equal(t, w.name("ha"), w.plan("shop-db"))

	w.must("helm", "uninstall", "shop", "--wait", "--timeout=60s")
	w.must("kubectl", "delete", "clusterserviceplans", "--field-selector=spec.clusterServiceClassRef.name="+custom)
	w.must("kubectl", "delete", "clusterserviceclass", custom)
}

// Helm 3 merges three ways instead of applying on the server.
func TestChartWithHelm3(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("helm3", "install", "blog", wordpress())
	w.ready(w.an("ServiceBinding", "blog-db"))
	first := w.instance("blog-db")
	assert.Equal(t, defaults(nil), w.atBroker(azure, "blog-db"))

	w.must("helm3", "upgrade", "blog", wordpress(), "--set", "parameters.location=westus")
	w.ready(w.an("ServiceInstance", "blog-db"))
	assert.Equal(t, defaults(object{"location": "westus"}), w.atBroker(azure, "blog-db"))
	kept := w.instance("blog-db").Spec
	kept.Parameters = first.Spec.Parameters
	assert.Equal(t, first.Spec, kept)

	w.must("helm3", "uninstall", "blog", "--wait")
	w.gone(w.an("ServiceInstance", "blog-db"))
	assert.NotContains(t, azure.Instances(), first.Status.ExternalID)
	assert.Empty(t, azure.Violations())
}

func isReady(i *api.ServiceInstance) bool {
	ready, _ := api.FindCondition(i.Status.Conditions, api.ConditionReady)
	return ready.Status == api.ConditionTrue && i.Status.ObservedGeneration == i.Generation
}
