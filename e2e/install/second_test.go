package install_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// documented finds the files of folder east in the document: a comment with the path, and
// what follows.
var documented = regexp.MustCompile("(?s)```yaml\n# east/([^\n]*\\.yaml)\n(.*?)```")

// secondController is the folder that docs/controller-contract.md has for a second
// controller, written out.
func (c *cluster) secondController() string {
	c.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", "controller-contract.md"))
	require.NoError(c, err)
	files := documented.FindAllStringSubmatch(string(text), -1)
	require.Len(c, files, 2)
	folder, err := filepath.EvalSymlinks(c.TempDir())
	require.NoError(c, err)
	deploy, err := filepath.Abs(filepath.Join(root, "deploy"))
	require.NoError(c, err)
	deploy, err = filepath.Rel(folder, deploy) // kustomize takes nothing by an absolute path
	require.NoError(c, err)
	for _, file := range files {
		content := strings.ReplaceAll(file[2], "defaultplan/deploy", deploy)
		require.NoError(c, os.WriteFile(filepath.Join(folder, file[1]), []byte(content), 0o600))
	}
	return folder
}

// hasTwoControllers applies the second one, has each provision at a broker of its own,
// and then the second while the first does not run.
func (c *cluster) hasTwoControllers() {
	c.Helper()
	folder := c.secondController()
	c.kubectl("apply", "-k", folder)
	c.ready("controller-east", 2)
	books := osbtest.Start(c, osbtest.Demo(osbtest.Inhouse))
	broker := &api.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: "inhouse"}}
	broker.Spec.URL, broker.Spec.ControllerName = books.URL, "east"
	c.create(broker)
	c.isTrue(broker, api.ConditionReady)
	assert.Equal(c, "east", broker.Status.ControllerName)

	eastern, western := inPlan("eastern", "inhouse-mysql", "small"), inPlan("western", "azure-mysql", "basic50")
	c.create(eastern, western)
	c.isTrue(eastern, api.ConditionReady)
	c.isTrue(western, api.ConditionReady)
	assert.Equal(c, "east", eastern.Status.ControllerName)
	assert.Empty(c, western.Status.ControllerName)
	first, second := c.holder("defaultplan-controller"), c.holder("defaultplan-controller-east")
	assert.NotEqual(c, first, second)

	c.kubectl("-n", system, "scale", "deployment", "defaultplan-controller", "--replicas=0")
	c.ready("controller", 0)
	c.settled()
	binding := c.bind("eastern-reader", "eastern")
	c.remove(binding, eastern, broker)
	assert.Empty(c, books.Instances())
	assert.Empty(c, books.Violations())
	c.kubectl("-n", system, "scale", "deployment", "defaultplan-controller", "--replicas=2")
	c.ready("controller", 2)
	c.remove(western)
	// Its pods go first: without its rights, one would be refused when it gives up its Lease.
	c.kubectl("-n", system, "delete", "deployment", "defaultplan-controller-east")
	c.ready("controller-east", 0)
	c.settled()
	c.kubectl("delete", "-k", folder, "--ignore-not-found")
}

// holder is who has a Lease.
func (c *cluster) holder(lease string) string {
	c.Helper()
	held := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: lease}}
	c.get(held)
	require.NotNil(c, held.Spec.HolderIdentity)
	require.NotEmpty(c, *held.Spec.HolderIdentity)
	return *held.Spec.HolderIdentity
}

// inPlan is an instance of a plan by name, not yet created.
func inPlan(name, class, plan string) *api.ServiceInstance {
	i := database(name)
	i.Spec.ServiceType, i.Spec.ClusterServiceClassExternalName, i.Spec.ClusterServicePlanExternalName = "", class, plan
	return i
}
