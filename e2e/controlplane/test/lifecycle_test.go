package test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// endsWithin is what "a few seconds" means on a busy machine; a part whose end is forced takes ten.
const endsWithin = 9 * time.Second

func TestAFreshFolderBecomesReady(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)

	mark, err := os.ReadFile(filepath.Join(dir, "ready"))
	require.NoError(t, err)
	assert.Equal(t, p.ready+"\n", string(mark))
	assert.Regexp(t, `^ready https://127\.0\.0\.1:\d+ kubeconfig=`+dir+`/kubeconfig$`, p.ready)

	_, err = clientset(t, p).CoreV1().ServiceAccounts("default").Get(t.Context(), "default", metav1.GetOptions{})
	require.NoError(t, err, "ready means that the controllers have done their first work")
}

func TestTheKubeconfigIsAllThatPlainHTTPSNeeds(t *testing.T) {
	t.Parallel()
	config := start(t, t.TempDir()).config(t)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(config.CAData))
	pair, err := tls.X509KeyPair(config.CertData, config.KeyData)
	require.NoError(t, err)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
		MinVersion: tls.VersionTLS12, RootCAs: roots, Certificates: []tls.Certificate{pair},
	}}}
	for path, want := range map[string]string{"/readyz": "ok", "/api/v1/namespaces/kube-system": `"kind":"Namespace"`} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, config.Host+path, http.NoBody)
		require.NoError(t, err)
		response, err := client.Do(request)
		require.NoError(t, err)
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, http.StatusOK, response.StatusCode)
		assert.Contains(t, string(body), want)
	}
}

func TestItEndsCleanlyAndStartsAgainAsItWas(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		signal syscall.Signal
		code   int
	}{
		"Terminated":  {reason: "the usual end", signal: syscall.SIGTERM},
		"Interrupted": {reason: "Ctrl-C", signal: syscall.SIGINT},
		"Killed":      {reason: "a fault test kills it", signal: syscall.SIGKILL, code: -1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			first := start(t, dir)
			create(t, clientset(t, first), "kept")
			token := tokenOf(t, clientset(t, first))
			watch, err := clientset(t, first).CoreV1().ConfigMaps("").Watch(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
			defer watch.Stop()

			asked := time.Now()
			assert.Equal(t, tc.code, first.end(t, tc.signal), tc.reason)
			assert.Less(t, time.Since(asked), endsWithin, "an open watch holds the end")
			assert.Empty(t, first.stderr.String())
			if tc.code == 0 {
				assert.NoFileExists(t, filepath.Join(dir, "ready"))
			}

			second := start(t, dir)
			assert.Equal(t, first.ready, second.ready, "kubeconfigs handed out stay right")
			_, err = clientset(t, second).CoreV1().ConfigMaps("default").Get(t.Context(), "kept", metav1.GetOptions{})
			require.NoError(t, err)
			config := second.config(t)
			config.CertData, config.KeyData, config.BearerToken = nil, nil, token
			_, err = kubernetes.NewForConfigOrDie(config).Discovery().ServerVersion()
			require.NoError(t, err, "tokens handed out stay right")
		})
	}
}

func TestNothingIsPrintedButTheReadyLine(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	assert.Empty(t, <-p.rest)
	require.NoError(t, p.cmd.Wait())
	assert.Empty(t, p.stderr.String())
	info, err := os.Stat(filepath.Join(p.dir, "log"))
	require.NoError(t, err)
	assert.NotZero(t, info.Size())
}

func TestAskedToEndWhileStartingItEndsCleanly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.Command(binary(), "-dir", dir)
	require.NoError(t, cmd.Start())
	// The certificates are there when etcd serves and the API server is about to start.
	eventually(t, func(context.Context) bool {
		_, err := os.Stat(filepath.Join(dir, "pki", "ca.crt"))
		return err == nil
	})
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, cmd.Wait(), "exit code 0")
	assert.NoFileExists(t, filepath.Join(dir, "ready"))
	start(t, dir)
}

func TestAFolderOrPortInUseIsRefused(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	_, port, _ := strings.Cut(strings.TrimPrefix(p.ready, "ready https://"), ":")
	port, _, _ = strings.Cut(port, " ")
	cases := map[string]struct {
		reason string
		args   []string
		want   []string
	}{
		"Folder": {
			reason: "two writers would ruin the data",
			args:   []string{"-dir", p.dir},
			want:   []string{"in use by process " + strconv.Itoa(p.cmd.Process.Pid), "choose another -dir"},
		},
		"Port": {
			reason: "the port was given, so no other is chosen",
			args:   []string{"-dir", t.TempDir(), "-port", port},
			want:   []string{"cannot use port " + port, "in use by process " + strconv.Itoa(p.cmd.Process.Pid), "choose another one"},
		},
		"EtcdPort": {
			reason: "the same for etcd's",
			args:   []string{"-dir", t.TempDir(), "-etcd-port", port},
			want:   []string{"cannot use port " + port, "in use by process"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			line := refused(t, tc.args...)
			for _, want := range tc.want {
				assert.Contains(t, line, want, tc.reason)
			}
		})
	}
	assert.FileExists(t, filepath.Join(p.dir, "ready"), "the refused one took the other's mark away")
}

func clientset(t *testing.T, p *process) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(p.config(t))
	require.NoError(t, err)
	return client
}

// create makes an empty ConfigMap in the default namespace.
func create(t *testing.T, client kubernetes.Interface, name string) {
	t.Helper()
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), object, metav1.CreateOptions{})
	require.NoError(t, err)
}
