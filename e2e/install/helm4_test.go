package install_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// TestHelm4 installs, changes, rolls back, drains and uninstalls, with requests going on
// all the time: none is refused.
func TestHelm4(t *testing.T) { //nolint:tparallel // one after the other, on one installation
	t.Parallel()
	c := newCluster(t)
	h := &helm{cluster: c, binary: "helm"}
	before := c.inventory()

	h.on("install", "--create-namespace")
	c.ready("webhook", 2)
	c.ready("keeper", 2)
	c.ready("controller", 2)
	h.isWhole()
	broker := c.offer()
	instance := c.provision("orders")
	binding := c.bind("orders-reader", "orders")

	t.Run("UpgradeRefusesNothing", func(t *testing.T) { h.in(t).upgrades(instance) })
	t.Run("FailedUpgradeIsRolledBack", func(t *testing.T) { h.in(t).failsToUpgrade(instance) })
	t.Run("BudgetIsHonoured", func(t *testing.T) { c.in(t).keepsOneServing(instance) })
	t.Run("DrainRefusesNothing", func(t *testing.T) { c.in(t).drains(instance) })
	t.Run("NothingNeedsMoreThanItsRole", func(t *testing.T) { c.in(t).wasNeverForbidden() })

	c.remove(binding, instance)
	assert.Empty(t, broker.Instances())
	assert.Empty(t, broker.Violations())
	t.Run("UninstallLeavesTheDefinitionsOnly", func(t *testing.T) { h.in(t).uninstalls(before) })
}

// in is the cluster with another test's fate.
func (c *cluster) in(t *testing.T) *cluster {
	t.Helper()
	same := *c
	same.T = t
	return &same
}

func (h *helm) in(t *testing.T) *helm {
	t.Helper()
	return &helm{cluster: h.cluster.in(t), binary: h.binary}
}

// isWhole runs helm test, whose Pod may do what svcat check does and no more: all that is reported
// was read, and no right is left behind.
func (h *helm) isWhole() {
	h.Helper()
	before := h.inventory()
	out := h.run("test", releaseName, "--namespace="+system, "--timeout=2m")
	assert.Regexp(h, `(?m)^Phase: +Succeeded$`, out)
	logs, err := filepath.Glob(filepath.Join(h.dir, "logs", system+".defaultplan-test.*.log"))
	require.NoError(h, err)
	require.Len(h, logs, 1)
	report, err := os.ReadFile(logs[0])
	require.NoError(h, err)
	assert.Contains(h, string(report), "as far as it was looked at, the installation is whole")
	assert.NotRegexp(h, `(?m)^(unknown|failed|warning)`, string(report))
	assert.Empty(h, h.inventory().without(before), "the rights of the test")
}

// upgrades changes a value and takes it back: all pods are replaced, twice. The
// definitions, which the upgrade is without, stay: that is the way to an older chart.
func (h *helm) upgrades(instance *api.ServiceInstance) {
	h.Helper()
	old := names(h.allPods())
	l := h.underLoad(instance)
	h.on("upgrade", "--set=crds.install=false", "--set=webhook.logLevel=debug", "--set=keeper.logLevel=debug", "--set=controller.logLevel=debug")
	assert.Empty(h, common(old, names(h.allPods())), "each pod is a new one")
	h.on("rollback", "1")
	l.end("an upgrade and a rollback")
	for _, pod := range h.pods("webhook") {
		assert.Contains(h, pod.Spec.Containers[0].Args, "--log-level=info", "as it was before the upgrade")
	}
}

// failsToUpgrade upgrades to an image that is not there: what ran goes on.
func (h *helm) failsToUpgrade(instance *api.ServiceInstance) {
	h.Helper()
	old := names(h.pods("webhook"))
	l := h.underLoad(instance)
	_, err := h.try(h.Context(), "upgrade", releaseName, chart, "--namespace="+system,
		"--set=images.tag=v9.9.9", "--rollback-on-failure", "--wait", "--timeout=8s")
	require.Error(h, err)
	h.ready("webhook", 2)
	h.ready("keeper", 2)
	h.ready("controller", 2)
	l.end("an upgrade to an image that is not there")
	assert.ElementsMatch(h, old, names(h.pods("webhook")))
}

