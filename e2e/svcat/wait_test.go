package svcat_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// An operation that takes its time is told as it goes on, and the end is 0.
func TestWaitUntilReady(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.broker.Async(osbtest.Provision, -1)
	waits := s.start("", "provision", "mydb", "--type", s.Name("mysql"), "--wait", "--timeout", "-1")
	waits.says(`waiting for instance "mydb" to be ready (until Ctrl-C)`)
	waits.says("mydb: Ready=Unknown Provisioning: ")
	assert.Empty(t, waits.out.String(), "what it became is not known yet")
	s.finish(s.instance("mydb").Spec.ExternalID)
	got := waits.ends()
	assert.Zero(t, got.code, got.err)
	assert.Contains(t, got.err, "mydb: Ready=True ProvisionedSuccessfully")
	assert.Contains(t, got.out, "Ready - the instance was provisioned")
}

// What its broker refuses for good ends with 3; what was ordered is printed, since
// it stands.
func TestWaitForWhatFails(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.broker.Next(osbtest.Provision, osbtest.Status(http.StatusBadRequest, `{"description": "no such size"}`))
	got := s.run("", "-n", s.Namespace, "provision", "mydb", "--type", s.Name("mysql"), "--wait")
	assert.Equal(t, 3, got.code, got.err)
	assert.Contains(t, got.err, `error: instance "mydb" failed: ProvisionCallFailed: `)
	assert.Contains(t, got.err, "no such size")
	assert.Contains(t, got.err, "see svcat describe instance mydb -n "+s.Namespace)
	assert.Contains(t, got.out, "Name:")

	// Touched, it is tried again, and what was said of the first try does not count.
	assert.Contains(t, s.Svcat("touch", "instance", "mydb", "--wait"), `instance "mydb" was touched`)
	assert.Equal(t, int64(1), s.instance("mydb").Spec.UpdateRequests)
}

// A failure that passes is told and waited out.
func TestWaitThroughRetries(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.broker.Next(osbtest.Provision, osbtest.Status(http.StatusTooManyRequests, `{"description": "come again"}`))
	got := s.run("", "-n", s.Namespace, "provision", "mydb", "--type", s.Name("mysql"), "--wait")
	assert.Zero(t, got.code, got.err)
	assert.Contains(t, got.err, "mydb: Ready=False ProvisionCallFailed: ")
	assert.Contains(t, got.err, "mydb: Ready=True")
}

// When the time is over it goes on in the cluster, and 4 says that.
func TestWaitTimesOut(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.broker.Async(osbtest.Provision, -1)
	got := s.run("", "-n", s.Namespace, "provision", "mydb", "--type", s.Name("mysql"), "--wait", "--timeout", "3s", "--interval", "1s")
	assert.Equal(t, 4, got.code, got.err)
	assert.Contains(t, got.err, `error: instance "mydb" stands but is not ready after 3s: Ready=Unknown `)
	assert.Contains(t, got.err, "it goes on in the cluster: see svcat describe instance mydb -n "+s.Namespace)
	assert.Contains(t, got.out, "mydb")
	s.finish(s.instance("mydb").Spec.ExternalID)
	s.Svcat("touch", "instance", "mydb", "--wait")
}

// A deletion that waits for bindings says so, and ends when the last is gone.
func TestWaitUntilGone(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.database("mydb")
	s.Svcat("bind", "mydb", "--wait")
	waits := s.start("", "deprovision", "mydb", "--wait")
	waits.says("it will be deleted when its bindings are: mydb; svcat unbind removes them")
	waits.says("mydb: Ready=False DeprovisionBlockedByExistingCredentials: ")
	assert.Equal(t, "deleted mydb\n", s.told("unbind", "mydb", "--wait"))
	got := waits.ends()
	assert.Zero(t, got.code, got.err)
	assert.Equal(t, "deleted mydb\n", got.out)
	assert.Empty(t, s.broker.Instances())
}

// What is deleted while a command waits for it will never be ready.
func TestWaitForWhatIsDeleted(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.broker.Async(osbtest.Provision, -1)
	waits := s.start("", "provision", "mydb", "--type", s.Name("mysql"), "--wait")
	waits.says("mydb: Ready=Unknown Provisioning: ")
	s.Svcat("deprovision", "mydb")
	got := waits.ends()
	assert.Equal(t, 3, got.code, got.err)
	assert.Contains(t, got.err, `instance "mydb"`)
}

// A watch that the API server ends is taken up again, and nothing is missed.
func TestWaitSurvivesTheAPIServer(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	proxy, err := s.StartAPIProxy(t.Context(), "svcat-"+s.Suffix, s.Kubeconfig())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, proxy.Close()) })
	s.broker.Async(osbtest.Provision, -1)
	waits := s.start(proxy.Kubeconfig(), "provision", "mydb", "--type", s.Name("mysql"), "--wait")
	waits.says("mydb: Ready=Unknown Provisioning: ")
	_, back := proxy.Away(0)
	waits.says("cannot look, trying again")
	s.finish(s.instance("mydb").Spec.ExternalID)
	s.Eventually(func() (bool, error) {
		ready, _ := api.FindCondition(s.instance("mydb").Status.Conditions, api.ConditionReady)
		return ready.Status == api.ConditionTrue, nil
	})
	back()
	got := waits.ends()
	assert.Zero(t, got.code, got.err)
	assert.Contains(t, got.err, "mydb: Ready=True")
}

// finish ends the operation of an instance at its broker, once it was begun, and lets later ones be.
func (s *shop) finish(id string) {
	s.Helper()
	s.Eventually(func() (bool, error) { return s.broker.Finish(id), nil })
	s.broker.Sync()
}
