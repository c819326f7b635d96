package install_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// apart is how long webhook or keeper runs before the other starts.
const apart = time.Minute

// TestKeeperApart: on a cluster that has no certificate yet, webhook and keeper start a minute apart, in either order,
// and the webhook restarts while no keeper runs.
func TestKeeperApart(t *testing.T) { //nolint:tparallel // one after the other, on one cluster
	t.Parallel()
	c := newCluster(t)
	t.Run("WebhookFirst", func(t *testing.T) { c.in(t).startsBefore("webhook", "keeper") })
	c.offer()
	c.choose("427559f1-bf2a-45d3-8844-32374a3e58aa")
	t.Run("WebhookRestartsWithoutKeeper", func(t *testing.T) { c.in(t).restartsWithoutKeeper() })
	c.withdraw()
	// Not later: what deletes an installation takes the roles from pods that still run.
	c.wasNeverForbidden()
	c.kubectl("delete", "namespace", team)
	c.kubectl("delete", "-f", filepath.Join(root, "deploy", "install.yaml"))
	t.Run("KeeperFirst", func(t *testing.T) { c.in(t).startsBefore("keeper", "webhook") })
	c.offer()
	c.provision("orders")
}

// startsBefore installs everything but the Deployment of second, and that once the pods of first have run for a while.
func (c *cluster) startsBefore(first, second string) {
	c.Helper()
	c.installWithout(second)
	c.runsFor(first, 2, apart)
	old := c.pods(first)
	for i := range old {
		ready := isReady(&old[i])
		assert.Equal(c, first == "webhook", ready != nil, "the webhook has no certificate, and the keeper needs no webhook: %v", ready)
	}
	c.installWithout()
	c.ready(second, 2)
	c.ready(first, 2)
	now := c.pods(first)
	assert.ElementsMatch(c, names(old), names(now))
	for i := range now {
		assert.Zero(c, now[i].Status.ContainerStatuses[0].RestartCount, "it waits, and does not end")
	}
}

// restartsWithoutKeeper replaces both webhook pods while there is no keeper: the certificate is there, and so is the
// recorded default.
func (c *cluster) restartsWithoutKeeper() {
	c.Helper()
	c.kubectl("-n", system, "scale", "deployment", "defaultplan-keeper", "--replicas=0")
	c.ready("keeper", 0)
	c.settled()
	old := names(c.pods("webhook"))
	c.kubectl("-n", system, "delete", "pods", "--selector=app.kubernetes.io/component=webhook")
	c.ready("webhook", 2)
	assert.Empty(c, common(old, names(c.pods("webhook"))), "each pod is a new one")
	instance := c.provision("orders")
	assert.Equal(c, "427559f1-bf2a-45d3-8844-32374a3e58aa", instance.Spec.ClusterServicePlanRef.Name)
	c.remove(instance)
}

// installWithout applies install.yaml, but for Deployments of some components.
func (c *cluster) installWithout(components ...string) {
	c.Helper()
	file, err := os.ReadFile(filepath.Join(root, "deploy", "install.yaml"))
	require.NoError(c, err)
	manifests := strings.Split(string(file), "\n---\n")
	applied := slices.DeleteFunc(slices.Clone(manifests), func(manifest string) bool {
		return strings.Contains(manifest, "\nkind: Deployment\n") && slices.ContainsFunc(components, func(component string) bool {
			return strings.Contains(manifest, "\n  name: defaultplan-"+component+"\n")
		})
	})
	require.Len(c, applied, len(manifests)-len(components))
	_, stderr, err := c.Kubectl(c.Context(), strings.Join(applied, "\n---\n"), "apply", "-f", "-")
	require.NoError(c, err, stderr)
}

// runsFor waits until a component has so many pods, whose containers run for a time.
func (c *cluster) runsFor(component string, count int, least time.Duration) {
	c.Helper()
	c.eventually(func() error {
		pods := c.pods(component)
		if len(pods) != count {
			return fmt.Errorf("there are %d pods of the %s", len(pods), component)
		}
		for i := range pods {
			if since := runningSince(&pods[i]); since.IsZero() || time.Since(since) < least {
				return fmt.Errorf("pod %q runs since %s", pods[i].Name, since)
			}
		}
		return nil
	})
}

// runningSince is when the pod's one container started; zero where it does not run.
func runningSince(pod *corev1.Pod) time.Time {
	for i := range pod.Status.ContainerStatuses {
		if running := pod.Status.ContainerStatuses[i].State.Running; running != nil {
			return running.StartedAt.Time
		}
	}
	return time.Time{}
}
