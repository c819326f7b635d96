package certs_test

import (
	"context"
	"crypto/x509"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/defaultplan/defaultplan/certs"
	"github.com/defaultplan/defaultplan/certs/certmanager"
	"github.com/defaultplan/defaultplan/e2e/stack"
)

// A running installation goes over to cert-manager, whose own definitions and controllers
// these are, and back, in the documented order and under load: no request fails.
func TestSwitchToCertManagerAndBack(t *testing.T) {
	t.Parallel()
	w := startWorld(t, "--certs-settle=1s", "--certs-overlap=6s", "--drain-time=1s")
	w.installCertManager()
	ca := w.issued()
	load := w.underLoad()

	// 1. The certificate is issued beside, and trusted too.
	w.roll("--certs-also-trust=" + certmanager.Secret)
	w.eventually(5*time.Second, func(ctx context.Context) (bool, error) {
		carried, err := w.carried(ctx)
		return len(carried) == 2 && has(carried, ca), err
	}, "both authorities are trusted")

	// 2. The pods are replaced by such that serve it.
	mounted := w.mount()
	w.roll("--certs=files", "--cert-dir="+mounted)
	require.True(t, w.servesAll(ca), "both replicas serve what cert-manager issued")

	// 3. cert-manager keeps the bundles.
	w.annotate(namespace + "/" + certmanager.Certificate)
	w.eventually(20*time.Second, w.injected, "its injector has written both configurations")
	w.eventually(10*time.Second, func(ctx context.Context) (bool, error) {
		carried, err := w.carried(ctx)
		return has(carried, ca), err
	}, "its authority is trusted")

	// And back: the pods are replaced by such that issue for themselves.
	w.annotate("")
	w.roll()
	w.eventually(20*time.Second, func(ctx context.Context) (bool, error) {
		carried, err := w.carried(ctx)
		if err != nil || len(carried) != 1 || has(carried, ca) {
			return false, err
		}
		return w.settled(ctx)
	}, "cert-manager's authority has gone after the overlap")
	load.done()
}

// installCertManager installs its definitions, as its module has them, runs its
// controllers, and applies what asks for the certificate, as shipped but for the address.
func (w *world) installCertManager() {
	w.Helper()
	module, err := exec.CommandContext(w.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/cert-manager/cert-manager").Output()
	require.NoError(w, err)
	stdout, stderr, err := w.Kubectl(w.Context(), "", "apply", "--server-side", "-f", filepath.Join(strings.TrimSpace(string(module)), "deploy", "crds"))
	require.NoError(w, err, stdout+stderr)
	// kubectl gives up on a definition that has no conditions yet.
	require.NoError(w, stack.Eventually(w.Context(), func() (bool, error) {
		_, stderr, err := w.Kubectl(w.Context(), "", "wait", "--for=condition=Established", "--timeout=30s", "crd",
			"issuers.cert-manager.io", "clusterissuers.cert-manager.io", "certificates.cert-manager.io", "certificaterequests.cert-manager.io")
		if err != nil {
			return false, fmt.Errorf("cannot wait for the definitions: %w: %s", err, stderr)
		}
		return true, nil
	}))
	// The right to read the CA of cert-manager's Secret is of no installation as shipped.
	stdout, stderr, err = w.Kubectl(w.Context(), "", "apply", "--server-side", "-f", filepath.Join("..", "..", "deploy", "certs", "switch", "role.yaml"))
	require.NoError(w, err, stdout+stderr)
	require.NoError(w, w.StartProcess("certmanager", filepath.Join(binFolder, "certmanager"), "-kubeconfig", w.Kubeconfig()))
	shipped, err := os.ReadFile(filepath.Join("..", "..", "deploy", "certs", "cert-manager", "certificates.yaml"))
	require.NoError(w, err)
	for document := range strings.SplitSeq(string(shipped), "\n---\n") {
		object := &unstructured.Unstructured{}
		require.NoError(w, yaml.Unmarshal([]byte(document), object))
		if object.GetName() == certmanager.Certificate {
			require.NoError(w, unstructured.SetNestedStringSlice(object.Object, []string{"127.0.0.1"}, "spec", "ipAddresses"))
		}
		require.NoError(w, w.Client().Create(w.Context(), object))
	}
}

// issued waits for cert-manager's certificate, and is its authority.
func (w *world) issued() *x509.Certificate {
	w.Helper()
	var ca []*x509.Certificate
	started := time.Now()
	w.eventually(time.Minute, func(ctx context.Context) (bool, error) {
		secret, err := w.secret(ctx, certmanager.Secret)
		if err != nil || len(secret.Data[certs.CertFile]) == 0 {
			return false, err
		}
		ca, err = parse(secret.Data[certs.CAFile])
		return len(ca) == 1, err
	}, "cert-manager issues")
	w.Logf("cert-manager issued after %s", time.Since(started).Round(time.Millisecond))
	require.True(w, ca[0].IsCA)
	require.Greater(w, time.Until(ca[0].NotAfter), 9*365*24*time.Hour, "it lives for ten years")
	return ca[0]
}

// mount lays out cert-manager's Secret as a kubelet does.
func (w *world) mount() string {
	w.Helper()
	secret, err := w.secret(w.Context(), certmanager.Secret)
	require.NoError(w, err)
	dir := filepath.Join(w.dir, "mounted")
	pair := certs.Pair{Cert: secret.Data[certs.CertFile], Key: secret.Data[certs.KeyFile]}
	require.NoError(w, certs.WriteServing(dir, pair, secret.Data[certs.CAFile]))
	return dir
}

// roll replaces one pod after the other, each once the one before is ready.
func (w *world) roll(args ...string) {
	w.Helper()
	for i := range 2 {
		w.Balancer().Withdraw(i)
		w.removePod(i)
		require.NoError(w, w.SetWebhookArgs(i, args...))
		require.NoError(w, w.StartWebhook(w.Context(), i))
		w.Balancer().Offer(i)
	}
}

// servesAll says whether both replicas serve a leaf of the authority.
func (w *world) servesAll(ca *x509.Certificate) bool {
	w.Helper()
	for range 2 {
		leaf, err := w.served(w.Context())
		require.NoError(w, err)
		if leaf.CheckSignatureFrom(ca) != nil {
			return false
		}
	}
	return true
}

// annotate has cert-manager inject into both configurations, or no longer.
func (w *world) annotate(from string) {
	w.Helper()
	value := "null"
	if from != "" {
		value = fmt.Sprintf("%q", from)
	}
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{"cert-manager.io/inject-ca-from":%s}}}`, value))
	require.NoError(w, w.Client().Patch(w.Context(), mutating.DeepCopy(), patch))
	require.NoError(w, w.Client().Patch(w.Context(), validating.DeepCopy(), patch))
}

// injected says whether the injector has written both configurations.
func (w *world) injected(ctx context.Context) (bool, error) {
	for _, shape := range []client.Object{mutating, validating} {
		object := shape.DeepCopyObject().(client.Object)
		if err := w.Client().Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return false, err
		}
		if !writtenBy(object.GetManagedFields(), "cert-manager-cainjector") {
			return false, fmt.Errorf("nothing of %T is its injector's", object)
		}
	}
	return true, nil
}

func writtenBy(fields []metav1.ManagedFieldsEntry, manager string) bool {
	for _, entry := range fields {
		if strings.HasPrefix(entry.Manager, manager) {
			return true
		}
	}
	return false
}
