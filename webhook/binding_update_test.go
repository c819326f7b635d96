package webhook

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/api/v1beta1"
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
	require.Len(t, edits, len(keptBindingFields), "every field of a spec, but for userInfo")
	for state, patch := range map[string]string{"Decided": "", "Bound": boundStatus} {
		w := stocked(t, db, richly("")...).world()
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
	}
}

// A binding that was bound before there were hooks is as settled as a decided one, and gets nothing added.
func TestBoundBeforeHooks(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]string{
		"Bound": boundStatus, "Binding": `{"status":{"currentOperation":"Bind"}}`, "Polling": `{"status":{"asyncOpInProgress":true}}`,
		"Mitigating": `{"status":{"orphanMitigationInProgress":true}}`, "Unbound": `{"status":{"unbindStatus":"Succeeded"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := stocked(t, db, richly("")...).world()
			old := changed(t, bindingOf(`{"instanceRef":{"name":"mydb"},"secretName":"creds","externalID":"e-1","parameters":{"a":1}}`), status)
			assert.Empty(t, w.write(changed(t, old, `{"metadata":{"labels":{"a":"b"}}}`), old).mutate.Patch)
			o := w.write(changed(t, old, `{"spec":{"parameters":{"a":2}}}`), old)
			require.NotNil(t, o.denied())
			assert.Equal(t, "Immutable", o.label())
			forged := w.write(changed(t, old, fmt.Sprintf(`{"spec":{%s}}`, bindRefs)), old)
			require.NotNil(t, forged.denied(), "references cannot be written into it")
		})
	}
	w := stocked(t, db, richly("")...).world()
	fresh := changed(t, bindingOf(`{"instanceRef":{"name":"mydb"},"secretName":"creds","externalID":"e-1"}`), `{"status":{"unbindStatus":"NotRequired","conditions":[]}}`)
	assert.Equal(t, `{"name":"db-small"}`, at(t, w.write(fresh, fresh).admitted(), "/spec/clusterServicePlanRef"), "one that no broker was asked for is decided")
}

// A client of the retired catalog replaces a binding by what it knows of it, with nulls and empty strings; so does who
// applies the manifest by replacement. Nothing changes, and nobody is told.
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
				w := stocked(t, db, richly("")...).world()
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
		w := stocked(t, db, richly("")...).world()
		stored := w.bindTo(spec).admitted()
		assert.Equal(t, `{"net":{"mtu":1400},"tls":true,"user":"reader"}`, at(t, stored, "/spec/parameters"))
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

// Until a binding is settled its spec is its users'.
func TestUndecidedBindingUpdates(t *testing.T) {
	t.Parallel()
	checkBindings(t, undecidedBindingCases())
}

func undecidedBindingCases() map[string]bindingCase {
	nothing := func(string) []func(*stock) { return []func(*stock){} }
	const waits = `no plan is decided yet: instance "mydb" does not exist yet; the binding waits`
	const bob = `"userInfo":{"username":"bob"}`
	settled := func(more string) string {
		return `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/applied-defaults":"{\"rule\":\"instance\",\"class\":\"db\",\"plan\":\"small\"}"}},` +
			`"spec":{"clusterServiceClassRef":{"name":"db"},"clusterServicePlanRef":{"name":"db-small"}` + more + `}}`
	}
	comes := func(at string) []func(*stock) { return []func(*stock){hasInstance("mydb", at+"db-small")} }
	return map[string]bindingCase{
		"Touch": {reason: "Nothing came.", edits: nothing, spec: toMydb, write: `{}`, warnings: []string{waits}},
		"Edit": {
			reason: "An edit is accepted, and its user is the binding's.", edits: nothing, spec: toMydb, warnings: []string{waits},
			write: `{"spec":{"parameters":{"a":1},"secretName":"other"}}`, want: `{"spec":{"parameters":{"a":1},"secretName":"other",` + bob + `}}`,
		},
		"Dropped": {
			reason: "What is the user's may be dropped.", edits: nothing, spec: `{"instanceRef":{"name":"mydb"},"parameters":{"a":1},"secretTransforms":[{"removeKey":{"key":"own"}}]}`,
			put: toMydb, want: `{"spec":{"parameters":null,"secretTransforms":null,` + bob + `}}`, warnings: []string{waits},
		},
		"TypeKept": {
			reason: "A field that old clients do not know is kept, and that is told.", edits: nothing, spec: `{"instanceRef":{"name":"mydb"},"serviceType":"mysql","secretTransformDefaults":"None"}`,
			write: `{"spec":{"serviceType":null,"secretTransformDefaults":null}}`, want: `{}`,
			warnings: []string{"kept spec.serviceType, spec.secretTransformDefaults: leaving a field out does not clear it", waits},
		},
		"TypeCleared": {
			reason: "An explicit empty value clears it.", edits: nothing, spec: `{"instanceRef":{"name":"mydb"},"serviceType":"mysql","secretTransformDefaults":"None"}`,
			write: `{"spec":{"secretTransformDefaults":""}}`, want: `{"spec":{"secretTransformDefaults":"",` + bob + `}}`, warnings: []string{waits},
		},
		"Comes": {
			reason: "A touch decides it when its instance has come; its user stays.", edits: nothing, spec: toMydb, later: comes, write: `{}`, want: settled(""),
		},
		"EditedAsItComes": {
			reason: "So does an edit, whose user is the binding's.", edits: nothing, spec: toMydb, later: comes,
			write: `{"spec":{"parameters":{"a":1}}}`, want: settled(`,"parameters":{"a":1},` + bob),
		},
		"LabelledAsItComes": {
			reason: "So does any write.", edits: nothing, spec: toMydb, later: comes,
			write: `{"metadata":{"labels":{"a":"b"}}}`, want: strings.Replace(settled(""), `{"metadata":{`, `{"metadata":{"labels":{"a":"b"},`, 1),
		},
		"Forged": {
			reason: "References are admission's.", edits: nothing, spec: toMydb, write: `{"spec":{` + bindRefs + `}}`, denied: "ForgedReference",
		},
		"ForgedWithRecord": {
			reason: "Also with a record beside them.", edits: nothing, spec: toMydb, denied: "ForgedReference",
			write: `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/applied-defaults":"{\"rule\":\"restored\"}"}},"spec":{` + bindRefs + `}}`,
		},
		"ExternalID": {reason: "An identity stays.", edits: nothing, spec: toMydb, write: `{"spec":{"externalID":"other"}}`, denied: "Immutable"},
		"InstanceDropped": {
			reason: "Without an instance there is nothing to wait for.", edits: nothing, spec: toMydb, write: `{"spec":{"instanceRef":null}}`, denied: "NoInstance", scope: onlyCluster,
		},
		"EditedToTypeMismatch": {
			reason: "Who edits is told what cannot be.", edits: nothing, spec: toMydb, later: comes, write: `{"spec":{"serviceType":"redis"}}`, denied: "TypeMismatch",
		},
		"TouchedInstanceDeleting": {
			reason: "Who does not is not: the binding waits.", edits: nothing, spec: toMydb, write: `{"metadata":{"labels":{"a":"b"}}}`, want: `{"metadata":{"labels":{"a":"b"}}}`,
			later:    func(at string) []func(*stock) { return []func(*stock){hasInstance("mydb", at+"db-small", ending)} },
			warnings: []string{`no plan is decided yet: spec.instanceRef.name: instance "mydb" is being deleted; the binding waits`},
		},
		"TouchedNotBindable": {
			reason: "The same.", edits: nothing, spec: toMydb, write: `{}`,
			later: func(at string) []func(*stock) {
				return []func(*stock){hasInstance("mydb", at+"db-small"), listedBy("broker", false)}
			},
			warnings: []string{`no plan is decided yet: spec.instanceRef.name: instance "mydb" is of plan db/small, which its broker does not let anyone bind to; the binding waits`},
		},
		"TouchedOtherType": {
			reason: "The same.", edits: nothing, spec: `{"instanceRef":{"name":"mydb"},"serviceType":"redis"}`, write: `{}`, later: comes,
			warnings: []string{`no plan is decided yet: spec.serviceType: instance "mydb" is of type "mysql", not of "redis"; the binding waits`},
		},
		"TouchedBrokenDefaults": {
			reason: "The same.", edits: nothing, spec: toMydb, write: `{}`,
			later: func(at string) []func(*stock) {
				return append(comes(at), bindDefaultsOf(at+"db-small", `["`+canary+`"]`))
			},
			warnings: []string{`no plan is decided yet: spec.parameters: spec.defaultBindParameters of plan "db-small" cannot be applied: cannot decode parameters: they must be a JSON object; the binding waits`},
		},
		"Deleting": {
			reason: "A binding that is being deleted is not decided any more.", edits: nothing, spec: toMydb, later: comes,
			stored: `{"metadata":{"deletionTimestamp":"2026-05-01T12:00:00Z"}}`, write: `{"metadata":{"finalizers":null}}`, want: `{"metadata":{"finalizers":null}}`,
		},
	}
}

// What a user may not write is undone, at creation and later, undecided and settled.
func TestBindingForgeries(t *testing.T) {
	t.Parallel()
	const applied, minted = "/metadata/annotations/servicecatalog.kubernetes.io~1applied-defaults", "/metadata/annotations/servicecatalog.kubernetes.io~1minted-external-id"
	forged := `{"name":"creds","namespace":"dev","finalizers":["example.org/other"],"annotations":{"a":"b","` + v1beta1.AnnotationMintedExternalID + `":"forged","` + v1beta1.AnnotationAppliedDefaults + `":"{\"rule\":\"forged\"}"}}`
	for name, edits := range map[string][]func(*stock){"Settled": {hasInstance("mydb", "db-small")}, "Undecided": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := stocked(t, db, edits...).world()
			stored := w.write(bindingWith(forged, `{"instanceRef":{"name":"mydb"},"userInfo":{"username":"root"}}`), nil).admitted()
			assert.Equal(t, `"alice"`, at(t, stored, "/spec/userInfo/username"))
			assert.Equal(t, at(t, stored, "/spec/externalID"), at(t, stored, minted), "minted anew")
			assert.NotContains(t, at(t, stored, applied), "forged")
			assert.Equal(t, `["example.org/other","kubernetes-incubator/service-catalog"]`, at(t, stored, "/metadata/finalizers"), "those of others stay")
			w.user.Username = "bob"
			for _, forgery := range []string{
				`{"spec":{"userInfo":{"username":"root","groups":["system:masters"]}}}`, `{"spec":{"userInfo":null}}`,
				`{"metadata":{"annotations":{"servicecatalog.kubernetes.io/applied-defaults":"{\"rule\":\"forged\"}"}}}`,
				`{"metadata":{"annotations":{"servicecatalog.kubernetes.io/applied-defaults":null,"servicecatalog.kubernetes.io/minted-external-id":null}}}`,
				`{"metadata":{"annotations":{"servicecatalog.kubernetes.io/minted-external-id":"forged"}}}`,
			} {
				got := w.write(changed(t, stored, forgery), stored).admitted()
				for _, pointer := range []string{"/spec", minted, applied} {
					was := at(t, stored, pointer)
					assert.Equal(t, strings.Replace(was, "absent", `""`, 1), strings.Replace(at(t, got, pointer), "absent", `""`, 1), "%s: %s", forgery, pointer)
				}
			}
		})
	}
}

// An object that is older than the hooks has no user: a touch invents none, and who writes one is written down.
func TestBindingWithoutUser(t *testing.T) {
	t.Parallel()
	w := stocked(t, db, hasInstance("mydb", "db-small")).world()
	old := bindingOf(toMydb)
	touched := w.write(old, old).admitted()
	assert.Equal(t, "absent", at(t, touched, "/spec/userInfo"))
	assert.Equal(t, `{"name":"db-small"}`, at(t, touched, "/spec/clusterServicePlanRef"))
	id := at(t, touched, "/spec/externalID")
	assert.Len(t, id, 38, "it gets its identity")
	assert.Equal(t, id, at(t, touched, "/metadata/annotations/servicecatalog.kubernetes.io~1minted-external-id"))
	assert.Equal(t, `["kubernetes-incubator/service-catalog"]`, at(t, touched, "/metadata/finalizers"))
	assert.Empty(t, w.write(touched, touched).mutate.Patch)
	claimed := w.write(changed(t, old, `{"spec":{"userInfo":{"username":"root"}}}`), old).admitted()
	assert.Equal(t, `"alice"`, at(t, claimed, "/spec/userInfo/username"))
}

// Deleting always works: with a deletion timestamp, an update that leaves spec as it is passes, whatever the binding says.
func TestBindingDeletion(t *testing.T) {
	t.Parallel()
	const ends = `{"metadata":{"deletionTimestamp":"2026-05-01T12:00:00Z","finalizers":["kubernetes-incubator/service-catalog","example.org/other"]}}`
	for name, spec := range map[string]string{
		"Settled": rich, "Wrong": `{"instanceRef":{"name":"mydb","namespace":"prod"},"serviceName":"x","provisionParameters":{"a":1},"secretTransforms":[{"addKeysFrom":{"secretRef":{"name":"root","namespace":"infra"}}}]}`,
		"NoInstance": `{"serviceType":"mysql"}`, "Nothing": `{}`, "ForgedRefs": `{"instanceRef":{"name":"mydb"},` + bindRefs + `}`,
		"TwoNames": `{"instanceRef":{"name":"mydb"},"clusterServiceClassName":"a","clusterServiceClassExternalName":"b"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, w := range []*world{stocked(t, db, richly("")...).world(), stocked(t, "other:").world()} {
				w.adjustForDeletion()
				old := changed(t, bindingOf(spec), ends)
				for _, patch := range []string{`{"metadata":{"finalizers":["example.org/other"]}}`, `{"metadata":{"finalizers":null}}`, `{"metadata":{"labels":{"a":"b"}}}`} {
					o := w.write(changed(t, old, patch), old)
					assert.JSONEq(t, string(changed(t, old, patch)), string(o.admitted()), "nothing is added or taken away")
					assert.Empty(t, o.warnings())
				}
				assert.Empty(t, w.live.taken())
				assert.Empty(t, w.reviews.taken())
			}
		})
	}
}

// adjustForDeletion makes every read fail: to delete, nothing need be known.
func (w *world) adjustForDeletion() {
	down := func(string) error { return assert.AnError }
	w.cached.fail(down)
	w.live.fail(down)
}

// A replacement by a manifest has no finalizer: it is put back. Who takes it off on purpose leaves spec as it is.
func TestBindingFinalizer(t *testing.T) {
	t.Parallel()
	w := stocked(t, db, hasInstance("mydb", "db-small")).world()
	stored := w.bindTo(toMydb).admitted()
	assert.Equal(t, `["kubernetes-incubator/service-catalog"]`, at(t, w.write(bindingOf(toMydb), stored).admitted(), "/metadata/finalizers"))
	taken := w.write(changed(t, stored, `{"metadata":{"finalizers":null}}`), stored).admitted()
	assert.Equal(t, "absent", at(t, taken, "/metadata/finalizers"))
}
