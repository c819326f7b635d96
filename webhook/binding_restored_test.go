package webhook

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// A binding with an ID of its own, or with references, was bound before: nothing is added to it.
func TestBindingRestored(t *testing.T) {
	t.Parallel()
	checkBindings(t, bindingRestoredCases())
}

func bindingRestoredCases() map[string]bindingCase {
	generous := func(at string) []func(*stock) {
		return []func(*stock){
			bindDefaultsOf(at+"db-small", `{"user":"reader"}`), transformsOf(at+"db-small", `[{"removeKey":{"key":"r"}}]`), hasInstance("mydb", at+"db-small", typed("mysql")),
		}
	}
	without := func(at string) []func(*stock) { return generous(at)[:2] }
	backup := func(members string) string {
		return `{"instanceRef":{"name":"mydb"},"externalID":"e-1",` + members + `}`
	}
	taken := []string{"taken as it is: plan db/small; no default was applied"}
	const waits = `no plan is decided yet: instance "mydb" does not exist yet; the binding waits`
	const record = `"metadata":{"annotations":{"servicecatalog.kubernetes.io/applied-defaults":"{\"rule\":\"restored\",\"class\":\"db\",\"plan\":\"small\"}"`
	marked := `{"name":"creds","namespace":"dev","annotations":{"servicecatalog.kubernetes.io/applied-defaults":"{\"rule\":\"instance\",\"from\":{\"/tls\":\"plan\"}}"}}`
	return map[string]bindingCase{
		"GivenID":      {reason: "An object of the retired catalog has an ID and no references.", edits: generous, spec: backup(`"parameters":{"a":1}`), plan: "db-small", warnings: taken},
		"GivenIDWaits": {reason: "Its instance may come later.", edits: without, spec: backup(`"parameters":{"a":1}`), warnings: []string{waits}},
		"GivenIDTouched": {
			reason: "And it is still its own then.", edits: without, later: generous, spec: backup(`"parameters":{"a":1}`), write: `{}`, warnings: taken,
			want: `{` + record + `}},"spec":{` + bindRefs + `}}`,
		},
		"GivenIDEdited": {
			reason: "Also where a user edits it meanwhile.", edits: without, later: generous, spec: backup(`"parameters":{"a":1}`), write: `{"spec":{"parameters":{"a":2}}}`, warnings: taken,
			want: `{` + record + `}},"spec":{` + bindRefs + `,"parameters":{"a":2},"userInfo":{"username":"bob"}}}`,
		},
		"ForgedMarker": {
			reason: "A marker that is forged later makes no minted ID.", edits: without, later: generous, spec: backup(`"parameters":{"a":1}`), warnings: taken,
			write: `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/minted-external-id":"e-1"}}}`,
			want:  `{` + record + `,"servicecatalog.kubernetes.io/minted-external-id":""}},"spec":{` + bindRefs + `}}`,
		},
		"GivenIDNotBindable": {
			reason: "What cannot be bound to is not.", edits: func(at string) []func(*stock) { return append(generous(at), listedBy("broker", false)) }, spec: backup(`"parameters":{}`), denied: "NotBindable",
		},
		"Refs":          {reason: "A backup has references and an ID.", edits: generous, spec: backup(bindRefs), plan: "db-small", warnings: taken},
		"RefsWait":      {reason: "Before its instance it waits: nothing is bound past a policy.", edits: without, spec: backup(bindRefs), warnings: []string{`no plan is decided yet: instance "mydb" does not exist yet; the binding waits`}},
		"RefsOfDecided": {reason: "And before that is decided.", edits: func(at string) []func(*stock) { return append(without(at), hasInstance("mydb", "")) }, spec: backup(bindRefs), warnings: []string{`no plan is decided yet: instance "mydb" has no plan yet; the binding waits`}},
		"RefsWithRecord": {
			reason: "Or a record, without an ID.", edits: generous, meta: marked, spec: `{"instanceRef":{"name":"mydb"},` + bindRefs + `}`, plan: "db-small", warnings: taken,
		},
		"RefsAlone":       {reason: "References without either are forged.", edits: generous, spec: `{"instanceRef":{"name":"mydb"},` + bindRefs + `}`, denied: "ForgedReference"},
		"RefsOfNoPlan":    {reason: "References lead somewhere.", edits: generous, spec: backup(strings.ReplaceAll(bindRefs, "db-small", "db-huge")), denied: "Disagreement"},
		"RefsOfOther":     {reason: "To the class that they say.", catalog: db + ";db2: x", edits: generous, spec: backup(strings.ReplaceAll(bindRefs, `"db"`, `"db2"`)), denied: "Disagreement"},
		"RefsWithoutPlan": {reason: "Both of them.", edits: generous, spec: backup(`"clusterServiceClassRef":{"name":"db"}`), denied: "Disagreement"},
		"RefsMisnamed":    {reason: "And agree with the names.", edits: generous, spec: backup(bindRefs + `,"clusterServicePlanExternalName":"large"`), denied: "Disagreement"},
		"RefsOtherType":   {reason: "And the type.", edits: generous, spec: backup(bindRefs + `,"serviceType":"redis"`), denied: "TypeMismatch"},
		"RefsOtherInstance": {
			reason: "And with the instance, where it is there.", catalog: db + ";db2: small", spec: backup(bindRefs), denied: "Disagreement",
			edits: func(at string) []func(*stock) { return []func(*stock){hasInstance("mydb", at+"db2-small")} },
		},
		"RefsOfPlanBefore": {
			reason: "An instance may have changed its plan since.", edits: func(at string) []func(*stock) { return []func(*stock){hasInstance("mydb", at+"db-large")} }, spec: backup(bindRefs), plan: "db-small", warnings: taken,
		},
		"RefsToDeleting": {
			reason: "An instance that is being deleted takes no binding back.", spec: backup(bindRefs), denied: "InstanceDeleting",
			edits: func(at string) []func(*stock) { return []func(*stock){hasInstance("mydb", at+"db-small", ending)} },
		},
		"RefsJustStored": {
			reason: "The plan may have been stored a moment ago, under another class than the cache has.", catalog: db + ";db2: x", spec: backup(bindRefs), plan: "db-small", warnings: taken,
			behind: func(at string) []func(*stock) { return []func(*stock){movedTo(at+"db-small", "db2")} },
		},
		"RefsAskedTooOften": {
			reason: "Over the limit the cache decides, and says so.", catalog: db + ";db2: x", spec: backup(bindRefs), denied: "Disagreement", adjust: exhaust,
			behind: func(at string) []func(*stock) { return []func(*stock){movedTo(at+"db-small", "db2")} },
		},
	}
}

