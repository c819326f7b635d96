package moving_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
)

// TestMove moves objects of every state, and uses them afterwards.
func TestMove(t *testing.T) {
	t.Parallel()
	h := newHouse(t, everyInstance, everyBinding)
	credentials := h.secrets(h.old)
	file := h.exported()
	h.dryRunWritesNothing(file)
	h.imported(file)
	h.lives(credentials)
	assert.Equal(t, "small", h.Stored("copied").Spec.ClusterServicePlanExternalName, "the plan that has the ID here")
	h.importedAgain(file)
	h.released(file)
	h.untouched()
	h.goesOn()
}

// exported is the file of what the old side has, Secrets included, to which nothing was
// written.
func (h *house) exported() string {
	h.Helper()
	before := h.everything(h.old)
	file := h.file("house")
	h.runs(h.old, "export", "-o", file, "--with-secrets", "--recipient", h.identity("identity"))
	assert.Equal(h, before, h.everything(h.old), "an export only reads")
	info, err := os.Stat(file)
	require.NoError(h, err)
	assert.Equal(h, os.FileMode(0o600), info.Mode().Perm())
	return file
}

func (h *house) writesFile(name, content string) {
	h.Helper()
	require.NoError(h, os.WriteFile(h.file(name), []byte(content), 0o600))
}

// importing are the arguments of svcat import.
func (h *house) importing(file string, more ...string) []string {
	return append([]string{"import", file, "--identity", h.file("identity"), "--wait", "60s", "-o", "json"}, more...)
}

func (h *house) dryRunWritesNothing(file string) {
	h.Helper()
	before := h.everything(h.Env)
	got := h.run(h.Env, h.importing(file, "--dry-run")...)
	assert.Equal(h, before, h.everything(h.Env), "--dry-run writes nothing")
	assert.Equal(h, 1, got.Code, "some of it stays: %s%s", got.Stdout, got.Stderr)
	h.tells(got.Stdout, "would move")
	h.untouched()
}

// imported has everything live on the new side that can move, and says why the rest stays.
func (h *house) imported(file string) {
	h.Helper()
	got := h.run(h.Env, h.importing(file)...)
	require.Equal(h, 1, got.Code, "some of it stays: %s%s", got.Stdout, got.Stderr)
	h.tells(got.Stdout, "moved")
}

// importedAgain: there is nothing more to do.
func (h *house) importedAgain(file string) {
	h.Helper()
	before := h.everything(h.Env)
	for _, more := range [][]string{{"--dry-run"}, nil} {
		got := h.run(h.Env, h.importing(file, more...)...)
		h.tells(got.Stdout, "unchanged")
		assert.Equal(h, before, h.everything(h.Env), "%v", more)
	}
}

// tells asserts what a report says of each object: that it has the result, or why it stays.
func (h *house) tells(report, result string) {
	h.Helper()
	rows := h.rows(report)
	for name, expected := range h.expected() {
		row := rows[name]
		if expected.moved != "" {
			assert.Equal(h, result, row.Result, "%v: %s", name, row.Reason)
			continue
		}
		assert.Equal(h, "not moved", row.Result, "%v: %s", name, row.Reason)
		assert.Contains(h, row.Reason, expected.why, "%v", name)
	}
}

// A row is what a report says of one object.
type row struct{ Kind, Name, Result, Reason string }

// rows are those of a report in JSON.
func (h *house) rows(report string) map[objectName]row {
	h.Helper()
	var read struct{ Objects []row }
	require.NoError(h, json.Unmarshal([]byte(report), &read), "%s", report)
	all := map[objectName]row{}
	for _, one := range read.Objects {
		all[objectName{one.Kind, one.Name}] = one
	}
	return all
}

// An objectName names an instance or a binding.
type objectName struct{ kind, name string }

// An expectation is what becomes of an object: the reason of Ready on the new side, or why it
// stays.
type expectation struct {
	moved, why string
	// owned says that the old side let go of it, and would have removed it at the broker.
	owned bool
	// stays says that it is on the old side in the end.
	stays bool
}

func (h *house) expected() map[objectName]expectation {
	all := map[objectName]expectation{}
	for _, i := range h.instances {
		stays := i.moved == "" || i.bound
		all[objectName{"ServiceInstance", i.name}] = expectation{i.moved, i.why, !stays && i.state != "Adopted", stays}
	}
	for _, b := range h.bindings {
		all[objectName{"ServiceBinding", b.name}] = expectation{b.moved, b.why, b.moved != "", b.moved == ""}
	}
	return all
}

