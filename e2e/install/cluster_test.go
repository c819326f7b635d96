package install_test

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/e2e/node"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// system is the namespace that defaultplan is installed into.
const system = "defaultplan-system"

// longEnough is for what several pods' starts and ends are part of, on a busy machine.
const longEnough = 2 * time.Minute

// A cluster is one of a test's own: a bare control plane, and a node that runs its pods.
// Its methods fail the test.
type cluster struct {
	*testing.T
	*stack.Stack

	node   *node.Node
	dir    string
	client client.WithWatch
	// previous is the folder with the binaries of the release before, where the test
	// installs it.
	previous string
}

// newCluster starts a cluster with nothing in it but its nodes.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	return newClusterWith(t, "")
}

// newClusterWith starts one that can also run the binaries of the release before, and
// whose stack has further options.
func newClusterWith(t *testing.T, previous string, edits ...func(*stack.Options)) *cluster {
	t.Helper()
	dir := suite.TempDir(t)
	c := &cluster{T: t, dir: dir, previous: previous}
	args, err := node.ControlPlaneArgs(c.nodeDir())
	require.NoError(t, err)
	options := stack.Options{Dir: dir, Bare: true, ControlPlaneArgs: args}
	for _, edit := range edits {
		edit(&options)
	}
	c.Stack = suite.New(t, options)
	c.client = c.Client()
	c.startNode()
	t.Cleanup(func() { require.NoError(t, c.node.Stop()) })
	return c
}

func (c *cluster) nodeDir() string { return filepath.Join(c.dir, "node") }

func (c *cluster) startNode() {
	c.Helper()
	var err error
	c.node, err = node.Start(c.Context(), c.Stack, node.Options{Dir: c.nodeDir(), Binaries: c.binary})
	require.NoError(c, err)
}

// binary is what an image's command is here: our own images, by their tag.
func (c *cluster) binary(image string, command []string) (string, error) {
	name := path.Base(command[0])
	repository, tag, _ := strings.Cut(image, ":")
	if repository != "defaultplan/"+name {
		return "", fmt.Errorf("cannot find image %q", image)
	}
	switch tag {
	case "v0.2.0":
		return c.Binary(name), nil
	case "v0.1.0":
		return filepath.Join(c.previous, name), nil
	}
	return "", fmt.Errorf("cannot find tag %q of image %q", tag, repository)
}

// eventually polls until nothing is amiss; what is amiss is the error.
func (c *cluster) eventually(amiss func() error) {
	c.Helper()
	require.NoError(c, wait.EventuallyWithin(c.Context(), longEnough, func() (bool, error) {
		err := amiss()
		return err == nil, err
	}))
}

func (c *cluster) create(objects ...client.Object) {
	c.Helper()
	for _, object := range objects {
		require.NoError(c, c.client.Create(c.Context(), object), "create %T %s", object, object.GetName())
	}
}

// get reads object again.
func (c *cluster) get(object client.Object) {
	c.Helper()
	require.NoError(c, c.client.Get(c.Context(), client.ObjectKeyFromObject(object), object))
}

// gone waits until an object is there no more.
func (c *cluster) gone(object client.Object) {
	c.Helper()
	c.eventually(func() error {
		err := c.client.Get(c.Context(), client.ObjectKeyFromObject(object), object)
		if err != nil {
			return client.IgnoreNotFound(err)
		}
		return fmt.Errorf("%T %s is still there", object, object.GetName())
	})
}

// kubectl runs kubectl as the administrator; it must exit with 0. What it printed to
// stdout is returned.
func (c *cluster) kubectl(args ...string) string {
	c.Helper()
	stdout, stderr, err := c.Kubectl(c.Context(), "", args...)
	require.NoError(c, err, "%s%s", stdout, stderr)
	return stdout
}

// pods are a component's, those that are to go left out.
func (c *cluster) pods(component string) []corev1.Pod {
	c.Helper()
	list := &corev1.PodList{}
	require.NoError(c, c.client.List(c.Context(), list, client.InNamespace(system),
		client.MatchingLabels{"app.kubernetes.io/component": component}))
	var staying []corev1.Pod
	for i := range list.Items {
		if list.Items[i].DeletionTimestamp == nil {
			staying = append(staying, list.Items[i])
		}
	}
	return staying
}

// allPods are those of all three components, as pods has them.
func (c *cluster) allPods() []corev1.Pod {
	c.Helper()
	return slices.Concat(c.pods("webhook"), c.pods("keeper"), c.pods("controller"))
}

// settled waits until no pod is about to end.
func (c *cluster) settled() {
	c.Helper()
	c.eventually(func() error {
		list := &corev1.PodList{}
		if err := c.client.List(c.Context(), list, client.InNamespace(system)); err != nil {
			return err
		}
		for i := range list.Items {
			if list.Items[i].DeletionTimestamp != nil {
				return fmt.Errorf("pod %q is about to end", list.Items[i].Name)
			}
		}
		return nil
	})
}

// isReady says whether a pod is ready, and if not what its containers say.
func isReady(pod *corev1.Pod) error {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
			return nil
		}
	}
	failures := []error{fmt.Errorf("pod %q is not ready", pod.Name)}
	for i := range pod.Status.ContainerStatuses {
		if waiting := pod.Status.ContainerStatuses[i].State.Waiting; waiting != nil {
			failures = append(failures, errors.New(waiting.Reason+": "+waiting.Message))
		}
	}
	return errors.Join(failures...)
}

// ready waits until a component has so many pods, and all are ready.
func (c *cluster) ready(component string, count int) {
	c.Helper()
	c.eventually(func() error {
		pods := c.pods(component)
		if len(pods) != count {
			return fmt.Errorf("there are %d pods of the %s", len(pods), component)
		}
		for i := range pods {
			if err := isReady(&pods[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// wasNeverForbidden says that no pod asked for what its ServiceAccount may not have. A
// refusal would be in its log.
func (c *cluster) wasNeverForbidden() {
	c.Helper()
	assert.Empty(c, c.refusals())
}

// refusals are the lines of all pods' logs that tell of a refused request.
func (c *cluster) refusals() []string {
	c.Helper()
	logs, err := filepath.Glob(filepath.Join(c.dir, "logs", system+".defaultplan-*.log"))
	require.NoError(c, err)
	require.NotEmpty(c, logs)
	var refusals []string
	for _, file := range logs {
		content, err := os.ReadFile(file)
		require.NoError(c, err)
		for line := range strings.Lines(string(content)) {
			if strings.Contains(line, "forbidden") || strings.Contains(line, "Unauthorized") {
				refusals = append(refusals, filepath.Base(file)+": "+line)
			}
		}
	}
	return refusals
}