// movedTo puts a plan into another class.
func movedTo(plan, class string) func(*stock) {
	return func(s *stock) {
		switch p := s.object(plan, isPlan).(type) {
		case *v1beta1.ClusterServicePlan:
			p.Spec.ClusterServiceClassRef.Name = class
		case *v1beta1.ServicePlan:
			p.Spec.ServiceClassRef.Name = class
		}
	}
}

// What a backup records of its defaults is kept, and so is what it removed; an unreadable record says nothing.
func TestBindingRestoredRecord(t *testing.T) {
	t.Parallel()
	w := stocked(t, db, richly("")...).env()
	backup := w.bindTo(`{"instanceRef":{"name":"mydb"},"parameters":{"tls":null}}`).admitted()
	want := recordOf(t, backup)
	want.Rule = "restored"
	restored := w.write(backup, nil).admitted()
	assert.Equal(t, at(t, backup, "/spec"), at(t, restored, "/spec"))
	assert.Equal(t, want, recordOf(t, restored))
	assert.Equal(t, []string{"/tls"}, recordOf(t, restored).Removed)
	broken := w.write(changed(t, backup, `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/applied-defaults":"{"}}}`), nil).admitted()
	assert.Equal(t, v1beta1.AppliedDefaults{Rule: "restored", Class: "db", Plan: "small"}, recordOf(t, broken))
}

// What a backup removed stays removed, also where it is restored before its instance: a null that took a default away was
// never sent.
func TestBindingRestoredAhead(t *testing.T) {
	t.Parallel()
	w := stocked(t, db, richly("")...).env()
	backup := w.bindTo(`{"instanceRef":{"name":"mydb"},"parameters":{"tls":null}}`).admitted()
	w.restock(stocked(t, db))
	waits := w.write(backup, nil).admitted()
	require.Equal(t, "absent", at(t, waits, "/spec/clusterServicePlanRef/name"))
	w.restock(stocked(t, db, richly("")...))
	forged := changed(t, waits, `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/applied-defaults":"{\"removed\":[\"/user\"]}"}}}`)
	for _, touch := range [][]byte{waits, forged} {
		restored := w.write(touch, waits).admitted()
		want := recordOf(t, backup)
		want.Rule = "restored"
		assert.Equal(t, want, recordOf(t, restored))
		assert.Equal(t, at(t, backup, "/spec/parameters"), at(t, restored, "/spec/parameters"))
	}
	edit := changed(t, waits, `{"spec":{"parameters":{"tls":true}}}`)
	assert.Empty(t, recordOf(t, w.write(edit, waits).admitted()).Removed, "who edits it, wants what is written")
	w.restock(stocked(t, db))
	edited := w.write(edit, waits).admitted()
	w.restock(stocked(t, db, richly("")...))
	assert.Empty(t, recordOf(t, w.write(edited, edited).admitted()).Removed, "also before its instance comes")
}

