package install_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/certs"
	"github.com/defaultplan/defaultplan/certs/certmanager"
)

// TestCertificatesByHelm goes over to cert-manager, whose own definitions and controllers
// these are, and back, each by one helm upgrade and with requests going on all the time;
// from then on only the API server's certificate is answered, until it shows none.
func TestCertificatesByHelm(t *testing.T) {
	t.Parallel()
	id := newIdentity(t)
	c := newClusterWith(t, "", id.show)
	c.installCertManager()
	h := &helm{cluster: c, binary: "helm"}
	h.on("install", "--create-namespace")
	c.ready("webhook", 2)
	c.ready("keeper", 2)
	c.ready("controller", 2)
	c.offer()
	instance := c.provision("orders")
	managed := c.trusted()
	require.Len(t, managed, 1)

	l := c.underLoad(instance)
	h.on("upgrade", "--set=certs.mode=cert-manager")
	l.end("the switch to cert-manager")
	issued := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: certmanager.Secret}}
	c.get(issued)
	assert.Contains(t, c.trusted(), string(issued.Data[certs.CAFile]))
	assert.Contains(t, c.pods("webhook")[0].Spec.Containers[0].Args, "--certs=files")

	c.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: "clients"}, Data: map[string]string{"ca.crt": string(id.ca)}})
	l = c.underLoad(instance)
	h.on("upgrade", "--set=certs.clientCA.configMap=clients", "--set=certs.clientCA.names={kube-apiserver}")
	l.end("the switch back, to pods that answer the API server alone")
	assert.Contains(t, c.pods("webhook")[0].Spec.Containers[0].Args, "--certs=managed")
	c.provision("returns")

	id.hide()
	require.NoError(t, c.StopAPIServer(t.Context(), syscall.SIGTERM))
	require.NoError(t, c.StartAPIServer(t.Context()))
	c.eventually(func() error {
		err := c.client.Create(t.Context(), database("refused"), client.DryRunAll)
		if err == nil || !strings.Contains(err.Error(), "certificate required") {
			return fmt.Errorf("an API server without a certificate was told: %w", err)
		}
		return nil
	})
}

// installCertManager installs its definitions, as its module has them, and runs its
// controllers.
func (c *cluster) installCertManager() {
	c.Helper()
	module, err := exec.CommandContext(c.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/cert-manager/cert-manager").Output()
	require.NoError(c, err)
	c.kubectl("apply", "--server-side", "-f", filepath.Join(strings.TrimSpace(string(module)), "deploy", "crds"))
	c.eventually(func() error {
		// kubectl gives up on a definition that has no conditions yet.
		_, stderr, err := c.Kubectl(c.Context(), "", "wait", "--for=condition=Established", "--timeout=30s", "crd",
			"issuers.cert-manager.io", "clusterissuers.cert-manager.io", "certificates.cert-manager.io", "certificaterequests.cert-manager.io")
		if err != nil {
			return fmt.Errorf("cannot wait for the definitions: %w: %s", err, stderr)
		}
		return nil
	})
	require.NoError(c, c.StartProcess("certmanager", c.Binary("certmanager"), "-kubeconfig", c.Kubeconfig()))
}
