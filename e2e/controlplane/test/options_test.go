package test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestABadCommandLineIsRefused(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "never-made")
	cases := map[string]struct {
		reason, want string
		args         []string
	}{
		"NoFolder":          {"nothing is written to a folder that was not named", "-dir is required: the data folder", nil},
		"UnknownFlag":       {"a typo", "flag provided but not defined: -audt", []string{"-dir", dir, "-audt"}},
		"UnknownPart":       {"a typo", `-only "etdc" is not known: give "etcd" or "apiserver", or leave it out to run both`, []string{"-dir", dir, "-only=etdc"}},
		"Port":              {"out of range", "-port must be 1-65535, or left out for a free one", []string{"-dir", dir, "-port=65536"}},
		"EtcdPort":          {"out of range", "-etcd-port must be 1-65535, or left out for a free one", []string{"-dir", dir, "-etcd-port=-1"}},
		"SamePort":          {"one of the two could not listen", "-port and -etcd-port must differ", []string{"-dir", dir, "-port=20001", "-etcd-port=20001"}},
		"Timeout":           {"nothing is ready at once", "-timeout must be longer than 0s", []string{"-dir", dir, "-timeout=0s"}},
		"Verbosity":         {"out of range", "-v must not be negative", []string{"-dir", dir, "-v=-1"}},
		"NoEtcd":            {"which etcd?", "-only=apiserver needs -etcd-url", []string{"-dir", dir, "-only=apiserver"}},
		"URLWithoutUse":     {"it would be ignored", "-etcd-url goes only with -only=apiserver or -snapshot", []string{"-dir", dir, "-etcd-url=http://127.0.0.1:1"}},
		"URL":               {"no scheme", `-etcd-url "127.0.0.1:1" is not an address of etcd: give one such as http://127.0.0.1:2379`, []string{"-dir", dir, "-only=apiserver", "-etcd-url=127.0.0.1:1"}},
		"RestoreNoEtcd":     {"nothing to restore to", "-etcd-port and -restore do not go with -only=apiserver: it runs no etcd", []string{"-dir", dir, "-only=apiserver", "-etcd-url=http://127.0.0.1:1", "-restore=x"}},
		"AuditNoServer":     {"nothing to log", "-port, -audit, -workloads and kube-apiserver flags do not go with -only=etcd: it runs no API server", []string{"-dir", dir, "-only=etcd", "-audit"}},
		"WorkloadsNoServer": {"there is no server", "-port, -audit, -workloads and kube-apiserver flags do not go with -only=etcd: it runs no API server", []string{"-dir", dir, "-only=etcd", "-workloads"}},
		"SnapshotRestore":   {"one or the other", "-snapshot goes only with -dir or -etcd-url", []string{"-dir", dir, "-snapshot=x", "-restore=y"}},
		"Argument":          {"a forgotten dash", `argument "verbose" is not understood: after -- come kube-apiserver flags such as --max-requests-inflight=10`, []string{"-dir", dir, "verbose"}},
		"Listener":          {"it would be ignored", "--secure-port cannot be given: use -port; the address is always the loopback's", []string{"-dir", dir, "--", "--secure-port=1"}},
		"NothingToSave":     {"no etcd was ever there", `cannot find the etcd of folder "` + dir + `": none was ever started in it`, []string{"-dir", dir, "-snapshot=x"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, "controlplane: "+tc.want, refused(t, tc.args...), tc.reason)
			assert.NoDirExists(t, dir, tc.reason)
		})
	}
}

func TestABadStartIsRefused(t *testing.T) {
	t.Parallel()
	text := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(text, []byte("no snapshot"), 0o600))
	cases := map[string]struct {
		reason, want string
		args         []string
	}{
		"ServerFlag":      {"kube-apiserver's own parser says so", "cannot read kube-apiserver flags: unknown flag: --no-such-flag", []string{"--", "--no-such-flag"}},
		"ServerFlagValue": {"kube-apiserver's own validation says so", `authorization-mode "None" is not a valid mode`, []string{"--", "--authorization-mode=None"}},
		"NoEtcdThere":     {"kube-apiserver alone would try for a minute", "connection refused: start it with -only=etcd", []string{"-only=apiserver", "-etcd-url=http://127.0.0.1:9"}},
		"NoSnapshotThere": {"the file is named", "/nowhere: no such file or directory", []string{"-restore=/nowhere"}},
		"NoSnapshot":      {"a file of another kind", `cannot restore snapshot "` + text + `"`, []string{"-restore=" + text}},
		"Timeout":         {"it says where to read on", "not ready after 50ms: read", []string{"-timeout=50ms"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			line := refused(t, append([]string{"-dir", t.TempDir()}, tc.args...)...)
			assert.Contains(t, line, tc.want, tc.reason)
		})
	}
}