// find is an object of one side.
func (h *house) find(side *env.Env, name objectName) (*unstructured.Unstructured, bool) {
	h.Helper()
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(api.GroupVersion.WithKind(name.kind))
	found.SetNamespace(side.Namespace)
	found.SetName(name.name)
	return found, !side.Absent(found)
}

// lives asserts what the new side has: what moved, as what it was, and nothing else.
func (h *house) lives(credentials map[string]map[string]string) {
	h.Helper()
	for name, expected := range h.expected() {
		stored, is := h.find(h.Env, name)
		assert.Equal(h, expected.moved != "", is, "%v", name)
		if !is {
			continue
		}
		assert.Equal(h, "True "+expected.moved, readyOf(stored), "%v", name)
		old, _ := h.find(h.old, name)
		for _, field := range []string{"externalID", "parameters", "parametersFrom", "secretTransforms", "secretName", "instanceRef"} {
			assert.Equal(h, old.Object["spec"].(object)[field], stored.Object["spec"].(object)[field], "%v: %s", name, field)
		}
		assert.NotContains(h, stored.GetAnnotations(), api.AnnotationDeprovisionAdopted, "%v: the old side owns it still", name)
	}
	here := h.secrets(h.Env)
	for _, b := range h.bindings {
		if b.moved == "" {
			continue
		}
		assert.Equal(h, credentials[b.name], here[b.name], "the credentials of %s are the same", b.name)
		assert.True(h, h.ownsSecret(b.name), "and its own")
	}
}

// ownsSecret says whether the Secret of a binding on the new side is controlled by it.
func (h *house) ownsSecret(binding string) bool {
	h.Helper()
	stored := h.StoredBinding(binding)
	secret := h.ReadSecret(binding)
	return slices.ContainsFunc(secret.OwnerReferences, func(owner ownerReference) bool { return owner.UID == stored.UID })
}

// readyOf is what the condition Ready of an object says.
func readyOf(stored *unstructured.Unstructured) string {
	conditions, _, _ := unstructured.NestedSlice(stored.Object, "status", "conditions")
	for _, item := range conditions {
		if condition, is := item.(object); is && condition["type"] == api.ConditionReady {
			return fmt.Sprintf("%v %v", condition["status"], condition["reason"])
		}
	}
	return ""
}

// secrets are those of the namespace on one side, by name and key.
func (h *house) secrets(side *env.Env) map[string]map[string]string {
	h.Helper()
	list := &corev1.SecretList{}
	require.NoError(h, side.Client().List(h.Context(), list, client.InNamespace(side.Namespace)))
	all := map[string]map[string]string{}
	for _, secret := range list.Items {
		all[secret.Name] = map[string]string{}
		for key, value := range secret.Data {
			all[secret.Name][key] = string(value)
		}
	}
	return all
}

// everything is the version of each object of ours and of each Secret that a side has in the
// namespace, and of the cluster's brokers of this test.
func (h *house) everything(side *env.Env) map[string]string {
	h.Helper()
	all := map[string]string{}
	for kind, list := range map[string]client.ObjectList{
		"instance": &api.ServiceInstanceList{}, "binding": &api.ServiceBindingList{}, "broker": &api.ServiceBrokerList{}, "secret": &corev1.SecretList{},
	} {
		require.NoError(h, side.Client().List(h.Context(), list, client.InNamespace(side.Namespace)))
		h.versions(all, kind, list)
	}
	list := &api.ClusterServiceBrokerList{}
	require.NoError(h, side.Client().List(h.Context(), list, client.MatchingFields{"metadata.name": h.Name("broker")}))
	h.versions(all, "cluster broker", list)
	return all
}

func (h *house) versions(into map[string]string, kind string, list client.ObjectList) {
	h.Helper()
	content, err := json.Marshal(list)
	require.NoError(h, err)
	var read struct {
		Items []struct {
			Metadata struct{ Name, ResourceVersion string }
		}
	}
	require.NoError(h, json.Unmarshal(content, &read))
	for _, item := range read.Items {
		into[kind+" "+item.Metadata.Name] = item.Metadata.ResourceVersion
	}
}
