package webhook

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

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
		"ExternalID":       {reason: "An identity stays.", edits: nothing, spec: toMydb, write: `{"spec":{"externalID":"other"}}`, denied: "Immutable"},
		"EditedToNoObject": {reason: "Parameters are an object.", edits: nothing, spec: toMydb, write: `{"spec":{"parameters":["` + canary + `"]}}`, denied: "InvalidParameters"},
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
			w := stocked(t, db, edits...).env()
			stored := w.write(bindingWith(forged, `{"instanceRef":{"name":"mydb"},"userInfo":{"username":"root"}}`), nil).admitted()
			assert.Equal(t, `"alice"`, at(t, stored, "/spec/userInfo/username"))
			assert.Equal(t, at(t, stored, "/spec/externalID"), at(t, stored, minted), "a new ID is generated")
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
	w := stocked(t, db, hasInstance("mydb", "db-small")).env()
	old := bindingOf(toMydb)
	touched := w.write(old, old).admitted()
	assert.Equal(t, "absent", at(t, touched, "/spec/userInfo"))
	assert.JSONEq(t, `{"name":"db-small"}`, at(t, touched, "/spec/clusterServicePlanRef"))
	id := at(t, touched, "/spec/externalID")
	assert.Len(t, id, 38, "it gets its identity")
	assert.Equal(t, id, at(t, touched, "/metadata/annotations/servicecatalog.kubernetes.io~1minted-external-id"))
	assert.Equal(t, `["kubernetes-incubator/service-catalog"]`, at(t, touched, "/metadata/finalizers"))
	assert.Empty(t, w.write(touched, touched).mutate.Patch)
	claimed := w.write(changed(t, old, `{"spec":{"userInfo":{"username":"root"}}}`), old).admitted()
	assert.Equal(t, `"alice"`, at(t, claimed, "/spec/userInfo/username"))
}
