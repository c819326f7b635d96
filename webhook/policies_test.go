package webhook

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPolicies(t *testing.T) {
	t.Parallel()
	for name, tc := range policedInstances() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := tc.run(t)
			if tc.denied != "" {
				require.NotNil(t, o.denied(), tc.reason)
				assert.Equal(t, tc.denied, o.label(), tc.reason)
				assert.Contains(t, o.denied().Message, tc.says, tc.reason)
				return
			}
			stored := o.admitted()
			ref := at(t, stored, "/spec/clusterServicePlanRef/name")
			if ref == "absent" {
				ref = at(t, stored, "/spec/servicePlanRef/name")
			}
			assert.Equal(t, tc.plan, strings.Trim(ref, `"`), tc.reason)
			if tc.warnings != "" {
				assert.Contains(t, strings.Join(o.warnings(), "\n"), tc.warnings, tc.reason)
			}
		})
	}
}

func policedInstances() map[string]policedCase {
	const two = "mysql/db{tier=paid}: small* large{cores=9}"
	const bySelector = `{"planSelector":{"matchLabels":{"a":"b"}}}`
	const large = `{"clusterServiceClassExternalName":"db","clusterServicePlanExternalName":"large"}`
	labelledNS := []func(*stock){hasNamespace("dev", "stage", "test")}
	refs := `{"externalID":"e-1",` + bindRefs + `}`
	return map[string]policedCase{
		"None":         {reason: "No policy, no refusal.", catalog: two, spec: byType, plan: "db-small"},
		"DeniedByType": {reason: "The type's default is refused by the policy's name and message.", catalog: two, policies: []string{"deny freeze type=mysql says=no-databases-until-May"}, spec: byType, denied: "PolicyDenied", says: `ProvisioningPolicy "freeze" does not let namespace "dev" use plan db/small: no databases until May`},
		"DeniedNamed":  {reason: "So is a plan by name.", catalog: two, policies: []string{"deny budget plan=large in=dev,qa"}, spec: large, denied: "PolicyDenied", says: "budget"},
		"OtherPlan":    {reason: "Another plan is not.", catalog: two, policies: []string{"deny budget plan=large in=dev"}, spec: byType, plan: "db-small"},
		"OtherPlace":   {reason: "Nor another namespace.", catalog: two, policies: []string{"deny budget plan=large in=qa"}, spec: large, plan: "db-large"},
		"ByClass":      {reason: "A class's name is all of its plans.", catalog: two, policies: []string{"deny x class=db"}, spec: `{"clusterServiceClassName":"db"}`, denied: "PolicyDenied"},
		"ByLabel":      {reason: "Labels of plans select them.", catalog: two, policies: []string{"deny x label=cores:9"}, spec: large, denied: "PolicyDenied"},
		"ByClassLabel": {reason: "Those of their classes, too.", catalog: two, policies: []string{"deny x label=tier:paid"}, spec: byType, denied: "PolicyDenied"},
		"ByExternalID": {reason: "An ID is no name: a copy has its original's.", catalog: two, policies: []string{"deny x plan=id-large", "deny y class=id-db"}, spec: large, plan: "db-large"},
		"ByNamespaceLabel": {
			reason: "Labels of namespaces select them.", catalog: two, edits: labelledNS, policies: []string{"deny x type=mysql where=stage:test"}, spec: byType, denied: "PolicyDenied",
		},
		"ByOtherNamespaceLabel": {reason: "Other labels do not.", catalog: two, edits: labelledNS, policies: []string{"deny x type=mysql where=stage:prod"}, spec: byType, plan: "db-small"},
		"NamespaceUnknown":      {reason: "A namespace that is not there has no labels.", catalog: two, policies: []string{"deny x type=mysql where=stage:test"}, spec: byType, plan: "db-small"},
		"AllowedHere":           {reason: "Who is allowed, may.", catalog: two, policies: []string{"allow x type=mysql in=dev", "allow y type=mysql in=qa"}, spec: byType, plan: "db-small"},
		"AllowedElsewhere": {
			reason: "Once any policy allows a plan, only where one allows it.", catalog: two, policies: []string{"allow x type=mysql in=qa says=ask-ann", "allow y plan=small in=prod"}, spec: byType,
			denied: "PolicyDenied", says: `plan db/small is only for the namespaces that ProvisioningPolicy "x", "y" names, and "dev" is not one of them: ask ann`,
		},
		"AllowedElsewhereByMany": {
			reason: "Many are counted.", catalog: two, policies: []string{"allow a type=mysql in=qa", "allow b type=mysql in=qb", "allow c type=mysql in=qc", "allow d type=mysql in=qd", "allow e type=mysql in=qe"}, spec: byType,
			denied: "PolicyDenied", says: `ProvisioningPolicy "a", "b", "c" or one of 2 more names`,
		},
		"AllowElseOfOthers": {reason: "What is allowed elsewhere of other plans matters not.", catalog: two, policies: []string{"allow x plan=large in=qa"}, spec: byType, plan: "db-small"},
		"DenyWins":          {reason: "Any deny wins.", catalog: two, policies: []string{"allow a type=mysql in=dev", "deny z plan=small"}, spec: byType, denied: "PolicyDenied", says: `"z"`},
		"OfBindings":        {reason: "A policy about bindings is none about instances.", catalog: two, policies: []string{"bind-deny x type=mysql", "bind-allow y type=mysql in=qa"}, spec: byType, plan: "db-small"},
		"NamespacedPlan": {
			reason: "A namespace's own plans are plans.", catalog: "dev|mysql/db: small*", policies: []string{"deny x type=mysql in=dev"}, spec: byType, denied: "PolicyDenied",
		},
		"NamespaceDefaultDenied": {
			reason: "A default that is denied is refused, not passed over for a lower tier.", catalog: "dev|mysql/own: tiny*;mysql/db: small*", policies: []string{"deny x class=own"}, spec: byType, denied: "PolicyDenied", says: "own/tiny",
		},
		"ClassDefaultDenied": {reason: "So is a class's.", catalog: two, policies: []string{"deny x plan=small"}, spec: `{"clusterServiceClassExternalName":"db"}`, denied: "PolicyDenied", says: "db/small"},
		"OnlyPlanDenied":     {reason: "And its only one.", catalog: "db: small", policies: []string{"deny x plan=small"}, spec: `{"clusterServiceClassExternalName":"db"}`, denied: "PolicyDenied"},
		"SelectorPasses": {
			reason: "A selector passes over what is denied here.", catalog: "db: small{a=b}=9 large{a=b}=1", policies: []string{"deny x plan=small in=dev"}, spec: bySelector, plan: "db-large",
		},
		"SelectorElsewhere": {reason: "And not over what is denied elsewhere.", catalog: "db: small{a=b}=9 large{a=b}=1", policies: []string{"deny x plan=small in=qa"}, spec: bySelector, plan: "db-small"},
		"SelectorAllDenied": {
			reason: "Where all are denied, it is told by what.", catalog: "db: small{a=b} large{a=b}", policies: []string{"deny x plan=small", "allow y plan=large in=qa"}, spec: bySelector, denied: "NoMatch", says: "denied by policy y",
		},
		"SelectorJustDenied": {
			reason: "A policy that only the API server has does not hold yet: replicas learn of it in a moment.", catalog: "db: small{a=b}=9 large{a=b}=1", behind: true, policies: []string{"deny x plan=small"}, spec: bySelector, plan: "db-small",
		},
		"SelectorJustAllowed": {
			reason: "Where all are denied by policies that are gone, the API server decides.", catalog: "db: small{a=b}=9 large{a=b}=1", known: []string{"deny x plan=small", "deny y plan=large"}, spec: bySelector, plan: "db-small",
		},
		"JustDeleted": {reason: "A policy that was just deleted refuses no one.", catalog: two, known: []string{"deny x type=mysql"}, spec: byType, plan: "db-small"},
		"JustChanged": {reason: "What is refused is told by the policy as it is now.", catalog: two, known: []string{"deny x type=mysql says=old"}, policies: []string{"deny x type=mysql says=new"}, spec: byType, denied: "PolicyDenied", says: "db/small: new"},
		"JustCreated": {reason: "One that the cache has not seen holds in a moment.", catalog: two, behind: true, policies: []string{"deny x type=mysql"}, spec: byType, plan: "db-small"},
		"AskedTooOften": {
			reason: "Over the limit the cache decides, and the refusal says so.", catalog: two, known: []string{"deny x type=mysql"}, adjust: exhaust, spec: byType, denied: "PolicyDenied", says: "judged by the webhook's cache",
		},
		"Restored":          {reason: "What comes with its references is held against the policies too.", catalog: db, policies: []string{"deny x plan=small"}, spec: refs, denied: "PolicyDenied"},
		"RestoredAllowed":   {reason: "And admitted where they allow it.", catalog: db, policies: []string{"deny x plan=large"}, spec: refs, plan: "db-small"},
		"PlanChange":        {reason: "So is another plan.", catalog: db, policies: []string{"deny x plan=large says=too-dear"}, spec: byType, write: `{"spec":{"clusterServicePlanExternalName":"large"}}`, denied: "PolicyDenied", says: "too dear"},
		"PlanChangeAllowed": {reason: "Unless it is allowed.", catalog: db, policies: []string{"deny x plan=small"}, spec: byType, write: `{"spec":{"clusterServicePlanExternalName":"large"}}`, plan: "db-large"},
		"OtherUpdate":       {reason: "What has its plan keeps it, whatever the policies say now.", catalog: db, policies: []string{"deny x type=mysql"}, spec: byType, write: `{"spec":{"parameters":{"a":1}}}`, plan: "db-small"},
		"Unreadable":        {reason: "A policy that cannot be read refuses no one.", catalog: two, policies: []string{"deny x broken"}, spec: byType, plan: "db-small"},
	}
}

