package deploy_test

const (
	mutating   = "~MutatingWebhookConfiguration defaultplan-webhook"
	validating = "~ValidatingWebhookConfiguration defaultplan-webhook"
)

// certificates are the changes that add cert-manager's objects, and managed those that
// take away what the webhook needs to make its own.
var certificates, managed = each("+", "certs/cert-manager"), each("-", "certs/managed")

// certCases are the steps of a switch, and what goes with a certificate.
var certCases = map[string]valueCase{
	"certs.certManager.issue": {
		"first step: cert-manager's is issued, and trusted too; the pods still serve their own", []string{`certs.certManager.issue=true`},
		with(certificates, webhook), `"--certs-also-trust=defaultplan-webhook-tls"`,
	},
	"certs.certManager.inject": {
		"second step: the pods serve cert-manager's; the configurations are left as they are, and so is what old pods need",
		[]string{`certs.mode="cert-manager"`, `certs.certManager.inject=false`}, with(certificates, webhook), `"secret":{"secretName":"defaultplan-webhook-tls"}`,
	},
	"certs.mode": {
		"third step: only cert-manager's is trusted, and nothing else is left", []string{`certs.mode="cert-manager"`},
		with(certificates, with(managed, webhook, mutating, validating)...),
		`"cert-manager.io/inject-ca-from":"defaultplan-system/defaultplan-webhook"`,
	},
	"certs.certManager.issuerRef": {
		"an issuer of the cluster takes the place of the chain", []string{`certs.certManager.issue=true`, `certs.certManager.issuerRef={"kind":"ClusterIssuer","name":"corporate"}`},
		[]string{"+Certificate defaultplan-system/defaultplan-webhook", webhook}, `"issuerRef":{"kind":"ClusterIssuer","name":"corporate"}`,
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
