package instances_test

import (
	"encoding/json"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/e2e/env"
)

// The ways to write a database. Each is a function of what is written that
// returns the write itself.

// apply is kubectl apply; what it applied is no difference to kubectl diff.
func apply(user string, manifest func(*database) string) func(*database) {
	return func(d *database) {
		d.Helper()
		d.Kubectl(manifest(d), "--as", user, "apply", "-f", "-")
		assert.Empty(d, d.Kubectl(manifest(d), "--as", user, "diff", "-f", "-"), "kubectl diff after kubectl apply")
	}
}

// applyServerSide is kubectl apply --server-side by a field manager.
func applyServerSide(user, manager string, manifest func(*database) string, more ...string) func(*database) {
	return func(d *database) {
		d.Helper()
		args := append([]string{"--as", user, "apply", "--server-side", "--field-manager", manager, "-f", "-"}, more...)
		d.Kubectl(manifest(d), args...)
		diff := append([]string{"--as", user, "diff", "--server-side", "--field-manager", manager, "-f", "-"}, more...)
		assert.Empty(d, d.Kubectl(manifest(d), diff...), "kubectl diff after kubectl apply")
	}
}

// create is kubectl create by alice.
func create(manifest func(*database) string, more ...string) func(*database) {
	return func(d *database) {
		d.Helper()
		d.Kubectl(manifest(d), append([]string{"--as", env.Alice, "create", "-f", "-"}, more...)...)
	}
}

// replace is kubectl replace: a PUT of the manifest alone.
func replace(user string, manifest func(*database) string) func(*database) {
	return func(d *database) {
		d.Helper()
		d.Kubectl(manifest(d), "--as", user, "replace", "-f", "-")
	}
}

// rewrite is bob's: he reads the instance, changes it and PUTs it.
func rewrite(change func(*unstructured.Unstructured)) func(*database) {
	return func(d *database) {
		d.Helper()
		object := wire(d.Env)
		change(object)
		require.NoError(d, d.As(env.Bob).Client().Update(d.Context(), object))
	}
}

// patcher is the field manager of patch.
const patcher = "patcher"

// patch sends a patch of a kind.
func patch(user string, kind types.PatchType, content string) func(*database) {
	return func(d *database) {
		d.Helper()
		require.NoError(d, d.As(user).Client().Patch(d.Context(), d.Instance("db"), client.RawPatch(kind, []byte(content)), client.FieldOwner(patcher)))
	}
}

// upgrade is what helm sends of a chart's change, as it patches what has no
// typed schema: the difference of two manifests, and nothing if there is none.
func upgrade(user string, from, to func(*database) string) func(*database) {
	return func(d *database) {
		d.Helper()
		difference, err := jsonpatch.CreateMergePatch([]byte(from(d)), []byte(to(d)))
		require.NoError(d, err)
		if string(difference) == "{}" {
			return
		}
		patch(user, types.MergePatchType, string(difference))(d)
	}
}

// with is the manifest with those parameters.
func with(parameters string) func(*database) string {
	return func(d *database) string { return d.manifest(parameters) }
}

// asOldClient makes an instance what a typed client of the retired catalog
// sends after it read it: no field that it does not know, and nulls and zeros
// for what it knows and found empty.
func asOldClient(object *unstructured.Unstructured) {
	for _, unknown := range []string{"serviceType", "planSelector", "sharing"} {
		unstructured.RemoveNestedField(object.Object, "spec", unknown)
	}
	spec, _ := object.Object["spec"].(map[string]any)
	if _, ok := spec["updateRequests"]; !ok {
		spec["updateRequests"] = int64(0)
	}
	object.SetManagedFields(nil)
	status := map[string]any{}
	// As encoding/json writes the zero value of its status.
	if json.Unmarshal([]byte(oldStatus), &status) == nil {
		object.Object["status"] = status
	}
}

const oldStatus = `{"conditions":null,"asyncOpInProgress":false,"orphanMitigationInProgress":false,"reconciledGeneration":0,` +
	`"observedGeneration":0,"provisionStatus":"","deprovisionStatus":"","lastConditionState":"",` +
	`"userSpecifiedPlanName":"","userSpecifiedClassName":""}`
