package webhook

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// markedMeta is the metadata of an instance that is to be adopted.
const markedMeta = `{"name":"mydb","namespace":"dev","annotations":{"` + v1beta1.AnnotationAdopt + `":"true"}}`

// What is at its broker already gets no default: it was made with what it has, and is
// compared with what its user says of it.
func TestAdoptedGetsNoDefaults(t *testing.T) {
	t.Parallel()
	const schema = `{"type":"object","required":["zone"],"properties":{"size":{"type":"integer"}}}`
	edits := []func(*stock){classDefaults("db", `{"region":"north"}`), createSchemaOf("db-small", schema), updateSchemaOf("db-small", schema)}
	for name, tc := range map[string]struct {
		reason string
		spec   string
		want   string
	}{
		"Nothing": {"nothing is said, and nothing compared", `{"serviceType":"mysql","externalID":"e-1"}`, "absent"},
		"Some":    {"what is said is all that is compared, whatever a new one would need", `{"clusterServiceClassExternalName":"db","clusterServicePlanExternalName":"small","externalID":"e-1","parameters":{"size":"` + canary + `"}}`, `{"size":"` + canary + `"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := stocked(t, db, edits...).env()
			stored := w.write(instanceWith(markedMeta, tc.spec), nil).admitted()
			assert.Equal(t, tc.want, at(t, stored, "/spec/parameters"), tc.reason)
			assert.Equal(t, `"e-1"`, at(t, stored, "/spec/externalID"))
			assert.Empty(t, recordOf(t, stored).From)

			w = stocked(t, db, edits...).env()
			adopted := changed(t, stored, `{"status":{"provisionStatus":"Provisioned"}}`)
			o := w.write(changed(t, adopted, `{"spec":{"parameters":{"size":"`+canary+`-2"}}}`), adopted)
			require.NotNil(t, o.denied(), "an edit of what was adopted is an update like any")
			assert.Equal(t, "SchemaViolation", o.validate.outcome)
		})
	}
}

// An annotation that was there before, or whose value is not true, needs no
// permission.
func TestOtherMarksPass(t *testing.T) {
	t.Parallel()
	for _, mark := range []string{"", "false"} {
		w := stocked(t, db).env()
		w.write(changed(t, instanceOf(byType), `{"metadata":{"annotations":{"`+v1beta1.AnnotationAdopt+`":"`+mark+`"}}}`), nil).admitted()
	}
	w := stocked(t, db).env()
	stored := changed(t, w.created(byType), `{"metadata":{"annotations":{"`+v1beta1.AnnotationAdopt+`":"maybe"}}}`)
	w.write(changed(t, stored, `{"spec":{"updateRequests":1}}`), stored).admitted()
}

// Beside an ID of the user's the mark is his: it may come, go, and stay.
func TestMarkComesAndGoes(t *testing.T) {
	t.Parallel()
	w := stocked(t, db).env()
	stored := w.write(instanceWith(markedMeta, `{"serviceType":"mysql","externalID":"e-1"}`), nil).admitted()
	for _, value := range []string{"null", `"false"`, `"true"`} {
		stored = w.write(changed(t, stored, `{"metadata":{"annotations":{"`+v1beta1.AnnotationAdopt+`":`+value+`}}}`), stored).admitted()
	}
	minted := w.created(`{"serviceType":"mysql"}`)
	w.write(changed(t, minted, `{"metadata":{"annotations":{"`+v1beta1.AnnotationAdopt+`":"false"}}}`), minted).admitted()
	// An annotation that was stored without the hook denies no later write.
	dedicated := w.write(bindingWith(`{"name":"creds","namespace":"dev"}`, `{"serviceType":"mysql"}`), nil).admitted()
	for _, stored := range [][]byte{minted, dedicated} {
		marked := changed(t, stored, `{"metadata":{"annotations":{"`+v1beta1.AnnotationAdopt+`":"true"}}}`)
		w.write(changed(t, marked, `{"metadata":{"labels":{"a":"b"}}}`), marked).admitted()
	}
}

// TestUnmarkedIsValidated: without the mark the parameters would be sent to provision an instance,
// unless it was adopted before.
func TestUnmarkedIsValidated(t *testing.T) {
	t.Parallel()
	w := stocked(t, db, createSchemaOf("db-small", `{"type":"object","properties":{"size":{"type":"integer"}}}`)).env()
	const spec = `{"clusterServiceClassExternalName":"db","clusterServicePlanExternalName":"small","externalID":"e-1","parameters":{"size":"large"}}`
	stored := w.write(instanceWith(markedMeta, spec), nil).admitted()
	for _, mark := range []string{"null", `"false"`} {
		o := w.write(changed(t, stored, `{"metadata":{"annotations":{"`+v1beta1.AnnotationAdopt+`":`+mark+`}}}`), stored)
		require.NotNil(t, o.denied(), mark)
		assert.Equal(t, "SchemaViolation", o.validate.outcome)
	}
	adopted := changed(t, stored, `{"status":{"provisionStatus":"Provisioned"}}`)
	w.write(changed(t, adopted, `{"metadata":{"annotations":null}}`), adopted).admitted()
}

// markedBinding is the metadata of a binding that is to be adopted.
const markedBinding = `{"name":"creds","namespace":"dev","annotations":{"` + v1beta1.AnnotationAdopt + `":"true"}}`

// A binding that is adopted gets no default and no transform of the catalog, and its
// parameters are held against no schema: it was made with what it has.
func TestAdoptedBindingIsTakenAsItIs(t *testing.T) {
	t.Parallel()
	edits := []func(*stock){
		bindDefaultsOf("db", `{"ttl":1}`), bindSchemaOf("db-small", `{"type":"object","properties":{"size":{"type":"integer"}}}`), hasInstance("mydb", "db-small"),
		func(s *stock) {
			s.plan("db-small").DefaultSecretTransforms = []v1beta1.SecretTransform{{RemoveKey: &v1beta1.RemoveKeyTransform{Key: "a"}}}
		},
	}
	w := stocked(t, db, edits...).env()
	stored := w.write(bindingWith(markedBinding, `{"instanceRef":{"name":"mydb"},"externalID":"e-1","parameters":{"size":"`+canary+`"}}`), nil).admitted()
	assert.JSONEq(t, `{"size":"`+canary+`"}`, at(t, stored, "/spec/parameters"))
	assert.Equal(t, "absent", at(t, stored, "/spec/secretTransforms"))
	assert.Equal(t, `"e-1"`, at(t, stored, "/spec/externalID"))
}

// TestUnmarkedBindingIsValidated: without the mark the parameters would be sent to the broker, unless
// one was called for it before, or the binding waits and gets no plan.
func TestUnmarkedBindingIsValidated(t *testing.T) {
	t.Parallel()
	unmark := func(mark string) string {
		return `{"metadata":{"annotations":{"` + v1beta1.AnnotationAdopt + `":` + mark + `}}}`
	}
	w := stocked(t, db, bindSchemaOf("db-small", `{"type":"object","properties":{"size":{"type":"integer"}}}`), hasInstance("mydb", "db-small")).env()
	stored := w.write(bindingWith(markedBinding, `{"instanceRef":{"name":"mydb"},"externalID":"e-1","parameters":{"size":"large"}}`), nil).admitted()
	for _, mark := range []string{"null", `"false"`} {
		o := w.write(changed(t, stored, unmark(mark)), stored)
		require.NotNil(t, o.denied(), mark)
		assert.Equal(t, "SchemaViolation", o.validate.outcome)
		o = w.write(changed(t, changed(t, stored, unmark(mark)), `{"spec":{"rotation":{"requests":1}}}`), stored)
		require.NotNil(t, o.denied(), mark)
	}
	w.write(changed(t, stored, `{"metadata":{"annotations":null,"deletionTimestamp":"2026-01-01T00:00:00Z"}}`), stored).admitted()
	w.write(changed(t, stored, `{"metadata":{"annotations":{"example.com/a":"b"}}}`), stored).admitted()
	adopted := changed(t, stored, `{"status":{"externalProperties":{}}}`)
	w.write(changed(t, adopted, unmark("null")), adopted).admitted()
	waits := w.write(bindingWith(markedBinding, `{"instanceRef":{"name":"later"},"externalID":"e-2","parameters":{"size":"large"}}`), nil).admitted()
	w.write(changed(t, waits, unmark("null")), waits).admitted()
	waits = changed(t, waits, `{"spec":{"planSelector":{"matchLabels":{"a":"b"}}}}`) // stored without the hooks
	w.write(changed(t, waits, unmark("null")), waits).admitted()
	fits := w.write(bindingWith(markedBinding, `{"instanceRef":{"name":"mydb"},"externalID":"e-3","parameters":{"size":3}}`), nil).admitted()
	for _, mark := range []string{"null", `"false"`, `"true"`} {
		fits = w.write(changed(t, fits, unmark(mark)), fits).admitted()
	}
}

const goldenMarkDenials = "testdata/denials_adopt_mark.golden"

// Every refusal of an annotation, as people read it.
func TestMarkDenials(t *testing.T) {
	t.Parallel()
	forged := strings.Replace(markedMeta, `{"servicecatalog`, `{"`+v1beta1.AnnotationMintedExternalID+`":"e-1","servicecatalog`, 1)
	cases := map[string]struct {
		reason string
		deny   func(w *env) *outcome
	}{
		"WithoutID": {"which one?", func(w *env) *outcome { return w.write(instanceWith(markedMeta, `{"serviceType":"mysql"}`), nil) }},
		"EmptyID": {"as old clients send it", func(w *env) *outcome {
			return w.write(instanceWith(markedMeta, `{"serviceType":"mysql","externalID":""}`), nil)
		}},
		"OnAMinted": {"what it has, it made itself", func(w *env) *outcome {
			stored := w.created(`{"serviceType":"mysql"}`)
			return w.write(changed(w.tb, stored, `{"metadata":{"annotations":{"`+v1beta1.AnnotationAdopt+`":"true"}}}`), stored)
		}},
		"Mistyped": {"it would be provisioned", func(w *env) *outcome {
			return w.write(changed(w.tb, instanceOf(`{"serviceType":"mysql"}`), `{"metadata":{"annotations":{"`+v1beta1.AnnotationAdopt+`":"True"}}}`), nil)
		}},
		"MistypedLater": {"or stay as it is", func(w *env) *outcome {
			stored := w.created(`{"serviceType":"mysql"}`)
			return w.write(changed(w.tb, stored, `{"metadata":{"annotations":{"`+v1beta1.AnnotationAdopt+`":"yes"}}}`), stored)
		}},
		"MistypedPrevention": {"it would protect nothing", func(w *env) *outcome {
			return w.write(changed(w.tb, instanceOf(byType), `{"metadata":{"annotations":{"`+v1beta1.AnnotationPreventDeletion+`":"yes"}}}`), nil)
		}},
		"BindingWithoutID": {"which one?", func(w *env) *outcome { return w.write(bindingWith(markedBinding, toMydb), nil) }},
		"BindingOnAMinted": {"what it has, it made itself", func(w *env) *outcome {
			stored := w.write(bindingOf(toMydb), nil).admitted()
			return w.write(changed(w.tb, stored, `{"metadata":{"annotations":{"`+v1beta1.AnnotationAdopt+`":"true"}}}`), stored)
		}},
		"BindingMistyped": {"it would be bound", func(w *env) *outcome {
			return w.write(changed(w.tb, bindingOf(toMydb), `{"metadata":{"annotations":{"`+v1beta1.AnnotationAdopt+`":"True"}}}`), nil)
		}},
		"BindingNoRight": {"to adopt is a right", func(w *env) *outcome {
			w.reviews.adopting = false
			return w.write(bindingWith(markedBinding, `{"instanceRef":{"name":"mydb"},"externalID":"e-1"}`), nil)
		}},
		"BindingWithItsOwnInstance": {"the instance is a new one", func(w *env) *outcome {
			return w.write(bindingWith(markedBinding, `{"serviceType":"mysql","externalID":"e-1"}`), nil)
		}},
		"NoRight": {"to adopt is a right, mark or not", func(w *env) *outcome {
			w.reviews.adopting = false
			return w.write(instanceWith(markedMeta, `{"serviceType":"mysql","externalID":"e-1"}`), nil)
		}},
		"ForgedMarker": {"attack: a minted ID is said to be taken over", func(w *env) *outcome {
			w.reviews.adopting = false
			return w.write(instanceWith(forged, `{"serviceType":"mysql","externalID":"e-1"}`), nil)
		}},
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		o := cases[name].deny(stocked(t, db).env())
		require.NotNil(t, o.denied(), cases[name].reason)
		text.WriteString(o.render(name))
	}
	if *update {
		require.NoError(t, os.WriteFile(goldenMarkDenials, []byte(text.String()), 0o644))
	}
	want, err := os.ReadFile(goldenMarkDenials)
	require.NoError(t, err)
	assert.Equal(t, string(want), text.String(), "run the test with -update and read the difference")
}
