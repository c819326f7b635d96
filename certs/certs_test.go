package certs_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/certs"
)

func parse(t *testing.T, pair certs.Pair) *x509.Certificate {
	t.Helper()
	block, rest := pem.Decode(pair.Cert)
	require.NotNil(t, block)
	require.Empty(t, rest)
	cert, err := x509.ParseCertificate(block.Bytes)
	require.NoError(t, err)
	return cert
}

func TestIssueVerifies(t *testing.T) {
	t.Parallel()
	now := time.Now()
	issued, err := certs.Issue("defaultplan", []string{"webhook.example.svc", "127.0.0.1"}, now, time.Hour)
	require.NoError(t, err)

	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(issued.CA.Cert))
	leaf := parse(t, issued.Leaf)

	cases := map[string]struct {
		reason string
		host   string
		at     time.Time
		fails  bool
	}{
		"DNSName":     {reason: "a DNS name that was asked for is served", host: "webhook.example.svc", at: now},
		"Address":     {reason: "an IP address that was asked for is served", host: "127.0.0.1", at: now},
		"ClockBehind": {reason: "a verifier whose clock is a little behind accepts", host: "127.0.0.1", at: now.Add(-time.Minute)},
		"OtherHost":   {reason: "no other host is served", host: "other.example.svc", at: now, fails: true},
		"Expired":     {reason: "the lifetime ends", host: "127.0.0.1", at: now.Add(2 * time.Hour), fails: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := leaf.Verify(x509.VerifyOptions{DNSName: tc.host, Roots: roots, CurrentTime: tc.at})
			if tc.fails {
				require.Error(t, err, tc.reason)
				return
			}
			require.NoError(t, err, tc.reason)
		})
	}
	assert.False(t, leaf.IsCA, "a leaf must not sign")
	assert.NotEqual(t, leaf.SerialNumber, parse(t, issued.CA).SerialNumber)
}

func TestIssueRefuses(t *testing.T) {
	t.Parallel()
	_, err := certs.Issue("x", nil, time.Now(), time.Hour)
	require.ErrorContains(t, err, "no host is named")
	_, err = certs.Issue("x", []string{"a"}, time.Now(), 0)
	require.ErrorContains(t, err, "not positive")
}

func TestWriteServing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "serving")
	for range 2 { // a second leaf replaces the first
		issued, err := certs.Issue("x", []string{"127.0.0.1"}, time.Now(), time.Hour)
		require.NoError(t, err)
		require.NoError(t, certs.WriteServing(dir, issued.Leaf, issued.CA.Cert))
		loaded, err := tls.LoadX509KeyPair(filepath.Join(dir, certs.CertFile), filepath.Join(dir, certs.KeyFile))
		require.NoError(t, err)
		assert.Equal(t, parse(t, issued.Leaf).Raw, loaded.Certificate[0])
	}
	info, err := os.Stat(filepath.Join(dir, certs.KeyFile))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "the key is the owner's only")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 5, "three files, and the folder that they are in by a link: nothing is left behind")
}

// A server that reads both files at any moment finds a certificate and its own key.
func TestWriteServingChangesAllAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var pairs []certs.Issued
	for range 2 {
		issued, err := certs.Issue("x", []string{"127.0.0.1"}, time.Now(), time.Hour)
		require.NoError(t, err)
		pairs = append(pairs, issued)
	}
	require.NoError(t, certs.WriteServing(dir, pairs[0].Leaf, pairs[0].CA.Cert))
	done := make(chan error)
	go func() {
		var failed error
		for i := range 200 {
			issued := pairs[i%2]
			failed = errors.Join(failed, certs.WriteServing(dir, issued.Leaf, issued.CA.Cert))
		}
		done <- failed
	}()
	for {
		select {
		case err := <-done:
			require.NoError(t, err)
			return
		default:
		}
		// As in a kubelet's mount: a reader that opens the link reads one generation.
		generation, err := os.Readlink(filepath.Join(dir, "..data"))
		require.NoError(t, err)
		folder := filepath.Join(dir, generation)
		if _, err := tls.LoadX509KeyPair(filepath.Join(folder, certs.CertFile), filepath.Join(folder, certs.KeyFile)); !errors.Is(err, os.ErrNotExist) {
			require.NoError(t, err)
		}
	}
}

// What a killed process left behind is tidied up, and files of before are replaced.
func TestWriteServingTidiesUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "..pair-left"), 0o700))
	require.NoError(t, os.Symlink("..pair-left", filepath.Join(dir, "....data.next")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, certs.CertFile), []byte("before"), 0o600))
	issued, err := certs.Issue("x", []string{"127.0.0.1"}, time.Now(), time.Hour)
	require.NoError(t, err)
	require.NoError(t, certs.WriteServing(dir, issued.Leaf, issued.CA.Cert))
	_, err = tls.LoadX509KeyPair(filepath.Join(dir, certs.CertFile), filepath.Join(dir, certs.KeyFile))
	require.NoError(t, err)
	require.NoDirExists(t, filepath.Join(dir, "..pair-left"))
}

func TestWriteServingSaysWhatFailed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.ErrorContains(t, certs.WriteServing(file, certs.Pair{}, nil), "cannot make serving directory")
}
