package install_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestInstalledByKubectl applies install.yaml, and the overlay that it is made from, in
// every way and twice: the second time nothing changes. Then a second controller, as
// documented.
func TestInstalledByKubectl(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	before := c.inventory()
	file, overlay := filepath.Join(root, "deploy", "install.yaml"), filepath.Join(root, "deploy", "overlays", "self-managed")
	c.kubectl("apply", "-f", file)
	c.ready("webhook", 2)
	c.ready("keeper", 2)
	c.ready("controller", 2)
	broker := c.offer()
	instance := c.provision("orders")

	versions := c.versions()
	c.kubectl("apply", "-f", file)
	assert.Equal(t, versions, c.versions(), "install.yaml again changes nothing")
	c.kubectl("apply", "-k", overlay)
	assert.Equal(t, versions, c.versions(), "it is what the overlay says")
	c.kubectl("apply", "--server-side", "--force-conflicts", "-f", file)
	versions = c.versions()
	c.kubectl("apply", "--server-side", "--force-conflicts", "-f", file)
	assert.Equal(t, versions, c.versions(), "the server-side apply again changes nothing")

	c.hasTwoControllers()
	c.remove(instance)
	c.withdraw()
	assert.Empty(t, broker.Violations())
	c.wasNeverForbidden()
	c.kubectl("delete", "-f", file)
	c.kubectl("delete", "namespace", team)
	assert.Empty(t, c.inventory().without(before), "nothing is left")
}
