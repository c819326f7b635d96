package webhook

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// What a plan that is gone gave is not the user's: the next plan's defaults take its place.
func TestLostPlansDefaultsAreNotTheUsers(t *testing.T) {
	t.Parallel()
	w := stocked(t, db, planDefaults("db-small", `{"storage":20,"only":"small","ssl":true,"deep":{"a":1,"b":2}}`)).env()
	stored := w.created(`{"serviceType":"mysql","parameters":{"ssl":null,"deep":{"a":9}}}`)
	w.restock(stocked(t, "mysql/db: large*", planDefaults("db-large", `{"storage":500,"deep":{"a":5,"b":6}}`)))
	moved := w.write(changed(t, stored, `{"spec":{"updateRequests":1}}`), stored).admitted()
	assert.JSONEq(t, `{"storage":500,"only":"small","ssl":null,"deep":{"a":9,"b":6}}`, at(t, moved, "/spec/parameters"))
	record := recordOf(t, moved)
	assert.Equal(t, map[string]string{"/storage": "plan", "/only": "plan", "/deep/b": "plan"}, record.From)
	assert.Equal(t, []string{"/ssl"}, record.Removed, "a null that took a default away is never sent")
}

// What an update of an instance whose plan is gone leaves out comes from the next plan: nothing is dropped.
func TestDefaultsThatComeBackAreNotDropped(t *testing.T) {
	t.Parallel()
	w := stocked(t, db, planDefaults("db-small", `{"storage":20}`)).env()
	stored := w.created(byType)
	w.restock(stocked(t, "mysql/db: large*", planDefaults("db-large", `{"storage":500}`)))
	moved := w.write(changed(t, stored, `{"spec":{"parameters":{"storage":null,"own":1}}}`), stored)
	assert.JSONEq(t, `{"storage":500,"own":1}`, at(t, moved.admitted(), "/spec/parameters"))
	assert.NotContains(t, strings.Join(moved.warnings(), "\n"), "dropped")
}

// Without a default that the new plan refuses, its schema may refuse another: the patch leaves both out.
func TestDefaultsThatAreRefusedInTurn(t *testing.T) {
	t.Parallel()
	const inTurn = `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"mode":{"enum":["y"]}},` +
		`"if":{"required":["mode"]},"else":{"properties":{"b":{"type":"string"}}}}`
	w := stocked(t, db, func(s *stock) { s.class("db").PlanUpdatable = true }, planDefaults("db-small", `{"mode":"x","b":1}`), createSchemaOf("db-large", inTurn)).env()
	stored := w.created(byName)
	denied := w.write(changed(t, stored, `{"spec":{"clusterServicePlanExternalName":"large"}}`), stored).denied()
	require.NotNil(t, denied)
	assert.Contains(t, denied.Message, `{"op":"remove","path":"/spec/parameters/b"},{"op":"remove","path":"/spec/parameters/mode"}`)
}

// A default of the lost plan that the next plan's schema refuses is told, with the patch that leaves it out.
func TestLostPlansDefaultsThatTheNextRefuses(t *testing.T) {
	t.Parallel()
	w := stocked(t, db, planDefaults("db-small", `{"only":"small"}`)).env()
	stored := w.created(byType)
	w.restock(stocked(t, "mysql/db: large*", createSchemaOf("db-large", `{"type":"object","additionalProperties":false}`)))
	refused := w.write(changed(t, stored, `{"spec":{"updateRequests":1}}`), stored).denied()
	assert.Contains(t, refused.Message, "the value is the default of the plan")
	assert.Contains(t, refused.Message, `{"op":"remove","path":"/spec/parameters/only"}`)
	moved := w.write(changed(t, stored, `{"spec":{"parameters":{"only":null}}}`), stored)
	assert.JSONEq(t, `{"name":"db-large"}`, at(t, moved.admitted(), "/spec/clusterServicePlanRef"))
}

// What a null took away changes what a broker is sent: it is recorded whole, however much else there is.
func TestRemovedIsNeverLeftOut(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range 400 {
		fmt.Fprintf(&many, `"some-rather-long-default-parameter-name-%04d":{"a":%d},`, i, i)
	}
	w := stocked(t, db, planDefaults("db-small", `{`+many.String()+`"ssl":true}`), createSchemaOf("db-small", `{"properties":{"ssl":{"type":"boolean"}}}`)).env()
	record := recordOf(t, w.created(`{"serviceType":"mysql","parameters":{"ssl":null}}`))
	assert.True(t, record.Truncated)
	assert.Equal(t, []string{"/ssl"}, record.Removed)

	var all strings.Builder
	for i := range 400 {
		fmt.Fprintf(&all, `"some-rather-long-default-parameter-name-%04d":null,`, i)
	}
	refused := w.create(`{"serviceType":"mysql","parameters":{` + strings.TrimSuffix(all.String(), ",") + `}}`).denied()
	assert.Contains(t, refused.Message, "take away more defaults than")
}

