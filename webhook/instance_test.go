package webhook

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// The main case: a manifest of four lines is completed.
func TestCreateByType(t *testing.T) {
	t.Parallel()
	w := stocked(t, "mysql/azure-mysql: basic50 premium-p1*",
		classDefaults("azure-mysql", `{"firewallRules":[{"name":"AllowAll"}]}`), planDefaults("azure-mysql-premium-p1", `{"location":"eastus"}`)).env()
	o := w.create(`{"serviceType":"mysql","parameters":{"location":"westus"}}`)
	stored := o.admitted()
	id := at(t, stored, "/spec/externalID")
	assert.Len(t, id, 38, "a UUID in quotes")
	for pointer, want := range map[string]string{
		"/spec/clusterServiceClassRef": `{"name":"azure-mysql"}`, "/spec/clusterServicePlanRef": `{"name":"azure-mysql-premium-p1"}`,
		"/spec/parameters":     `{"firewallRules":[{"name":"AllowAll"}],"location":"westus"}`,
		"/spec/userInfo":       `{"extra":{"scope":["a"]},"groups":["devs"],"uid":"u-1","username":"alice"}`,
		"/spec/serviceType":    `"mysql"`,
		"/metadata/finalizers": `["kubernetes-incubator/service-catalog"]`,
		"/metadata/labels":     hashes(`{"servicecatalog.k8s.io/spec.clusterServiceClassRef.name":"<hash of azure-mysql>","servicecatalog.k8s.io/spec.clusterServicePlanRef.name":"<hash of azure-mysql-premium-p1>"}`),
		"/metadata/annotations/servicecatalog.kubernetes.io~1minted-external-id": id,
	} {
		assert.Equal(t, want, at(t, stored, pointer), pointer)
	}
	assert.Equal(t, []string{"mysql resolved to plan azure-mysql/premium-p1 (default)", "defaults set firewallRules"}, o.mutate.Warnings)
	assert.Equal(t, map[string]string{"rule": "cluster-default", "plan": "azure-mysql/premium-p1"}, o.mutate.AuditAnnotations)
	assert.Empty(t, o.validate.Warnings)
}

// Every rule tells what it chose, in the words of the proposals.
func TestWarningsOfRules(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ catalog, spec, warning, rule string }{
		"Named":              {db, byName, "", "named"},
		"OnlyPlan":           {"db: small", `{"clusterServiceClassName":"db"}`, "class db resolved to plan db/small (its only plan)", "only-plan"},
		"ClassDefault":       {db, `{"clusterServiceClassExternalID":"id-db"}`, "class db resolved to plan db/small (default)", "class-default"},
		"ClassSuggested":     {"db: small? large", `{"clusterServiceClassName":"db"}`, "class db resolved to plan db/small (suggested)", "class-suggested"},
		"Selector":           {"db: small=1{a=b} large=2{a=b}", `{"planSelector":{"matchLabels":{"a":"b"}}}`, "the plan selector resolved to plan db/large (the heaviest match)", "selector"},
		"NamespaceDefault":   {"dev|" + db, byType, "mysql resolved to plan db/small (default of the namespace)", "namespace-default"},
		"NamespaceSuggested": {"dev|mysql/db: small?", byType, "mysql resolved to plan db/small (suggested in the namespace)", "namespace-suggested"},
		"ClusterSuggested":   {"mysql/db: small?", byType, "mysql resolved to plan db/small (suggested)", "cluster-suggested"},
		"Restored": {db, `{"externalID":"e","clusterServiceClassRef":{"name":"db"},"clusterServicePlanRef":{"name":"db-small"}}`,
			"taken as decided: plan db/small, as the references say; no default was applied", "restored"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := stocked(t, tc.catalog).env()
			o := w.create(tc.spec)
			stored := o.admitted()
			assert.Equal(t, tc.warning, strings.Join(o.warnings(), "\n"))
			assert.Equal(t, tc.rule, o.mutate.AuditAnnotations["rule"])
			assert.Equal(t, tc.rule, recordOf(t, stored).Rule)
			assert.Equal(t, "db/"+recordOf(t, stored).Plan, o.mutate.AuditAnnotations["plan"])
		})
	}
}

// A class-only request reads its plan where it named its class, in both scopes and by every kind of name.
func TestChosenPlanIsNamed(t *testing.T) {
	t.Parallel()
	for _, scope := range []string{"clusterService", "service"} {
		for kind, names := range map[string][2]string{"ExternalName": {"db", "small"}, "ExternalID": {"id-db", "id-small"}, "Name": {"db", "db-small"}} {
			w := stocked(t, db+";dev|"+db).env()
			stored := w.created(fmt.Sprintf(`{"%sClass%s":"%s"}`, scope, kind, names[0]))
			assert.Equal(t, fmt.Sprintf("%q", names[1]), at(t, stored, "/spec/"+scope+"Plan"+kind))
			assert.JSONEq(t, `{"name":"db-small"}`, at(t, stored, "/spec/"+scope+"PlanRef"))
		}
	}
}