// keepsOneServing asks for both webhook pods to go where no new one can start.
func (c *cluster) keepsOneServing(instance *api.ServiceInstance) {
	c.Helper()
	c.kubectl("cordon", "node-a", "node-b")
	l := c.underLoad(instance)
	pods := c.pods("webhook")
	require.Len(c, pods, 2)
	require.NoError(c, c.evict(&pods[0]))
	c.gone(&pods[0])
	err := c.evict(&pods[1])
	require.True(c, apierrors.IsTooManyRequests(err), "the budget keeps the last one: %v", err)
	c.kubectl("uncordon", "node-a", "node-b")
	c.ready("webhook", 2)
	c.ready("keeper", 2)
	l.end("an eviction")
}

func (c *cluster) evict(pod *corev1.Pod) error {
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}}
	return c.client.SubResource("eviction").Create(c.Context(), pod, eviction)
}

// drains empties a node of a cluster of two.
func (c *cluster) drains(instance *api.ServiceInstance) {
	c.Helper()
	l := c.underLoad(instance)
	c.kubectl("drain", "node-a", "--delete-emptydir-data", "--timeout=90s")
	c.ready("webhook", 2)
	c.ready("keeper", 2)
	c.ready("controller", 2)
	l.end("a drain")
	for _, pod := range c.allPods() {
		assert.Equal(c, "node-b", pod.Spec.NodeName)
	}
	c.kubectl("uncordon", "node-a")
}

// uninstalls says what is left: the definitions, the namespace that Helm made, and, as
// objects of the definitions, what the keeper keeps of the types.
func (h *helm) uninstalls(before inventory) {
	h.Helper()
	h.on("uninstall")
	broker := &api.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: brokerName}}
	h.get(broker)
	left := h.inventory().without(before)
	var unexpected []string
	for _, object := range left {
		if !keptByPromise(object) {
			unexpected = append(unexpected, object)
		}
	}
	assert.Empty(h, unexpected)
	h.Logf("left, of %d objects: %s", len(left), strings.Join(left, ", "))
	h.cleanUp()
	assert.Empty(h, h.inventory().without(before), "nothing is left")
}

// keptByPromise says whether an object stays after an uninstall.
func keptByPromise(object string) bool {
	kind, name, _ := strings.Cut(object, " ")
	_, group, _ := strings.Cut(kind, ".")
	return group == api.GroupVersion.Group || // kept with their definitions
		kind == "customresourcedefinitions.apiextensions.k8s.io" || kind == "apiservices.apiregistration.k8s.io" ||
		name == system || name == team || strings.HasPrefix(name, system+"/") || strings.HasPrefix(name, team+"/")
}

// cleanUp removes what an uninstall left, definitions and namespaces. Brokers that are
// still there have no controller any more that would take off their finalizers.
func (c *cluster) cleanUp() {
	c.Helper()
	finalizers := []byte(`{"metadata":{"finalizers":null}}`)
	brokers := &api.ClusterServiceBrokerList{}
	require.NoError(c, c.client.List(c.Context(), brokers))
	for i := range brokers.Items {
		require.NoError(c, c.client.Patch(c.Context(), &brokers.Items[i], client.RawPatch(types.MergePatchType, finalizers)))
	}
	c.kubectl("delete", "customresourcedefinitions", "--selector=app.kubernetes.io/name=defaultplan")
	c.kubectl("delete", "namespace", system, team)
}

func names(pods []corev1.Pod) []string {
	var all []string
	for i := range pods {
		all = append(all, pods[i].Name)
	}
	return all
}

// common is what is in both lists.
func common(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(name string) bool { return !slices.Contains(b, name) })
}
