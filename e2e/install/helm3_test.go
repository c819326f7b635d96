package install_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestHelm3 installs with the Helm that many still have and with ServiceAccounts of other names, one
// of which was there, up to the first instance and a controller with a name, and uninstalls.
func TestHelm3(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	h := &helm{cluster: c, binary: "helm3"}
	before := c.inventory()
	eastern := client.ObjectKey{Namespace: system, Name: "defaultplan-controller-east"}
	const accounts = "--set=webhook.serviceAccount.name=hooks,keeper.serviceAccount.name=records,keeper.serviceAccount.create=false,controller.serviceAccount.name=calls"
	c.kubectl("create", "namespace", system)
	c.kubectl("create", "serviceaccount", "records", "--namespace", system)
	h.on("install", accounts)
	broker := c.offer()
	instance := c.provision("orders")
	h.on("upgrade", accounts, "--set=controller.logLevel=debug")
	c.remove(instance)
	c.withdraw()
	assert.Empty(t, broker.Instances())
	assert.Empty(t, broker.Violations())
	h.on("upgrade", accounts, "--set=controller.name=east")
	c.eventually(func() error { return c.client.Get(t.Context(), eastern, &coordinationv1.Lease{}) })
	assert.NotEmpty(t, c.holder(eastern.Name))
	assert.Empty(t, slices.DeleteFunc(c.refusals(), beforeThePolicyWasRead))
	h.on("uninstall")
	c.cleanUp()
	assert.Empty(t, c.inventory().without(before), "nothing is left")
}

// beforeThePolicyWasRead tells a refusal by the Leases' policy of the release before. The API
// server reads a changed policy a moment after it was applied, and a pod of the same upgrade
// may ask for its Lease of the new name sooner: it tries again.
func beforeThePolicyWasRead(refusal string) bool {
	return strings.Contains(refusal, "denied request: the only Lease to create is defaultplan-controller\"")
}