// Only an ID that was minted for this very object bears the mark.
func TestMintedMark(t *testing.T) {
	t.Parallel()
	const mark = "/metadata/annotations/servicecatalog.kubernetes.io~1minted-external-id"
	marked := `{"name":"mydb","namespace":"dev","annotations":{"` + v1beta1.AnnotationMintedExternalID + `":"forged","` + v1beta1.AnnotationAppliedDefaults + `":"forged"}}`
	w := stocked(t, db).env()
	minted := w.write(instanceWith(marked, byType), nil).admitted()
	assert.Equal(t, at(t, minted, "/spec/externalID"), at(t, minted, mark), "a new ID is generated")
	given := w.write(instanceWith(marked, `{"serviceType":"mysql","externalID":"forged"}`), nil).admitted()
	assert.Equal(t, `"forged"`, at(t, given, "/spec/externalID"))
	assert.Equal(t, `""`, at(t, given, mark), "a given ID is never a minted one")
	w.options.Unresolved = options.UnresolvedWait
	waits := w.write(instanceWith(marked, `{"serviceType":"nope"}`), nil).admitted()
	assert.Equal(t, `""`, at(t, waits, "/metadata/annotations/servicecatalog.kubernetes.io~1applied-defaults"), "nothing was applied yet")
	assert.NotEqual(t, at(t, minted, "/spec/externalID"), at(t, waits, "/spec/externalID"))
}

// A backup, or an object of the retired catalog, comes with its references.
func TestRestored(t *testing.T) {
	t.Parallel()
	w := stocked(t, db, planDefaults("db-small", `{"size":"P1"}`)).env()
	backup := w.created(byType)
	w.restock(stocked(t, "mysql/db: small large*", planDefaults("db-small", `{"size":"P9"}`)))
	restored := w.write(backup, nil).admitted()
	assert.Equal(t, at(t, backup, "/spec"), at(t, restored, "/spec"), "nothing is decided or merged again")
	record := recordOf(t, restored)
	assert.Equal(t, v1beta1.AppliedDefaults{Rule: "restored", Class: "db", Plan: "small", From: map[string]string{"/size": "plan"}}, record, "what was a default still is")
	broken := w.write(changed(t, backup, `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/applied-defaults":"{"}}}`), nil).admitted()
	assert.Equal(t, v1beta1.AppliedDefaults{Rule: "restored", Class: "db", Plan: "small"}, recordOf(t, broken))
}

// generateName, dry run and repetition: a choice is a function of the request.
func TestTieBreak(t *testing.T) {
	t.Parallel()
	plans := "db:"
	for i := range 20 {
		plans += fmt.Sprintf(" p%d{a=b}", i)
	}
	const spec = `{"planSelector":{"matchLabels":{"a":"b"}}}`
	w := stocked(t, plans).env()
	first := at(t, w.created(spec), "/spec/clusterServicePlanRef")
	w.dryRun = true
	assert.Equal(t, first, at(t, w.created(spec), "/spec/clusterServicePlanRef"), "a dry run tells the truth")
	w.nameless = true
	picks := map[string]bool{}
	for range 20 {
		picks[at(t, w.created(spec), "/spec/clusterServicePlanRef")] = true
	}
	assert.Greater(t, len(picks), 5, "before there is a name, requests spread")
}

// What touches an instance that waits is never refused for what the instance waits for.
func TestTouchIsNotRefused(t *testing.T) {
	t.Parallel()
	cases := map[string][]func(*stock){
		"BrokenDefaults":  {planDefaults("db-small", `[]`)},
		"SchemaViolation": {createSchemaOf("db-small", `{"required":["size"]}`)},
		"TooLarge":        {planDefaults("db-small", `{"big":"`+strings.Repeat("x", 300<<10)+`"}`)},
	}
	for name, edits := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := stocked(t, "other:").env()
			waits := w.created(byName)
			w.restock(stocked(t, db, edits...))
			o := w.write(changed(t, waits, `{"metadata":{"labels":{"a":"b"}}}`), waits)
			o.admitted()
			assert.Contains(t, strings.Join(o.warnings(), "\n"), "no plan is decided yet")
			assert.Equal(t, name, o.mutate.AuditAnnotations["undecided"])
			require.NotNil(t, w.write(changed(t, waits, `{"spec":{"updateRequests":1}}`), waits).denied(), "a change of spec is")
		})
	}
}

// With all gates off, the manifests of the retired catalog are admitted as they always were.
func TestGatesOff(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, catalog, spec string
		plan                  string // "" for a refusal, "absent" for none
	}{
		"Named":        {"Class and plan.", db, byName, `{"name":"db-small"}`},
		"NamedOther":   {"What it says of its type is not read.", db, `{"serviceType":"redis","clusterServiceClassName":"db","clusterServicePlanName":"db-small"}`, `{"name":"db-small"}`},
		"NamedAbsent":  {"Class and plan that are not there yet.", "other:", byName, "absent"},
		"OnlyPlan":     {"The class's only plan.", "mysql/db: small*", `{"clusterServiceClassName":"db"}`, `{"name":"db-small"}`},
		"SeveralPlans": {"Several need a name.", db, `{"clusterServiceClassName":"db"}`, ""},
		"NoDefaults":   {"A type is not known.", db, byType, ""},
		"NoSelector":   {"Nor a selector.", "db: small{a=b}", `{"planSelector":{"matchLabels":{"a":"b"}}}`, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			edits := []func(*stock){}
			if strings.HasPrefix(tc.catalog, "mysql/db") {
				edits = append(edits, planDefaults("db-small", `{"size":1}`), createSchemaOf("db-small", `{"required":["x"]}`))
			}
			w := stocked(t, tc.catalog, edits...).env()
			gatesOff(w, options.ServiceTypes, options.ParameterDefaults, options.SuggestedPlans, options.SchemaChecks)
			o := w.create(tc.spec)
			if tc.plan == "" {
				require.NotNil(t, o.denied(), tc.reason)
				return
			}
			stored := o.admitted()
			assert.Equal(t, tc.plan, at(t, stored, "/spec/clusterServicePlanRef"), tc.reason)
			assert.Equal(t, "absent", at(t, stored, "/spec/parameters"), "no default is merged")
		})
	}
}
