package install_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestHelm3 installs with the Helm that many still have, up to the first instance, and
// uninstalls.
func TestHelm3(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	h := &helm{cluster: c, binary: "helm3"}
	before := c.inventory()
	h.on("install", "--create-namespace")
	broker := c.offer()
	instance := c.provision("orders")
	h.on("upgrade", "--set=controller.logLevel=debug")
	c.remove(instance)
	c.withdraw()
	assert.Empty(t, broker.Instances())
	assert.Empty(t, broker.Violations())
	c.wasNeverForbidden()
	h.on("uninstall")
	c.cleanUp()
	assert.Empty(t, c.inventory().without(before), "nothing is left")
}