// A policy does not refuse who touches what waits: it keeps waiting, and is told why.
func TestPolicyLeavesUndecided(t *testing.T) {
	t.Parallel()
	w := stocked(t, "other:").env()
	waits := w.created(byName)
	w.restock(stocked(t, db, ruled("deny x type=mysql says=ask-ann")))
	o := w.write(changed(t, waits, `{"metadata":{"labels":{"a":"b"}}}`), waits)
	assert.Equal(t, at(t, waits, "/spec"), at(t, o.admitted(), "/spec"))
	assert.Equal(t, []string{`no plan is decided yet: spec: ProvisioningPolicy "x" does not let namespace "dev" use plan db/small: ask ann; the instance waits`}, o.warnings())
	assert.Equal(t, "PolicyDenied", o.mutate.AuditAnnotations["undecided"])
	edited := w.write(changed(t, waits, `{"spec":{"parameters":{"a":1}}}`), waits)
	require.NotNil(t, edited.denied(), "an edit is refused")
	w.restock(stocked(t, db))
	assert.JSONEq(t, `{"name":"db-small"}`, at(t, w.write(waits, waits).admitted(), "/spec/clusterServicePlanRef"), "without the policy it is decided")
}

// A refusal does not advise what would be refused next.
func TestRefusalsDoNotAdviseDenied(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ catalog, spec, advice string }{
		"NoDefault":      {"mysql/db: small large huge", byType, "name one: spec.clusterServiceClassExternalName: db, spec.clusterServicePlanExternalName: small"},
		"ClassAmbiguous": {"mysql/db: small large huge", `{"clusterServiceClassExternalName":"db"}`, "spec.clusterServicePlanExternalName: small"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := stocked(t, tc.catalog, ruled("deny budget plan=huge", "deny frugal plan=large in=dev")).env()
			o := w.create(tc.spec)
			require.NotNil(t, o.denied())
			_, way, _ := strings.Cut(o.denied().Message, "→")
			assert.Contains(t, way, tc.advice)
			assert.NotContains(t, way, "huge")
			assert.NotContains(t, way, "large")
		})
	}
}

// The labels of a namespace may have been stored just now: the cache is asked first, and before a refusal the API server.
func TestPoliciesOfANewNamespace(t *testing.T) {
	t.Parallel()
	rule := ruled("deny x type=mysql where=stage:test")
	inStage := func(stage string) *stock { return stocked(t, db, rule, hasNamespace("dev", "stage", stage)) }
	for name, tc := range map[string]struct {
		cached, live *stock
		denied       bool
	}{
		"NotInTheCache":      {stocked(t, db, rule), inStage("test"), true},
		"RelabelledSince":    {inStage("test"), inStage("prod"), false},
		"LabelledSince":      {inStage("prod"), inStage("test"), false},
		"InTheCacheAndThere": {inStage("test"), inStage("test"), true},
	} {
		o := envOf(t, tc.cached, tc.live).create(byType)
		assert.Equal(t, tc.denied, o.denied() != nil, name)
	}
}
