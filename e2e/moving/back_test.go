package moving_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/retired"
)

// TestGoingBack deletes what was imported before the old side let go of it: the brokers keep it,
// the old side has it as before, and it can be imported again.
func TestGoingBack(t *testing.T) {
	t.Parallel()
	h := newHouse(t, someInstances, someBindings)
	credentials, before := h.secrets(h.old), h.everything(h.old)
	file := h.exported()
	for range 2 {
		h.runs(h.Env, h.importing(file)...)
		h.lives(credentials)
		for _, b := range h.bindings {
			h.remove(h.StoredBinding(b.name))
		}
		for _, i := range h.instances {
			h.remove(h.Stored(i.name))
		}
		h.untouched()
	}
	assert.Equal(t, before, h.everything(h.old))
}

// TestRightsOfAMove exports as a user who may only read, imports as one who at first may not
// adopt, and lets go with the rights that docs/moving.md names.
func TestRightsOfAMove(t *testing.T) {
	t.Parallel()
	h := newHouse(t, someInstances[2:], someBindings[2:])
	credentials, file, user := h.secrets(h.old), h.file("house"), h.Name("mover")
	h.old.Grant(user, rbacv1.PolicyRule{APIGroups: []string{api.GroupName}, Resources: []string{"*"}, Verbs: []string{"get", "list"}})
	got := h.runAs(h.old, user, "export", "-o", file)
	require.Zero(t, got.Code, "%s%s", got.Stdout, got.Stderr)

	for _, role := range []string{"servicecatalog-view", "servicecatalog-edit", "servicecatalog-admin"} {
		h.GrantRole(user, role)
	}
	importing := []string{"import", file, "--wait", "60s", "-o", "json"}
	got = h.runAs(h.Env, user, importing...)
	assert.Equal(t, 1, got.Code, "%s%s", got.Stdout, got.Stderr)
	assert.Contains(t, h.rows(got.Stdout)[objectName{"ServiceInstance", "local"}].Reason, "adopt", "%s", got.Stdout)
	h.untouched()

	h.GrantRole(user, "servicecatalog-adopt")
	got = h.runAs(h.Env, user, importing...)
	assert.Zero(t, got.Code, "%s%s", got.Stdout, got.Stderr)
	h.lives(credentials)

	h.Grant(user, rbacv1.PolicyRule{APIGroups: []string{api.GroupName}, Resources: []string{"serviceinstances", "servicebindings"}, Verbs: []string{"get", "patch"}})
	h.old.Grant(user, rbacv1.PolicyRule{APIGroups: []string{api.GroupName}, Resources: []string{"serviceinstances", "servicebindings"}, Verbs: []string{"delete", "patch"}})
	h.old.Grant(user, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get", "patch"}})
	to, err := h.KubeconfigFor(t.Context(), user)
	require.NoError(t, err)
	got = h.runAs(h.old, user, "export", "--release", file, "--to-kubeconfig", to)
	assert.Zero(t, got.Code, "%s%s", got.Stdout, got.Stderr)
	assert.Contains(t, got.Stderr, "whether a controller of the old side still runs", "it may not look for one")
	h.ends()
}

// runAs is run for a user.
func (h *house) runAs(side *env.Env, user string, args ...string) env.Result {
	h.Helper()
	kubeconfig, err := side.KubeconfigFor(h.Context(), user)
	require.NoError(h, err)
	return side.Exec(env.Command{
		Binary: "svcat", Args: slices.Concat([]string{"-n", side.Namespace}, args), Environment: append(side.Environment(), "KUBECONFIG="+kubeconfig),
	})
}

// TestExportOfAllNamespaces has the objects of each, and the brokers of both scopes.
func TestExportOfAllNamespaces(t *testing.T) {
	t.Parallel()
	h, other := newHouse(t, someInstances, someBindings), newHouse(t, someInstances[2:], nil)
	file := h.file("all")
	h.runs(h.old, "export", "-A", "-o", file)
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, namespace := range []string{h.old.Namespace, other.old.Namespace} {
		assert.GreaterOrEqual(t, strings.Count(string(content), namespace), 4, "its broker, class, plan and instance")
	}
	assert.Contains(t, string(content), h.cluster.URL)
	assert.NotContains(t, string(content), canary)
}

// TestExportBesideWrongTypes: the retired definitions have no schema. What a user stored there with a
// field of another type, or nested as deep as a request may be, keeps no other's object out of a file.
func TestExportBesideWrongTypes(t *testing.T) {
	t.Parallel()
	h, hostile := newHouse(t, someInstances, someBindings), newHouse(t, nil, nil)
	deep := any(1)
	for range 9_990 {
		deep = []any{deep}
	}
	for name, spec := range map[string]object{"typed": {"externalID": 5}, "deep": {"parameters": object{"deep": deep}}} {
		require.NoError(t, retired.Store(h.Context(), h.old.Client(), hostile.stored("ServiceInstance", name, spec, object{})), name)
	}
	for _, which := range [][]string{{"-A"}, {"-n", h.old.Namespace}} {
		file := h.file(which[0])
		said := h.runs(h.old, append([]string{"export", "-o", file}, which...)...)
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, one := range someInstances {
			assert.Contains(t, string(content), h.instanceID(one.name))
		}
		if which[0] == "-A" {
			assert.Contains(t, said, hostile.old.Namespace+"/typed is not in the file")
			assert.Regexp(t, hostile.old.Namespace+` +deep +not moved`, said)
		}
	}
}
