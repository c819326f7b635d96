package svcat_test

import (
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack/apiproxy"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// Ctrl-C before anything was written, here by an API server that never answers:
// nothing was changed, and every command ends at once.
func TestInterruptBeforeWriting(t *testing.T) { //nolint:tparallel // The cases share one env, one after the other.
	t.Parallel()
	e := newEnv(t)
	silent, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = silent.Close() })
	config := clientcmdapi.NewConfig()
	config.Clusters["silent"] = &clientcmdapi.Cluster{Server: "http://" + silent.Addr().String()}
	config.Contexts["silent"] = &clientcmdapi.Context{Cluster: "silent"}
	config.CurrentContext = "silent"
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, clientcmd.WriteToFile(*config, kubeconfig))
	for _, command := range []string{
		"provision mydb --class a", "bind mydb", "unbind mydb", "unbind --name mydb", "deprovision mydb", "touch instance mydb", "deregister asb", "sync broker asb",
	} {
		t.Run(command, func(t *testing.T) {
			hangs := e.start(kubeconfig, strings.Fields(command)...)
			connection, err := silent.Accept()
			require.NoError(t, err)
			t.Cleanup(func() { _ = connection.Close() })
			hangs.interrupt()
			got := hangs.ends()
			assert.Equal(t, 130, got.code, got.err)
			assert.Equal(t, "error: interrupted: nothing was changed\n", got.err)
			assert.Empty(t, got.out)
		})
	}
}

// Ctrl-C while it waits: what was ordered stands and goes on, and is said.
func TestInterruptWhileWaiting(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.broker.Async(osbtest.Provision, -1)
	waits := s.start("", "provision", "mydb", "--type", s.Name("mysql"), "--wait")
	waits.says("mydb: Ready=Unknown Provisioning: ")
	waits.interrupt()
	got := waits.ends()
	assert.Equal(t, 130, got.code, got.err)
	assert.Contains(t, got.err, `error: interrupted: instance "mydb" stands but is not ready: Ready=Unknown Provisioning: `)
	assert.Contains(t, got.err, "it goes on in the cluster: see svcat describe instance mydb -n "+s.Namespace)
	s.finish(s.instance("mydb").Spec.ExternalID)
	s.Svcat("touch", "instance", "mydb", "--wait")

	s.Svcat("bind", "mydb", "--wait")
	waits = s.start("", "deprovision", "mydb", "--wait")
	waits.says("DeprovisionBlockedByExistingCredentials")
	waits.interrupt()
	got = waits.ends()
	assert.Equal(t, 130, got.code, got.err)
	assert.Contains(t, got.err, `interrupted: instance "mydb" is still there: `)
}

// Signals a few milliseconds apart, as from timeout(1) and from some shells, are one
// Ctrl-C.
func TestInterruptTwice(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	proxy := s.proxy()
	held := proxy.Hold(writes(http.MethodPost, "serviceinstances"))
	ordering := s.start(proxy.Kubeconfig(), "provision", "mydb", "--type", s.Name("mysql"))
	<-held.Arrived
	ordering.interrupt()
	for range 5 {
		<-time.After(10 * time.Millisecond)
		require.NoError(t, ordering.cmd.Process.Signal(syscall.SIGTERM))
	}
	got := ordering.ends()
	assert.Equal(t, 130, got.code, got.err)
	assert.Contains(t, got.err, `it is not known whether instance "mydb" was created`)
}

// Ctrl-C while the API server works on a write: its answer is waited for, and what
// stands is said; the wait that was asked for is not begun.
func TestInterruptWhileWriting(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	proxy := s.proxy()
	held := proxy.Hold(writes(http.MethodPost, "serviceinstances"))
	ordering := s.start(proxy.Kubeconfig(), "provision", "mydb", "--type", s.Name("mysql"), "--wait")
	<-held.Arrived
	// The time that svcat waits for the answer begins with the signal: the API server's own work is done by then.
	held.Apply()
	<-held.Applied
	ordering.interrupt()
	held.Answer()
	got := ordering.ends()
	assert.Equal(t, 130, got.code, got.err)
	assert.Contains(t, got.err, `interrupted: instance "mydb" stands but is not ready`)
	assert.Contains(t, got.out, "mydb", "what was ordered is printed")
	s.instance("mydb")
}

