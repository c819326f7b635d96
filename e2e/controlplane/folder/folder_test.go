package folder_test

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/defaultplan/defaultplan/e2e/controlplane/folder"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"
)

func TestOpenGivesAFolderToOneAtATime(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	first := open(t, path)

	_, err := folder.Open(path)
	require.ErrorContains(t, err, "in use by process "+strconv.Itoa(os.Getpid()))
	require.ErrorContains(t, err, "choose another -dir")

	require.NoError(t, first.Close())
	second, err := folder.Open(path)
	require.NoError(t, err, "a lock file that is not held does not lock")
	require.NoError(t, second.Close())
}

func TestOpenRefusesWhatIsNoFolder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	_, err := folder.Open(path)
	require.ErrorContains(t, err, "cannot make data folder")
}

func TestReadyMarkIsThereOnlyWhileReady(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	mark := filepath.Join(path, "ready")
	require.NoError(t, os.WriteFile(mark, []byte("of a killed process"), 0o600))

	f, err := folder.Open(path)
	require.NoError(t, err)
	assert.NoFileExists(t, mark, "a start removes what a killed process left")

	require.NoError(t, f.MarkReady("ready"))
	content, err := os.ReadFile(mark)
	require.NoError(t, err)
	assert.Equal(t, "ready\n", string(content))

	require.NoError(t, f.Close())
	assert.NoFileExists(t, mark)
}

func TestPortsAreRemembered(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	f := open(t, path)
	etcd, err := f.Port(folder.Etcd, 0)
	require.NoError(t, err)
	server, err := f.Port(folder.APIServer, 0)
	require.NoError(t, err)
	assert.NotEqual(t, etcd, server)

	again, err := f.Port(folder.Etcd, 0)
	require.NoError(t, err)
	assert.Equal(t, etcd, again, "kubeconfigs already handed out stay right")

	remembered, err := folder.RememberedPort(path, folder.APIServer)
	require.NoError(t, err)
	assert.Equal(t, server, remembered)

	never, err := folder.RememberedPort(t.TempDir(), folder.Etcd)
	require.NoError(t, err)
	assert.Zero(t, never)
}

func TestAFixedPortReplacesTheRememberedOne(t *testing.T) {
	t.Parallel()
	f := open(t, t.TempDir())
	_, err := f.Port(folder.APIServer, 0)
	require.NoError(t, err)
	other := open(t, t.TempDir())
	fixed, err := other.Port(folder.APIServer, 0)
	require.NoError(t, err)
	require.NoError(t, other.Close())

	got, err := f.Port(folder.APIServer, fixed)
	require.NoError(t, err)
	assert.Equal(t, fixed, got)
	got, err = f.Port(folder.APIServer, 0)
	require.NoError(t, err)
	assert.Equal(t, fixed, got)
}

// Nothing listens yet: two control planes that start at the same moment would both find it free.
func TestAPortIsOfOneFolder(t *testing.T) {
	t.Parallel()
	first, second := open(t, t.TempDir()), open(t, t.TempDir())
	port, err := first.Port(folder.Etcd, 0)
	require.NoError(t, err)

	_, err = second.Port(folder.Etcd, port)
	require.ErrorContains(t, err, "in use by process "+strconv.Itoa(os.Getpid()))

	require.NoError(t, first.Close())
	got, err := second.Port(folder.Etcd, port)
	require.NoError(t, err)
	assert.Equal(t, port, got)
}

func TestATakenPortIsAnError(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, want string
		fixed        bool
	}{
		"Fixed":      {reason: "who gave it can give another", fixed: true, want: "address already in use: stop what uses it, or choose another one"},
		"Remembered": {reason: "another port would make kubeconfigs wrong in silence", want: "which this folder had before"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t, t.TempDir())
			port, err := f.Port(folder.Etcd, 0)
			require.NoError(t, err)
			listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, listener.Close()) })

			fixed := 0
			if tc.fixed {
				fixed = port
			}
			_, err = f.Port(folder.Etcd, fixed)
			require.ErrorContains(t, err, "cannot use port "+strconv.Itoa(port), tc.reason)
			require.ErrorContains(t, err, tc.want, tc.reason)
		})
	}
}

func TestBrokenPortsAreAnError(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{"NotJSON": "{", "Null": "null", "WrongType": `{"etcd":"x"}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t, t.TempDir())
			require.NoError(t, os.WriteFile(f.Path("ports.json"), []byte(content), 0o600))
			_, err := f.Port(folder.Etcd, 0)
			require.ErrorContains(t, err, "remove the file to have new ones chosen")
		})
	}
}

func TestKubeconfigIsComplete(t *testing.T) {
	t.Parallel()
	f := open(t, t.TempDir())
	access := folder.Access{Server: "https://127.0.0.1:1", CA: []byte("ca"), Cert: []byte("cert"), Key: []byte("key")}
	require.NoError(t, f.WriteKubeconfig(access))

	info, err := os.Stat(f.KubeconfigPath())
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "it makes who reads it an administrator")

	config, err := clientcmd.BuildConfigFromFlags("", f.KubeconfigPath())
	require.NoError(t, err)
	assert.Equal(t, access, folder.Access{Server: config.Host, CA: config.CAData, Cert: config.CertData, Key: config.KeyData})
}

func TestWriteFileReplacesWholeAndLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	require.NoError(t, folder.WriteFile(path, []byte("old")))
	require.NoError(t, folder.WriteFile(path, []byte("new")))
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "new", string(content))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1)

	require.ErrorContains(t, folder.WriteFile(filepath.Join(dir, "no", "file"), nil), "cannot write")
}

// open opens a folder for the length of the test; the test may close it earlier.
func open(t *testing.T, path string) *folder.Folder {
	t.Helper()
	f, err := folder.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}