// A record that someone made up cannot break what reads it.
func TestMadeUpRecords(t *testing.T) {
	t.Parallel()
	for _, record := range []string{
		`{"from":{"":"plan"},"removed":[""]}`, `{"from":{"x":"plan","/":"class","//":"plan"},"removed":["x","/"]}`, `{"transforms":["user","user","plan"]}`,
		`{"from":{"/a":"plan","/a/b":"plan","/a/b/c":"class"},"removed":["/a/b","/a"],"transforms":["user"]}`, `{"from":{"/a/0":"user"},"transforms":[]}`, `null`, `[]`, `"x"`,
	} {
		meta := fmt.Sprintf(`{"name":"%%s","namespace":"dev","annotations":{"servicecatalog.kubernetes.io/applied-defaults":%q}}`, record)
		w := stocked(t, db, hasInstance("mydb", "db-small")).env()
		stored := w.write(bindingWith(fmt.Sprintf(meta, "creds"), `{"instanceRef":{"name":"mydb"},"externalID":"e-1","parameters":{"a":{"b":{"c":1}}},"secretTransforms":[{"removeKey":{"key":"r"}}],`+bindRefs+`}`), nil).admitted()
		for _, patch := range []string{`{"spec":{"parameters":{"a":2}}}`, `{"spec":{"parameters":{"a":null}}}`, `{"spec":{"secretTransforms":[{"removeKey":{"key":"s"}}]}}`} {
			o := w.write(changed(t, stored, patch), stored)
			if o.denied() != nil {
				assert.Equal(t, "Immutable", o.label())
			}
		}
		instance := w.write(instanceWith(fmt.Sprintf(meta, "mydb"), `{"serviceType":"mysql","externalID":"e-1","parameters":{"a":{"b":{"c":1}}},`+bindRefs+`}`), nil).admitted()
		w.restock(stocked(t, "mysql/db: large*"))
		again := w.write(changed(t, instance, `{"spec":{"updateRequests":1}}`), instance).admitted()
		assert.JSONEq(t, `{"name":"db-large"}`, at(t, again, "/spec/clusterServicePlanRef"))
	}
}

// More nulls than can be recorded are refused, together with what is recorded of transforms.
func TestBindingRecordIsBounded(t *testing.T) {
	t.Parallel()
	defaults, nulls := map[string]any{}, map[string]any{}
	for i := range 100 {
		key := fmt.Sprintf("key-%0150d", i)
		defaults[key], nulls[key] = i, nil
	}
	transforms := make([]string, 200)
	for i := range transforms {
		transforms[i] = fmt.Sprintf(`{"removeKey":{"key":"k%d"}}`, i)
	}
	spec := fmt.Sprintf(`{"instanceRef":{"name":"mydb"},"parameters":%s}`, marshal(t, nulls))
	edits := []func(*stock){bindDefaultsOf("db-small", marshal(t, defaults)), hasInstance("mydb", "db-small")}
	fits := stocked(t, db, edits...).env().bindTo(spec).admitted()
	assert.Len(t, recordOf(t, fits).Removed, 100)
	o := stocked(t, db, append(edits, transformsOf("db-small", "["+strings.Join(transforms, ",")+"]"))...).env().bindTo(spec)
	require.NotNil(t, o.denied())
	assert.Equal(t, "TooLarge", o.label())
}

// What was stored while no hook looked is not refused at a touch, and cannot be decided.
func TestMisshapenBindingTouched(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]string{
		"OtherNamespace": `{"instanceRef":{"name":"mydb","namespace":"prod"}}`,
		"Selector":       `{"instanceRef":{"name":"mydb"},"planSelector":{"matchLabels":{"a":"b"}}}`, "ProvisionParameters": `{"instanceRef":{"name":"mydb"},"provisionParameters":{"a":1}}`,
		"TwoNames": `{"instanceRef":{"name":"mydb"},"clusterServiceClassName":"db","clusterServiceClassExternalName":"db"}`, "NoInstance": `{}`,
		"NoTransform": `{"instanceRef":{"name":"mydb"},"secretTransforms":[{}]}`, "NoParameters": `{"instanceRef":{"name":"mydb"},"parameters":["a"]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := stocked(t, db, hasInstance("mydb", "db-small")).env()
			old := bindingOf(spec)
			o := w.write(changed(t, old, `{"metadata":{"labels":{"a":"b"}}}`), old)
			assert.Equal(t, at(t, old, "/spec"), at(t, o.admitted(), "/spec"))
			require.NotNil(t, w.write(changed(t, old, `{"spec":{"secretName":"other"}}`), old).denied(), "an edit is told")
		})
	}
}
