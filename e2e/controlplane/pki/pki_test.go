package pki_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/defaultplan/defaultplan/e2e/controlplane/pki"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	start = time.Date(2030, time.May, 4, 12, 0, 0, 0, time.UTC)
	names = []string{
		pki.CACert, pki.CAKey, pki.ServerCert, pki.ServerKey,
		pki.AdminCert, pki.AdminKey, pki.ServiceAccountKey,
	}
)

func TestEnsureIssuesCertificatesThatVerify(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason     string
		cert, key  string
		dnsName    string
		usage      x509.ExtKeyUsage
		commonName string
		groups     []string
	}{
		"ServerByAddress": {
			reason: "kubeconfigs name the loopback address",
			cert:   pki.ServerCert, key: pki.ServerKey, dnsName: "127.0.0.1",
			usage: x509.ExtKeyUsageServerAuth, commonName: "kube-apiserver",
		},
		"ServerByName": {
			reason: "a person types localhost",
			cert:   pki.ServerCert, key: pki.ServerKey, dnsName: "localhost",
			usage: x509.ExtKeyUsageServerAuth, commonName: "kube-apiserver",
		},
		"Admin": {
			reason: "the API server takes the groups from the organisation",
			cert:   pki.AdminCert, key: pki.AdminKey,
			usage: x509.ExtKeyUsageClientAuth, commonName: "admin", groups: []string{"system:masters"},
		},
	}
	dir := t.TempDir()
	require.NoError(t, pki.Ensure(dir, start))
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(read(t, dir, pki.CACert)))
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pair, err := tls.LoadX509KeyPair(filepath.Join(dir, tc.cert), filepath.Join(dir, tc.key))
			require.NoError(t, err, tc.reason)
			_, err = pair.Leaf.Verify(x509.VerifyOptions{
				Roots: roots, DNSName: tc.dnsName, CurrentTime: start, KeyUsages: []x509.ExtKeyUsage{tc.usage},
			})
			require.NoError(t, err, tc.reason)
			assert.Equal(t, tc.commonName, pair.Leaf.Subject.CommonName, tc.reason)
			assert.Equal(t, tc.groups, pair.Leaf.Subject.Organization, tc.reason)
		})
	}
}

func TestEnsureKeepsWhatIsGood(t *testing.T) {
	t.Parallel()
	const year = 365 * 24 * time.Hour
	server, admin := []string{pki.ServerCert, pki.ServerKey}, []string{pki.AdminCert, pki.AdminKey}
	leaves := append(append([]string{}, server...), admin...)
	cases := map[string]struct {
		reason  string
		remove  []string
		later   time.Duration
		changed []string
	}{
		"Unchanged":     {reason: "a restart leaves kubeconfigs and tokens right", later: 9 * year},
		"ServerKeyLost": {reason: "a start killed half-way is made good", remove: []string{pki.ServerKey}, changed: server},
		"AdminLost":     {reason: "only what is missing is created again", remove: []string{pki.AdminCert}, changed: admin},
		"CALost": {
			reason: "certificates of a CA that is gone are worthless",
			remove: []string{pki.CAKey}, changed: append([]string{pki.CACert, pki.CAKey}, leaves...),
		},
		"SigningKeyLost": {reason: "tokens need a key", remove: []string{pki.ServiceAccountKey}, changed: []string{pki.ServiceAccountKey}},
		"NearlyExpired": {
			reason: "a certificate must outlast the process; the token key has no end",
			later:  10*year - time.Hour, changed: append([]string{pki.CACert, pki.CAKey}, leaves...),
		},
		"ClockSetBack": {
			reason: "a certificate that is not valid yet is of no use",
			later:  -2 * time.Hour, changed: append([]string{pki.CACert, pki.CAKey}, leaves...),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.NoError(t, pki.Ensure(dir, start))
			before := readAll(t, dir)
			for _, file := range tc.remove {
				require.NoError(t, os.Remove(filepath.Join(dir, file)))
			}
			require.NoError(t, pki.Ensure(dir, start.Add(tc.later)))
			changed := []string{}
			for file, content := range readAll(t, dir) {
				if content != before[file] {
					changed = append(changed, file)
				}
			}
			assert.ElementsMatch(t, tc.changed, changed, tc.reason)
		})
	}
}

func TestEnsureRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ reason, file, want string }{
		"CACertificate": {
			reason: "a user's file is not overwritten", file: pki.CACert, want: `cannot read certificate "ca.crt"`,
		},
		"AdminKey": {
			reason: "the certificate that it belongs to is named", file: pki.AdminKey, want: `cannot read certificate "admin.crt"`,
		},
		"SigningKey": {
			reason: "a key that is no key would end the API server much later", file: pki.ServiceAccountKey,
			want: `cannot read key "service-account.key": not PEM: remove the file`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.NoError(t, pki.Ensure(dir, start))
			require.NoError(t, os.WriteFile(filepath.Join(dir, tc.file), []byte("s3cret"), 0o600))
			err := pki.Ensure(dir, start)
			require.ErrorContains(t, err, tc.want, tc.reason)
			assert.NotContains(t, err.Error(), "s3cret")
			assert.Equal(t, "s3cret", string(read(t, dir, tc.file)), tc.reason)
		})
	}
}

func TestEnsureLetsOnlyTheOwnerRead(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "pki")
	require.NoError(t, pki.Ensure(dir, start))
	for _, file := range names {
		info, err := os.Stat(filepath.Join(dir, file))
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), file)
	}
	block, _ := pem.Decode(read(t, dir, pki.ServiceAccountKey))
	require.NotNil(t, block)
	_, err := x509.ParseECPrivateKey(block.Bytes)
	require.NoError(t, err)
}

func read(t *testing.T, dir, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, file))
	require.NoError(t, err)
	return content
}

func readAll(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, file := range names {
		all[file] = string(read(t, dir, file))
	}
	return all
}