// Ctrl-C while the API server does not answer at all: that it is not known is said.
func TestInterruptWithoutAnswer(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	proxy := s.proxy()
	held := proxy.Hold(writes(http.MethodPost, "serviceinstances"))
	ordering := s.start(proxy.Kubeconfig(), "provision", "mydb", "--type", s.Name("mysql"))
	<-held.Arrived
	ordering.interrupt()
	got := ordering.ends()
	assert.Equal(t, 130, got.code, got.err)
	assert.Contains(t, got.err, `error: interrupted before the API server answered: it is not known whether instance "mydb" was created`)
	assert.Empty(t, got.out)
}

// Ctrl-C between the two writes of --abandon: they belong together, so both are done.
func TestInterruptWhileAbandoning(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.database("mydb")
	proxy := s.proxy()
	held := proxy.Hold(writes(http.MethodPatch, "serviceinstances"))
	abandoning := s.start(proxy.Kubeconfig(), "deprovision", "mydb", "--abandon", "--yes")
	<-held.Arrived
	abandoning.interrupt()
	held.Apply()
	held.Answer()
	got := abandoning.ends()
	assert.Zero(t, got.code, got.err)
	s.Eventually(func() (bool, error) { return s.isGone(&api.ServiceInstance{}, "mydb"), nil })
	assert.Empty(t, s.broker.Calls(osbtest.Of(osbtest.Deprovision)))
}

// Ctrl-C between two bindings: no other is begun, and which are done is said.
func TestInterruptWhileUnbinding(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.database("mydb")
	for _, name := range []string{"a", "b", "c"} {
		s.Svcat("bind", "mydb", "--name", name, "--wait")
	}
	proxy := s.proxy()
	held := proxy.Hold(writes(http.MethodDelete, "servicebindings"))
	unbinding := s.start(proxy.Kubeconfig(), "unbind", "mydb")
	<-held.Arrived
	unbinding.interrupt()
	held.Apply()
	held.Answer()
	got := unbinding.ends()
	assert.Equal(t, 130, got.code, got.err)
	assert.Equal(t, "error: interrupted: deleted: a; not: b, c\n", got.err)
	assert.Nil(t, s.binding("b").DeletionTimestamp)
}

// An abandoned instance that cannot be deleted is not left marked: a later deletion
// would be one that its broker never hears of.
func TestAbandonThatIsRefused(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.database("mydb")
	s.Apply(`
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: editor}
rules:
- {apiGroups: [servicecatalog.k8s.io], resources: [serviceinstances, servicebindings], verbs: [get, list, watch, create, update, patch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: editor}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: editor}
subjects: [{kind: User, name: editor-SUFFIX}]
`)
	kubeconfig, err := s.KubeconfigFor(t.Context(), "editor-"+s.Suffix)
	require.NoError(t, err)
	var got outcome
	s.Eventually(func() (bool, error) { // until the API server knows of the role
		got = s.start(kubeconfig, "deprovision", "mydb", "--abandon", "--yes").ends()
		if strings.Contains(got.err, "cannot delete resource") {
			return true, nil
		}
		return false, fmt.Errorf("not yet: %s", got.err)
	})
	assert.Equal(t, 1, got.code, got.err)
	assert.NotContains(t, s.instance("mydb").Annotations, api.AnnotationAbandon)
}

// proxy leads to the API server.
func (e *testEnv) proxy() *apiproxy.Proxy {
	e.Helper()
	proxy, err := e.StartAPIProxy(e.Context(), "svcat-"+e.Suffix, e.Kubeconfig())
	require.NoError(e, err)
	e.Cleanup(func() { assert.NoError(e, proxy.Close()) })
	return proxy
}

// writes matches the writes of a method to a resource.
func writes(method, resource string) func(*apiproxy.Write) bool {
	return func(write *apiproxy.Write) bool { return write.Method == method && write.Resource == resource }
}
