package svcat_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// canary stands for what is secret.
const canary = "s3cr3t-canary"

// poisoned has it wherever a secret may be.
const poisoned = `
apiVersion: v1
kind: Secret
metadata: {name: more, labels: {label: s3cr3t-canary}}
stringData: {parameters: '{"password": "s3cr3t-canary"}', username: s3cr3t-canary, password: s3cr3t-canary}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ServiceInstance
metadata:
  name: poisoned
  annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"spec":{"parameters":{"password":"s3cr3t-canary"}}}'}
spec: {serviceClassExternalName: own, servicePlanExternalName: only, parameters: {password: s3cr3t-canary}, parametersFrom: [{secretKeyRef: {name: more, key: parameters}}]}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ServiceBroker
metadata: {name: poisoned, annotations: {note: s3cr3t-canary}}
spec: {url: "https://broker.invalid/s3cr3t-canary", authInfo: {basic: {secretRef: {name: more}}}}
`

// TestBundleHoldsNoSecret: what support gets has how things stand, and none of what is secret;
// a user with few rights gets a bundle too, which says what it lacks.
func TestBundleHoldsNoSecret(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.Apply(`{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ServiceClass, metadata: {name: own}, spec: {externalName: own, externalID: NAME(own), description: x, bindable: true}}
---
{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ServicePlan, metadata: {name: own}, spec: {externalName: only, externalID: NAME(only), description: x, serviceClassRef: {name: own}}}
`)
	e.Apply(poisoned)
	file := filepath.Join(t.TempDir(), "bundle.tar.gz")
	got := e.run("", "doctor", "-n", e.Namespace, "--bundle", file)
	require.Zero(t, got.code, "%s%s", got.out, got.err)
	assert.Contains(t, got.out, file+" was written: ")
	again := e.run("", "check", "--bundle", file)
	assert.Equal(t, 2, again.code)
	assert.Contains(t, again.err, file+" is there already")

	streamed := e.run("", "check", "-n", e.Namespace, "--bundle", "-")
	require.Zero(t, streamed.code, streamed.err)
	files := filesIn(t, streamed.out)
	for name, text := range files {
		assert.NotContains(t, text, canary, name)
		assert.NotContains(t, text, base64.StdEncoding.EncodeToString([]byte(canary)), name)
	}
	assert.Contains(t, files["svcat-bundle/serviceinstances.json"], `"name": "poisoned"`)
	assert.Contains(t, files["svcat-bundle/servicebrokers.json"], `"name": "poisoned"`)
	assert.Contains(t, files["svcat-bundle/webhooks.json"], `"notAfter"`)
	assert.Contains(t, files["svcat-bundle/check.json"], `"findings"`)

	little := e.run("", "check", "-n", e.Namespace, "--bundle", "-", "--as", "jane")
	require.Zero(t, little.code, little.err)
	assert.Contains(t, filesIn(t, little.out)["svcat-bundle/README.txt"], "- serviceinstances.json: ")
}

// filesIn are the files of a bundle.
func filesIn(t *testing.T, content string) map[string]string {
	t.Helper()
	plain, err := gzip.NewReader(bytes.NewReader([]byte(content)))
	require.NoError(t, err)
	files := map[string]string{}
	for archive := tar.NewReader(plain); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		require.NoError(t, err)
		text, err := io.ReadAll(archive)
		require.NoError(t, err)
		files[header.Name] = string(text)
	}
}
