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
)

// A running installation goes over to cert-manager, whose own definitions and controllers
// these are, and back, in the documented order and under load: no request fails.
func TestSwitchToCertManagerAndBack(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "--certs-settle=1s", "--certs-overlap=6s", "--drain-time=1s")
	e.installCertManager()
	ca := e.issued()
	load := e.underLoad()

	// 1. The certificate is issued beside, and trusted too.
	e.roll("--certs-also-trust=" + certmanager.Secret)
	e.eventually(5*time.Second, func(ctx context.Context) (bool, error) {
		carried, err := e.carried(ctx)
		return len(carried) == 2 && has(carried, ca), err
	}, "both authorities are trusted")

	// 2. The pods are replaced by such that serve it.
	mounted := e.mount()
	e.roll("--certs=files", "--cert-dir="+mounted)
	require.True(t, e.servesAll(ca), "both replicas serve what cert-manager issued")

	// 3. cert-manager keeps the bundles.
	e.annotate(namespace + "/" + certmanager.Certificate)
	e.eventually(20*time.Second, e.injected, "its injector has written both configurations")
	e.eventually(10*time.Second, func(ctx context.Context) (bool, error) {
		carried, err := e.carried(ctx)
		return has(carried, ca), err
	}, "its authority is trusted")

	// And back: the pods are replaced by such that issue for themselves.
	e.annotate("")
	e.roll()
	e.eventually(20*time.Second, func(ctx context.Context) (bool, error) {
		carried, err := e.carried(ctx)
		if err != nil || len(carried) != 1 || has(carried, ca) {
			return false, err
		}
		return e.settled(ctx)
	}, "cert-manager's authority has gone after the overlap")
	load.done()
}

// installCertManager installs its definitions, as its module has them, runs its
// controllers, and applies what asks for the certificate, as shipped but for the address.
func (e *testEnv) installCertManager() {
	e.Helper()
	module, err := exec.CommandContext(e.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/cert-manager/cert-manager").Output()
	require.NoError(e, err)
	e.Kubectl("", "apply", "--server-side", "-f", filepath.Join(strings.TrimSpace(string(module)), "deploy", "crds"))
	// kubectl gives up on a definition that has no conditions yet.
	e.Eventually(func() (bool, error) {
		_, stderr, err := e.Stack.Kubectl(e.Context(), "", "wait", "--for=condition=Established", "--timeout=30s", "crd",
			"issuers.cert-manager.io", "clusterissuers.cert-manager.io", "certificates.cert-manager.io", "certificaterequests.cert-manager.io")
		if err != nil {
			return false, fmt.Errorf("cannot wait for the definitions: %w: %s", err, stderr)
		}
		return true, nil
	})
	// The right to read the CA of cert-manager's Secret is of no installation as shipped.
	e.Kubectl("", "apply", "--server-side", "-f", filepath.Join("..", "..", "deploy", "certs", "switch", "role.yaml"))
	require.NoError(e, e.StartProcess("certmanager", e.Binary("certmanager"), "-kubeconfig", e.Kubeconfig()))
	shipped, err := os.ReadFile(filepath.Join("..", "..", "deploy", "certs", "cert-manager", "certificates.yaml"))
	require.NoError(e, err)
	for document := range strings.SplitSeq(string(shipped), "\n---\n") {
		object := &unstructured.Unstructured{}
		require.NoError(e, yaml.Unmarshal([]byte(document), object))
		if object.GetName() == certmanager.Certificate {
			require.NoError(e, unstructured.SetNestedStringSlice(object.Object, []string{"127.0.0.1"}, "spec", "ipAddresses"))
		}
		require.NoError(e, e.Client().Create(e.Context(), object))
	}
}

// issued waits for cert-manager's certificate, and is its authority.
func (e *testEnv) issued() *x509.Certificate {
	e.Helper()
	var ca []*x509.Certificate
	started := time.Now()
	e.eventually(time.Minute, func(ctx context.Context) (bool, error) {
		secret, err := e.secret(ctx, certmanager.Secret)
		if err != nil || len(secret.Data[certs.CertFile]) == 0 {
			return false, err
		}
		ca, err = parse(secret.Data[certs.CAFile])
		return len(ca) == 1, err
	}, "cert-manager issues")
	e.Logf("cert-manager issued after %s", time.Since(started).Round(time.Millisecond))
	require.True(e, ca[0].IsCA)
	require.Greater(e, time.Until(ca[0].NotAfter), 9*365*24*time.Hour, "it lives for ten years")
	return ca[0]
}

// mount lays out cert-manager's Secret as a kubelet does.
func (e *testEnv) mount() string {
	e.Helper()
	secret, err := e.secret(e.Context(), certmanager.Secret)
	require.NoError(e, err)
	dir := e.Path("mounted")
	pair := certs.Pair{Cert: secret.Data[certs.CertFile], Key: secret.Data[certs.KeyFile]}
	require.NoError(e, certs.WriteServing(dir, pair, secret.Data[certs.CAFile]))
	return dir
}

// roll replaces one pod after the other, each once the one before is ready.
func (e *testEnv) roll(args ...string) {
	e.Helper()
	for i := range 2 {
		e.Balancer().Withdraw(i)
		e.removePod(i)
		require.NoError(e, e.SetWebhookArgs(i, args...))
		require.NoError(e, e.StartWebhook(e.Context(), i))
		e.Balancer().Offer(i)
	}
}

// servesAll says whether both replicas serve a leaf of the authority.
func (e *testEnv) servesAll(ca *x509.Certificate) bool {
	e.Helper()
	for range 2 {
		leaf, err := e.served(e.Context())
		require.NoError(e, err)
		if leaf.CheckSignatureFrom(ca) != nil {
			return false
		}
	}
	return true
}

// annotate has cert-manager inject into both configurations, or no longer.
func (e *testEnv) annotate(from string) {
	e.Helper()
	value := "null"
	if from != "" {
		value = fmt.Sprintf("%q", from)
	}
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{"cert-manager.io/inject-ca-from":%s}}}`, value))
	require.NoError(e, e.Client().Patch(e.Context(), mutating.DeepCopy(), patch))
	require.NoError(e, e.Client().Patch(e.Context(), validating.DeepCopy(), patch))
}

// injected says whether the injector has written both configurations.
func (e *testEnv) injected(ctx context.Context) (bool, error) {
	for _, shape := range []client.Object{mutating, validating} {
		object := shape.DeepCopyObject().(client.Object)
		if err := e.Client().Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
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
