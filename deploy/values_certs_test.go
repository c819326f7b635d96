package deploy_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	mutating   = "~MutatingWebhookConfiguration defaultplan-webhook"
	validating = "~ValidatingWebhookConfiguration defaultplan-webhook"
)

// certificates are the changes that add cert-manager's objects, and managed those that
// take away what the keeper and the webhook need for our own. switching are those that let the keeper read
// cert-manager's Secret.
var certificates, managed, switching = each("+", "certs/cert-manager"), each("-", "certs/managed"), each("+", "certs/switch")

// certCases are the steps of a switch, and what goes with a certificate.
var certCases = map[string]valueCase{
	"certs.certManager.issue": {
		"first step: cert-manager's is issued, and trusted too; the pods still serve their own", []string{`certs.certManager.issue=true`},
		with(certificates, with(switching, keeper)...), `"--certs-also-trust=defaultplan-webhook-tls"`,
	},
	"certs.certManager.inject": {
		"second step: the pods serve cert-manager's; the configurations are left as they are, and so is what old pods need",
		[]string{`certs.mode="cert-manager"`, `certs.certManager.inject=false`}, with(certificates, with(switching, webhook, keeper)...), `"secret":{"secretName":"defaultplan-webhook-tls"}`,
	},
	"certs.mode": {
		"third step: only cert-manager's is trusted, and nothing else is left", []string{`certs.mode="cert-manager"`},
		with(certificates, with(managed, webhook, keeper, mutating, validating)...),
		`"cert-manager.io/inject-ca-from":"defaultplan-system/defaultplan-webhook"`,
	},
	"certs.certManager.issuerRef": {
		"an issuer of the cluster takes the place of the chain", []string{`certs.certManager.issue=true`, `certs.certManager.issuerRef={"kind":"ClusterIssuer","name":"corporate"}`},
		with(switching, "+Certificate defaultplan-system/defaultplan-webhook", keeper), `"issuerRef":{"kind":"ClusterIssuer","name":"corporate"}`,
	},
	"certs.clientCA.configMap": {
		"only the API server is answered", []string{`certs.clientCA.configMap="clients"`}, []string{webhook}, `"--client-ca-file=/run/defaultplan/client-ca/ca.crt"]`,
	},
	"certs.clientCA.key": {
		"a key of another name", []string{`certs.clientCA.configMap="clients"`, `certs.clientCA.key="bundle.pem"`}, []string{webhook}, `"--client-ca-file=/run/defaultplan/client-ca/bundle.pem"`,
	},
	"certs.clientCA.names": {
		"of all that the CA signed, these", []string{`certs.clientCA.configMap="clients"`, `certs.clientCA.names=["a","b"]`}, []string{webhook}, `"--client-names=a,b"`,
	},
}

// with is the sum of changes.
func with(some []string, more ...string) []string {
	return append(append([]string{}, some...), more...)
}

// TestNobodyReadsCertManagersSecret, which has a private key in it, in any form but while
// an installation goes over to cert-manager.
func TestNobodyReadsCertManagersSecret(t *testing.T) {
	t.Parallel()
	plain, err := os.ReadFile("install.yaml")
	require.NoError(t, err)
	const issue = `certs.certManager.issue=true`
	for name, tc := range map[string]struct {
		reason string
		all    objects
		want   []string
	}{
		"Plain":       {"it serves its own", parse(t, plain), nil},
		"SelfManaged": {"it serves its own", kustomization(t, "overlays/self-managed"), nil},
		"CertManager": {"the kubelet mounts it", kustomization(t, "overlays/cert-manager"), nil},
		"Helm":        {"it serves its own", defaults(t), nil},
		"HelmIssued":  {"its CA is trusted too", chart(t, "helm", "defaultplan-system", issue), []string{"Role defaultplan-system/defaultplan-webhook-certs-switch"}},
		"HelmOver":    {"a value that was left behind gives nothing", chart(t, "helm", "defaultplan-system", issue, `certs.mode="cert-manager"`), nil},
	} {
		var found []string
		for key, object := range tc.all {
			if kind := object.GetKind(); kind != "Role" && kind != "ClusterRole" {
				continue
			}
			content, err := object.MarshalJSON()
			require.NoError(t, err)
			if strings.Contains(string(content), "defaultplan-webhook-tls") {
				found = append(found, key)
			}
		}
		assert.Equal(t, tc.want, found, "%s: %s", name, tc.reason)
	}
}
