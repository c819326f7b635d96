package webhook

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rich is a binding that uses all that there is, of an instance with defaults of every kind.
const rich = `{"instanceRef":{"name":"mydb"},"parameters":{"user":"admin","net":{"vlan":7}},"secretTransforms":[{"removeKey":{"key":"own"}}],` +
	`"parametersFrom":[{"secretKeyRef":{"name":"more","key":"json"}}]}`

// richly is what a rich binding finds.
func richly(at string) []func(*stock) {
	return []func(*stock){
		bindDefaultsOf(at+"db", `{"net":{"mtu":1400}}`), bindDefaultsOf(at+"db-small", `{"user":"reader","tls":true}`),
		transformsOf(at+"db-small", `[{"renameKey":{"from":"db-name","to":"database"}}]`), hasInstance("mydb", at+"db-small", typed("mysql")),
	}
}

// Nothing that is written into a binding takes effect once it is settled: each edit is refused at its field.
func TestSettledBindingEdits(t *testing.T) {
	t.Parallel()
	edits := map[string]string{
		"externalID": `"e-2"`, "secretName": `"other"`, "serviceType": `"redis"`, "serviceName": `"mydb"`, "planSelector": `{"matchLabels":{"a":"b"}}`,
		"provisionParameters": `{"a":1}`, "secretTransformDefaults": `"None"`, "instanceRef": `{"name":"otherdb"}`, "parameters": `{"user":"` + canary + `"}`,
		"parametersFrom": `[{"secretKeyRef":{"name":"other","key":"json"}}]`, "secretTransforms": `[{"removeKey":{"key":"` + canary + `"}}]`,
		"clusterServiceClassRef": `{"name":"db2"}`, "clusterServicePlanRef": `{"name":"db-large"}`, "serviceClassRef": `{"name":"db"}`, "servicePlanRef": `{"name":"db-small"}`,
	}
	for _, scope := range []string{"clusterService", "service"} {
		for _, name := range []string{"ClassExternalName", "ClassExternalID", "ClassName", "PlanExternalName", "PlanExternalID", "PlanName"} {
			edits[scope+name] = `"large"`
		}
	}
	edits["endpointsFrom"] = `[{"hostKey":"h","portKey":"p"}]`
	require.Len(t, edits, 28, "every field of a spec, but for userInfo and rotation")
	for state, patch := range map[string]string{"Decided": "", "Bound": boundStatus} {
		w := stocked(t, db, richly("")...).env()
		stored := changed(t, w.bindTo(rich).admitted(), patch)
		for field, value := range edits {
			o := w.write(changed(t, stored, fmt.Sprintf(`{"spec":{%q:%s}}`, field, value)), stored)
			denied := o.denied()
			require.NotNil(t, denied, "%s: %s", state, field)
			assert.Equal(t, "Immutable", o.label(), field)
			assert.EqualValues(t, 422, denied.Code)
			require.Len(t, denied.Details.Causes, 1, field)
			assert.Equal(t, "spec."+field, denied.Details.Causes[0].Field)
			assert.Contains(t, denied.Message, "create another binding")
		}
		reordered := strings.Replace(string(stored), `"net":{"mtu":1400,"vlan":7}`, `"net":{"vlan":7,"mtu":1400}`, 1)
		require.NotEqual(t, string(stored), reordered)
		o := w.write([]byte(strings.Replace(reordered, `"secretName":"creds"`, `"secretName":"other"`, 1)), stored)
		require.Len(t, o.denied().Details.Causes, 1, "another order of keys is no edit")
	}
}

