package moving_test

import (
	"os"
	"testing"

	"filippo.io/age"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
)

// TestMoveWithoutSecrets moves to a namespace of another name, by a file that lists Secrets and
// carries none: those that are needed are created by hand.
func TestMoveWithoutSecrets(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	h := furnished(e, e.Name("shop"), []instance{someInstances[0], someInstances[1]}, []binding{
		someBindings[0],
		{name: "plain-renamed", instance: "plain", state: "Ready", renamed: true, why: "Secret"},
	})
	credentials, file := h.secrets(h.old), h.file("house")
	h.runs(h.old, "export", "-o", file)
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.NotContains(t, string(content), canary, "no content of a Secret is in the file")
	for _, listed := range []string{"orders-parameters", "plain-renamed", "auth"} {
		assert.Contains(t, string(content), listed, "the Secret is listed")
	}

	mapped := []string{"import", file, "--wait", "60s", "-o", "json", "--map", h.old.Namespace + "=" + h.Namespace}
	got := h.run(h.Env, mapped...)
	assert.NotZero(t, got.Code, "the broker's password is not there: %s", got.Stdout)
	assert.Contains(t, got.Stdout+got.Stderr, "--broker-secret")
	h.Create(
		&corev1.Secret{ObjectMeta: h.Meta("password"), StringData: map[string]string{"username": username, "password": password}},
		&corev1.Secret{ObjectMeta: h.Meta("orders-parameters"), StringData: map[string]string{"parameters": someInstances[0].secret}},
	)
	mapped = append(mapped, "--broker-secret", h.old.Namespace+"/auth="+h.Namespace+"/password")
	got = h.run(h.Env, mapped...)
	assert.Equal(t, 1, got.Code, "a Secret that cannot be fetched again is missing: %s%s", got.Stdout, got.Stderr)
	h.tells(got.Stdout, "moved")

	moved := h.bindings
	h.bindings = moved[:1]
	h.lives(credentials)
	h.bindings = moved
	got = h.run(h.old, "export", "--release", file, "--to-kubeconfig", h.Kubeconfig(), "--map", h.old.Namespace+"="+h.Namespace)
	assert.Equal(t, 1, got.Code, "%s%s", got.Stdout, got.Stderr)
	_, is := h.find(h.old, objectName{"ServiceBinding", "plain-renamed"})
	assert.True(t, is, "what did not move is not let go")
	_, is = h.find(h.old, objectName{"ServiceInstance", "plain"})
	assert.True(t, is, "nor is its instance: %s", got.Stdout)
	_, is = h.find(h.old, objectName{"ServiceInstance", "orders"})
	assert.False(t, is)
	h.untouched()
}

// TestMoveUnderOtherNames moves an instance and its binding to other names of one namespace.
func TestMoveUnderOtherNames(t *testing.T) {
	t.Parallel()
	h := newHouse(t, someInstances[:1], someBindings[:1])
	file := h.file("house")
	h.runs(h.old, "export", "-o", file)
	h.Create(
		&corev1.Secret{ObjectMeta: h.Meta("password"), StringData: map[string]string{"username": username, "password": password}},
		&corev1.Secret{ObjectMeta: h.Meta("orders-parameters"), StringData: map[string]string{"parameters": someInstances[0].secret}},
	)
	renamed := []string{"--map", "instance/" + h.old.Namespace + "/orders=database", "--map", "binding/" + h.old.Namespace + "/orders-reader=reader"}
	h.runs(h.Env, append([]string{"import", file, "--wait", "60s", "--broker-secret", h.old.Namespace + "/auth=" + h.Namespace + "/password"}, renamed...)...)
	instance, binding := h.Stored("database"), h.StoredBinding("reader")
	assert.Equal(t, "database", binding.InstanceKey().Name)
	assert.Equal(t, "orders-reader", binding.Spec.SecretName, "its Secret keeps its name")
	for old, id := range map[objectName]string{{"ServiceInstance", "orders"}: instance.Spec.ExternalID, {"ServiceBinding", "orders-reader"}: binding.Spec.ExternalID} {
		stored, _ := h.find(h.old, old)
		assert.Equal(t, stored.Object["spec"].(object)["externalID"], id, "%v", old)
	}
	h.runs(h.old, append([]string{"export", "--release", file, "--to-kubeconfig", h.Kubeconfig()}, renamed...)...)
	for _, name := range []objectName{{"ServiceInstance", "orders"}, {"ServiceBinding", "orders-reader"}} {
		_, is := h.find(h.old, name)
		assert.False(t, is, "%v", name)
	}
	h.untouched()
	h.Delete(binding)
	h.Gone(binding)
	h.Delete(instance)
	h.Gone(instance)
}

// TestMoveEncrypted encrypts the whole file, to a recipient or with a passphrase: Secrets are
// carried in no other way, and what does not open the file reads nothing of it.
func TestMoveEncrypted(t *testing.T) {
	t.Parallel()
	h := newHouse(t, someInstances, someBindings)
	credentials, file := h.secrets(h.old), h.file("house")
	h.identity("stranger")
	h.writesFile("passphrase", "a long enough passphrase\n")
	got := h.run(h.old, "export", "-o", file, "--with-secrets")
	assert.NotZero(t, got.Code)
	assert.Contains(t, got.Stderr, "--recipient", "it says what is missing")
	assert.NoFileExists(t, file)

	before := h.everything(h.Env)
	for _, to := range [][]string{{"--recipient", h.identity("identity")}, {"--passphrase-file", h.file("passphrase")}} {
		h.runs(h.old, append([]string{"export", "-o", file, "--with-secrets"}, to...)...)
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, plain := range []string{canary, "orders", api.GroupName, h.Suffix} {
			assert.NotContains(t, string(content), plain, "the whole file is encrypted")
		}
		for _, wrong := range [][]string{nil, {"--identity", h.file("stranger")}} {
			got = h.run(h.Env, append([]string{"import", file}, wrong...)...)
			assert.NotZero(t, got.Code, "%v", wrong)
			assert.NotEmpty(t, got.Stderr, "%v", wrong)
		}
	}
	opened := []string{"--passphrase-file", h.file("passphrase")}
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	cut := h.file("cut")
	require.NoError(t, os.WriteFile(cut, content[:len(content)-100], 0o600))
	got = h.run(h.Env, append([]string{"import", cut}, opened...)...)
	assert.NotZero(t, got.Code, "a file that was cut is not read in part")
	assert.Equal(t, before, h.everything(h.Env))

	h.runs(h.Env, append([]string{"import", file, "--wait", "60s"}, opened...)...)
	h.lives(credentials)
	h.runs(h.old, append([]string{"export", "--release", file, "--to-kubeconfig", h.Kubeconfig()}, opened...)...)
	h.ends()
}

// identity writes a new identity of age to a file and returns its recipient.
func (h *house) identity(name string) (recipient string) {
	h.Helper()
	identity, err := age.GenerateX25519Identity()
	require.NoError(h, err)
	h.writesFile(name, identity.String()+"\n")
	return identity.Recipient().String()
}
