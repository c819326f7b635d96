package install_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

// An identity is what the API server shows to webhooks: the files of
// docs/certificates.md, and the authority that signed its certificate.
type identity struct {
	t   *testing.T
	dir string
	ca  []byte
}

// admission is the file of --admission-control-config-file.
const admission = `apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: MutatingAdmissionWebhook
  configuration:
    apiVersion: apiserver.config.k8s.io/v1
    kind: WebhookAdmissionConfiguration
    kubeConfigFile: %[1]s
- name: ValidatingAdmissionWebhook
  configuration:
    apiVersion: apiserver.config.k8s.io/v1
    kind: WebhookAdmissionConfiguration
    kubeConfigFile: %[1]s
`

// showing is the kubeconfig with which the API server shows its certificate to our
// webhook, and hiding that with which it shows none to anyone.
const (
	showing = `apiVersion: v1
kind: Config
users:
- name: defaultplan-webhook.defaultplan-system.svc
  user:
    client-certificate: %s
    client-key: %s
`
	hiding = `apiVersion: v1
kind: Config
users: []
`
)

// newIdentity writes the files, with a certificate for kube-apiserver.
func newIdentity(t *testing.T) *identity {
	t.Helper()
	i := &identity{t: t, dir: suite.TempDir(t)}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "clients"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	ca, caKey := i.issue(template, template, nil)
	i.ca = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.Raw})
	leaf, leafKey := i.issue(&x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "kube-apiserver"},
		NotBefore: template.NotBefore, NotAfter: template.NotAfter, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, ca, caKey)
	key, err := x509.MarshalPKCS8PrivateKey(leafKey)
	require.NoError(t, err)
	i.write("tls.crt", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf.Raw}))
	i.write("tls.key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))
	i.write("kubeconfig", fmt.Appendf(nil, showing, i.path("tls.crt"), i.path("tls.key")))
	i.write("admission.yaml", fmt.Appendf(nil, admission, i.path("kubeconfig")))
	return i
}

// issue makes a key and has its certificate signed; by itself where by is nil.
func (i *identity) issue(template, parent *x509.Certificate, by *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
	i.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(i.t, err)
	if by == nil {
		by = key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, by)
	require.NoError(i.t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(i.t, err)
	return cert, key
}

func (i *identity) path(name string) string { return filepath.Join(i.dir, name) }

func (i *identity) write(name string, content []byte) {
	i.t.Helper()
	require.NoError(i.t, os.WriteFile(i.path(name), content, 0o600))
}

// show has the API server of a stack show its certificate.
func (i *identity) show(o *stack.Options) {
	o.ControlPlaneArgs = append(o.ControlPlaneArgs, "--admission-control-config-file="+i.path("admission.yaml"))
	o.Apart = true
}

// hide has it show none, once it is started again.
func (i *identity) hide() {
	i.t.Helper()
	i.write("kubeconfig", []byte(hiding))
}
