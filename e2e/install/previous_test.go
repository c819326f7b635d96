package install_test

import (
	"archive/tar"
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/certs"
)

// previousCommit is v0.1.0, the release before this one.
const previousCommit = "0fe5358"

// A release is one that is not this checkout's.
type release struct {
	// source is the folder of its sources, bin that of its binaries.
	source, bin string
}

// previousRelease builds the release before this one from the history. A checkout
// without that history cannot: there the test is skipped, saying what to fetch.
func previousRelease(t *testing.T) release {
	t.Helper()
	if exec.CommandContext(t.Context(), "git", "-C", root, "cat-file", "-e", previousCommit+"^{commit}").Run() != nil {
		t.Skipf("cannot test the upgrade: commit %s, which is v0.1.0, is not in this checkout; fetch the whole history", previousCommit)
	}
	modules, err := filepath.Abs(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	dir := t.TempDir()
	r := release{source: filepath.Join(dir, "source"), bin: filepath.Join(dir, "bin")}
	archive, err := exec.CommandContext(t.Context(), "git", "-C", root, "archive", previousCommit,
		"go.mod", "go.sum", "api", "certs", "cmd", "deploy", "merge", "osb", "resolve", "webhook").Output()
	require.NoError(t, err)
	unpack(t, archive, r.source)
	// As make build does and with the versions of this checkout's dependencies, so that these are
	// compiled already. The release has the same client-go and controller-runtime. When its sources do not
	// compile with a newer dependency, let it have its own again: leave -modfile out.
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-modfile="+modules,
		"-o", r.bin+"/", "./cmd/webhook", "./cmd/controller")
	build.Dir = r.source
	// The release is not in the workspace of the scenarios.
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	output, err := build.CombinedOutput()
	require.NoError(t, err, "%s", output)
	return r
}

func unpack(t *testing.T, archive []byte, dir string) {
	t.Helper()
	reader := tar.NewReader(bytes.NewReader(archive))
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
		if header.Typeflag != tar.TypeReg {
			continue
		}
		file := filepath.Join(dir, filepath.FromSlash(header.Name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		content, err := io.ReadAll(reader)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, content, 0o600))
	}
}

// installPrevious installs v0.1.0 as its manifests say, and what an operator wrote to
// run it: testdata/previous.yaml.
func (c *cluster) installPrevious(r release) {
	c.Helper()
	deploy := filepath.Join(r.source, "deploy")
	for _, folder := range []string{"crds", "rbac", "vap", "flow"} {
		// The namespace is among the rights, and comes after some of them.
		if folder == "rbac" {
			c.kubectl("apply", "-f", filepath.Join(deploy, folder, "namespace.yaml"))
		}
		c.kubectl("apply", "-f", filepath.Join(deploy, folder))
	}
	issued, err := certs.Issue("of the operator", []string{"defaultplan-webhook." + system + ".svc"}, time.Now(), time.Hour)
	require.NoError(c, err)
	c.create(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: "webhook-serving"},
		Type:       corev1.SecretTypeTLS,
		Data:       map[string][]byte{corev1.TLSCertKey: issued.Leaf.Cert, corev1.TLSPrivateKeyKey: issued.Leaf.Key},
	})
	c.kubectl("apply", "-f", filepath.Join("testdata", "previous.yaml"))
	c.ready("webhook", 2)
	c.ready("controller", 1)
	hooks, err := os.ReadFile(filepath.Join(deploy, "hooks", "manifests.yaml"))
	require.NoError(c, err)
	bundle := base64.StdEncoding.EncodeToString(issued.CA.Cert)
	trusting := strings.ReplaceAll(string(hooks), "\n  clientConfig:\n", "\n  clientConfig:\n    caBundle: "+bundle+"\n")
	_, stderr, err := c.Kubectl(c.Context(), trusting, "apply", "-f", "-")
	require.NoError(c, err, stderr)
}