// A plan that a user names is recorded as named; of the defaults, those that are still there, which are not merged again.
func TestPlanChangeIsRecorded(t *testing.T) {
	t.Parallel()
	w := stocked(t, db, classDefaults("db", `{"zone":"a"}`), planDefaults("db-small", `{"size":"S","ssl":true,"only":1}`), planDefaults("db-large", `{"size":"L","more":2}`)).env()
	stored := w.created(`{"clusterServiceClassExternalName":"db","parameters":{"ssl":null}}`)
	record := recordOf(t, stored)
	assert.Equal(t, "class-default", record.Rule)

	moved := w.write(changed(t, stored, `{"spec":{"clusterServicePlanExternalName":"large","parameters":{"only":7}}}`), stored).admitted()
	assert.JSONEq(t, `{"zone":"a","size":"S","ssl":null,"only":7}`, at(t, moved, "/spec/parameters"))
	record.Rule, record.Plan = "named", "large"
	delete(record.From, "/only")
	assert.Equal(t, record, recordOf(t, moved))

	renamed := w.write(changed(t, stored, `{"spec":{"clusterServicePlanExternalName":null,"clusterServicePlanName":"db-small"}}`), stored).admitted()
	record = recordOf(t, stored)
	record.Rule = "named"
	assert.Equal(t, record, recordOf(t, renamed), "also the plan that it has, whose name the choice had filled in")

	w.restock(stocked(t, "mysql/db: small*"))
	back := w.write(changed(t, moved, `{"spec":{"updateRequests":1}}`), moved)
	assert.JSONEq(t, `{"name":"db-large"}`, at(t, back.admitted(), "/spec/clusterServicePlanRef"), "what a user named is not forgotten when it is gone")

	w.restock(stocked(t, "mysql/db: large*"))
	kept := w.write(changed(t, renamed, `{"spec":{"updateRequests":1}}`), renamed)
	assert.JSONEq(t, `{"name":"db-small"}`, at(t, kept.admitted(), "/spec/clusterServicePlanRef"), "nor if it is the plan that it had")
}

// An instance that is older than the hooks gets at its decision what others get when they are created.
func TestInstanceOlderThanTheHooks(t *testing.T) {
	t.Parallel()
	w := stocked(t, db).env()
	stored := instanceOf(byType)
	touched := w.write(stored, stored).admitted()
	assert.Equal(t, at(t, touched, "/spec/externalID"), at(t, touched, "/metadata/annotations/"+jsonPointer.Replace(v1beta1.AnnotationMintedExternalID)))
	assert.Len(t, at(t, touched, "/spec/externalID"), 38)
	assert.JSONEq(t, `["kubernetes-incubator/service-catalog"]`, at(t, touched, "/metadata/finalizers"))
	assert.Equal(t, "absent", at(t, touched, "/spec/userInfo"), "a touch is not by the user who asked for it")
}

// A broker that renames a class does not lock its instances: the decided class is the decided class.
func TestPlanChangesThoughTheClassIsRenamed(t *testing.T) {
	t.Parallel()
	w := stocked(t, "mysql/db: small large", updatable("db")).env()
	stored := w.created(byName)
	w.restock(stocked(t, "mysql/db: small large", updatable("db"), func(s *stock) { s.class("db").ExternalName = "dbx" }))
	for name, object := range map[string][]byte{
		"AnotherKindOfName": changed(t, stored, `{"spec":{"clusterServicePlanExternalName":null,"clusterServicePlanName":"db-large"}}`),
		"ThePlanAlone":      instanceOf(`{"clusterServicePlanExternalName":"large"}`),
		"TheNewName":        changed(t, stored, `{"spec":{"clusterServiceClassExternalName":"dbx","clusterServicePlanExternalName":"large","clusterServicePlanName":null}}`),
	} {
		moved := w.write(object, stored).admitted()
		assert.JSONEq(t, `{"name":"db-large"}`, at(t, moved, "/spec/clusterServicePlanRef"), name)
	}
}

// Fields are told apart as the API server tells them apart: by case.
func TestCaseMatters(t *testing.T) {
	t.Parallel()
	w := stocked(t, db).env()
	stored := w.write([]byte(`{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":"ServiceInstance","metadata":{"name":"mydb","namespace":"dev"},
		"spec":{"serviceType":"mysql","ServiceType":"nope","externalid":"mine"},"Spec":{"serviceType":"nope"}}`), nil).admitted()
	assert.JSONEq(t, `{"name":"db-small"}`, at(t, stored, "/spec/clusterServicePlanRef"))
	assert.Len(t, at(t, stored, "/spec/externalID"), 38, "minted, whatever another field says")
}

func updatable(class string) func(*stock) {
	return func(s *stock) { s.class(class).PlanUpdatable = true }
}
