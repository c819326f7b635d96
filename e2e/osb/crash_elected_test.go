package osb_test

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// handover bounds how long the next leader takes: the Lease runs for 15 s.
const handover = time.Minute

// elected kills the leader of two controllers; the other one takes over what it left.
func (g *crashStack) elected(t *testing.T) {
	require.NoError(t, g.controller.Stop(t.Context(), syscall.SIGTERM))
	leading := &crashStack{Stack: g.Stack, proxy: g.newProxy(t, "leading")}
	// A call may take as long as the handover: only one leader can be killed, so that no
	// call may time out before.
	flags := append(slices.Clone(crashFlags), "--leader-elect=true", stack.CallTimeout(15*time.Second))
	leading.controller = leading.newController(t, stack.ControllerOptions{Name: "leading", Kubeconfig: leading.proxy.Kubeconfig(), Args: flags})
	first := leading.holder(t, "")
	g.newController(t, stack.ControllerOptions{Name: "waiting", Args: flags})

	missed := leading.playOnce(t, map[string]crashScene{
		"ProvisionCallArrived":   {instanceOperations["Provision"], onCall(osbtest.Provision)},
		"ProvisionBeforeOutcome": {instanceOperations["Provision"], beforeWrite(concludes(osbtest.Provision))},
		"ProvisionAsyncAccepted": {instanceOperations["ProvisionAsync"], onAct(osbtest.Provision)},
		"UpdateAfterIntent":      {instanceOperations["Update"], afterWrite(intends)},
		"BindAfterSecret":        {bindingOperations["Bind"], atSecret["AfterSecret"]},
		"BindOneShotActed":       {bindingOperations["BindOneShot"], onAct(osbtest.Bind)},
		"UnbindActed":            {removalOperations["Unbind"], onAct(osbtest.Unbind)},
		"DeprovisionRelease":     {removalOperations["Deprovision"], atRelease["BeforeRelease"]},
	}, func(t *testing.T) func() {
		t.Helper()
		assert.NoError(t, leading.controller.Stop(t.Context(), syscall.SIGKILL))
		leading.holder(t, first)
		return func() {}
	})
	require.Empty(t, missed, "calls timed out before the leader was killed")
}

// holder waits until another replica than the last leads, and says which.
func (g *crashStack) holder(t *testing.T, last string) string {
	t.Helper()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "defaultplan-system", Name: "defaultplan-controller"}}
	assert.NoError(t, wait.EventuallyWithin(t.Context(), handover, func() (bool, error) {
		if err := g.Client().Get(t.Context(), client.ObjectKeyFromObject(lease), lease); err != nil {
			return client.IgnoreNotFound(err) != nil, err
		}
		holder := lease.Spec.HolderIdentity
		if holder == nil || *holder == "" || *holder == last {
			return false, fmt.Errorf("no replica but %q leads", last)
		}
		return true, nil
	}))
	return *lease.Spec.HolderIdentity
}