// A binding that was bound before there were hooks is as settled as a decided one, and gets nothing added.
func TestBoundBeforeHooks(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]string{
		"Bound": boundStatus, "Known": `{"status":{"externalProperties":{}}}`, "Binding": `{"status":{"currentOperation":"Bind"}}`, "Polling": `{"status":{"asyncOpInProgress":true}}`,
		"Mitigating": `{"status":{"orphanMitigationInProgress":true}}`, "Unbound": `{"status":{"unbindStatus":"Succeeded"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := stocked(t, db, richly("")...).env()
			old := changed(t, bindingOf(`{"instanceRef":{"name":"mydb"},"secretName":"creds","externalID":"e-1","parameters":{"a":1}}`), status)
			assert.Empty(t, w.write(changed(t, old, `{"metadata":{"labels":{"a":"b"}}}`), old).mutate.Patch)
			o := w.write(changed(t, old, `{"spec":{"parameters":{"a":2}}}`), old)
			require.NotNil(t, o.denied())
			assert.Equal(t, "Immutable", o.label())
			forged := w.write(changed(t, old, fmt.Sprintf(`{"spec":{%s}}`, bindRefs)), old)
			require.NotNil(t, forged.denied(), "references cannot be written into it")
		})
	}
	w := stocked(t, db, richly("")...).env()
	fresh := changed(t, bindingOf(`{"instanceRef":{"name":"mydb"},"secretName":"creds","externalID":"e-1"}`), `{"status":{"unbindStatus":"NotRequired","conditions":[]}}`)
	assert.JSONEq(t, `{"name":"db-small"}`, at(t, w.write(fresh, fresh).admitted(), "/spec/clusterServicePlanRef"), "one that no broker was asked for is decided")
}

// A client of the retired catalog replaces a binding by what it knows of it, with nulls and empty strings; so does who
// applies the manifest by replacement. Nothing changes, and there is no warning.
func TestSettledBindingReplaced(t *testing.T) {
	t.Parallel()
	const known = `"instanceRef":{"name":"mydb"},"secretName":"creds"`
	const params = `"parameters":{"user":"admin","net":{"vlan":7,"mtu":1400},"tls":true}`
	const from = `"parametersFrom":[{"secretKeyRef":{"name":"more","key":"json"}}]`
	const transforms = `"secretTransforms":[{"renameKey":{"from":"db-name","to":"database"}},{"removeKey":{"key":"own"}}]`
	puts := map[string]struct{ reason, spec string }{
		"TypedClient":      {"Refs and type are unknown to it; the ID and user info it sends empty.", "{" + known + "," + params + "," + from + "," + transforms + `,"externalID":"","userInfo":null}`},
		"Nulls":            {"All that may be null is.", "{" + known + `,"parameters":null,"parametersFrom":null,"secretTransforms":null,"serviceType":null,"planSelector":null,"clusterServicePlanRef":null}`},
		"EmptyLists":       {"Or empty.", "{" + known + `,"parametersFrom":[],"secretTransforms":[],"externalID":"","clusterServicePlanName":"","servicePlanName":""}`},
		"EmptyParameters":  {"Refs that are empty are absent.", "{" + known + "," + params + `,"secretTransformDefaults":"","secretName":""}`},
		"OnlyInstance":     {"The least there is.", `{"instanceRef":{"name":"mydb"}}`},
		"Nothing":          {"Less than that.", `{}`},
		"TheManifest":      {"What was written in the first place lacks just the defaults.", rich},
		"ManifestReorder":  {"In another order of keys.", `{"secretTransforms":[{"removeKey":{"key":"own"}}],"parameters":{"net":{"vlan":7},"user":"admin"},"instanceRef":{"name":"mydb"}}`},
		"OwnTransforms":    {"Only some are given.", "{" + known + `,"secretTransforms":[{"removeKey":{"key":"own"}}]}`},
		"OwnParameters":    {"Only the parameters are.", "{" + known + `,"parameters":{"user":"admin","net":{"vlan":7}}}`},
		"ForgedUser":       {"With a user of its own choice.", "{" + known + `,"userInfo":{"username":"root","groups":["system:masters"]}}`},
		"WholeWithoutUser": {"All but the user.", "{" + known + "," + params + "," + from + "," + transforms + `,"serviceType":"mysql"}`},
	}
	for name, tc := range puts {
		for state, status := range map[string]string{"Decided": "", "Bound": boundStatus} {
			t.Run(name+"/"+state, func(t *testing.T) {
				t.Parallel()
				w := stocked(t, db, richly("")...).env()
				stored := changed(t, w.bindTo(rich).admitted(), status)
				w.user.Username = "bob"
				replaced := changed(t, bindingWith(string(metadataOf(t, stored)), tc.spec), status)
				o := w.write(replaced, stored)
				got := o.admitted()
				assert.Equal(t, at(t, stored, "/metadata"), at(t, got, "/metadata"), tc.reason)
				assert.Equal(t, meant(t, stored), meant(t, got), tc.reason)
				assert.Empty(t, o.warnings(), tc.reason)
			})
		}
	}
}

// The manifest of a binding without parameters of its own may have an empty object there.
func TestSettledBindingWithDefaultsOnly(t *testing.T) {
	t.Parallel()
	for _, spec := range []string{`{"instanceRef":{"name":"mydb"},"parameters":{}}`, toMydb, `{"instanceRef":{"name":"mydb"},"parameters":{"net":{}}}`} {
		w := stocked(t, db, richly("")...).env()
		stored := w.bindTo(spec).admitted()
		assert.JSONEq(t, `{"net":{"mtu":1400},"tls":true,"user":"reader"}`, at(t, stored, "/spec/parameters"))
		for _, again := range []string{spec, `{"instanceRef":{"name":"mydb"},"parameters":{}}`, toMydb} {
			assert.Equal(t, at(t, stored, "/spec"), at(t, w.write(bindingOf(again), stored).admitted(), "/spec"), again)
		}
		o := w.write(changed(t, stored, `{"spec":{"parameters":{"tls":false}}}`), stored)
		require.NotNil(t, o.denied(), "another value is an edit")
		o = w.write(bindingOf(`{"instanceRef":{"name":"mydb"},"parameters":{"user":"reader"}}`), stored)
		require.NotNil(t, o.denied(), "a part of the defaults is an edit")
	}
}

// meant is what an object's spec says: a null, an empty string and an empty list say nothing.
func meant(t *testing.T, object []byte) string {
	t.Helper()
	var decoded struct {
		Spec map[string]any `json:"spec"`
	}
	require.NoError(t, json.Unmarshal(object, &decoded))
	maps.DeleteFunc(decoded.Spec, func(_ string, value any) bool {
		list, isList := value.([]any)
		return value == nil || value == "" || isList && len(list) == 0
	})
	return marshal(t, decoded.Spec)
}

// metadataOf is an object's metadata.
func metadataOf(t *testing.T, object []byte) []byte {
	t.Helper()
	return []byte(at(t, object, "/metadata"))
}
