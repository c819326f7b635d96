package certmanager_test

import (
	"io/fs"
	"testing"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/certs/certmanager"
	"github.com/defaultplan/defaultplan/deploy"
)

// The shipped file is what the generator writes.
func TestTheManifestIsCurrent(t *testing.T) {
	t.Parallel()
	want, err := certmanager.Manifest("defaultplan-system", "defaultplan-webhook")
	require.NoError(t, err)
	shipped, err := fs.ReadFile(deploy.Manifests, "certs/cert-manager/certificates.yaml")
	require.NoError(t, err)
	assert.Equal(t, string(want), string(shipped), "run make generate")
}

// Each issuer issues what the next one needs, and no authority ends before its leaves.
func TestTheObjectsFitTogether(t *testing.T) {
	t.Parallel()
	objects := certmanager.Objects("ns", "hooks")
	require.Len(t, objects, 4)
	first, ca := objects[0].(*certmanagerv1.Issuer), objects[1].(*certmanagerv1.Certificate)
	second, leaf := objects[2].(*certmanagerv1.Issuer), objects[3].(*certmanagerv1.Certificate)

	assert.NotNil(t, first.Spec.SelfSigned)
	assert.Equal(t, first.Name, ca.Spec.IssuerRef.Name)
	assert.True(t, ca.Spec.IsCA)
	assert.Equal(t, certmanagerv1.RotationPolicyNever, ca.Spec.PrivateKey.RotationPolicy, "a new key would be a new authority, which is not trusted yet")
	assert.Equal(t, ca.Spec.SecretName, second.Spec.CA.SecretName)
	assert.Equal(t, second.Name, leaf.Spec.IssuerRef.Name)
	assert.Equal(t, certmanager.Secret, leaf.Spec.SecretName)
	assert.Equal(t, certmanager.Certificate, leaf.Name)
	assert.Equal(t, []string{"hooks.ns.svc"}, leaf.Spec.DNSNames)
	assert.Greater(t, ca.Spec.Duration.Duration, 5*leaf.Spec.Duration.Duration)
	for _, object := range []*certmanagerv1.Certificate{ca, leaf} {
		assert.Equal(t, "ns", object.Namespace)
		assert.Equal(t, certmanagerv1.ECDSAKeyAlgorithm, object.Spec.PrivateKey.Algorithm)
	}
}
