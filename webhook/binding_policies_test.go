package webhook

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
)

// Bindings are held against the policies of both kinds.
func TestBindingPolicies(t *testing.T) {
	t.Parallel()
	checkBindings(t, bindingPolicyCases())
}

func bindingPolicyCases() map[string]bindingCase {
	under := func(policies ...string) func(at string) []func(*stock) {
		return func(at string) []func(*stock) {
			return []func(*stock){hasInstance("mydb", at+"db-small", labelled("stage", "test")), hasNamespace("dev", "team", "a"), ruled(policies...)}
		}
	}
	denied := func(reason string, policies ...string) bindingCase {
		return bindingCase{reason: reason, edits: under(policies...), spec: toMydb, denied: "PolicyDenied"}
	}
	allowed := func(reason string, policies ...string) bindingCase {
		return bindingCase{reason: reason, edits: under(policies...), spec: toMydb, plan: "db-small"}
	}
	backup := `{"instanceRef":{"name":"mydb"},"externalID":"e-1",` + bindRefs + `}`
	nothing := func(string) []func(*stock) { return []func(*stock){} }
	unready := denied("Over the limit the cache decides, and says so.", "bind-deny x type=mysql")
	unready.adjust = exhaust
	deleted := allowed("A policy that was just deleted refuses no one.")
	deleted.behind = under("bind-deny x type=mysql", "deny y type=mysql")
	fresh := allowed("One that the cache has not seen holds in a moment.", "bind-deny x type=mysql")
	fresh.behind = under()
	return map[string]bindingCase{
		"ByInstance":         denied("An instance by its name.", "bind-deny x instance=dev/mydb says=ask-ann"),
		"ByInstanceLabel":    denied("Or its labels.", "bind-deny x ilabel=stage:test"),
		"ByPlan":             denied("Or its plan.", "bind-deny x plan=small"),
		"ByClass":            denied("Or its class.", "bind-deny x class=db"),
		"ByType":             denied("Or its type.", "bind-deny x type=mysql"),
		"ByNamespaceLabel":   denied("Where the namespace has the label.", "bind-deny x type=mysql where=team:a"),
		"ByProvisioning":     denied("Where there may be no instance, there may be no new binding.", "deny x plan=small says=frozen"),
		"AllowedElsewhere":   denied("Being allowed elsewhere is not enough.", "bind-allow x instance=dev/mydb in=qa", "bind-allow y type=mysql in=prod"),
		"AllowedToProvision": denied("Being allowed to provision is none to bind.", "allow x type=mysql in=dev", "bind-allow y type=mysql in=qa"),
		"AllowedToBind":      denied("Nor the other way around.", "bind-allow x type=mysql in=dev", "allow y type=mysql in=qa"),
		"OtherInstance":      allowed("Others are others.", "bind-deny x instance=dev/other", "bind-deny y instance=prod/mydb", "bind-deny z ilabel=stage:prod", "deny v plan=large"),
		"AllSaid":            allowed("All that a subject says must be so.", "bind-deny x instance=dev/mydb ilabel=stage:prod"),
		"AllowedHere":        allowed("Who is allowed by both, may.", "bind-allow x instance=dev/mydb in=dev", "allow y type=mysql in=dev"),
		"OtherPlace":         allowed("What holds elsewhere does not hold here.", "bind-deny x type=mysql in=qa", "deny y type=mysql where=team:b"),
		"AskedTooOften":      unready, "JustDeleted": deleted, "JustCreated": fresh,
		"Restored":      {reason: "A backup is held against them, too.", edits: under("bind-deny x plan=small"), spec: backup, denied: "PolicyDenied"},
		"RestoredAhead": {reason: "Before its instance it waits, whatever its references say.", edits: func(string) []func(*stock) { return []func(*stock){ruled("deny x plan=small")} }, spec: backup, warnings: []string{`no plan is decided yet: instance "mydb" does not exist yet; the binding waits`}},
		"GivenID":       {reason: "An object of the retired catalog, too.", edits: under("deny x plan=small"), spec: `{"instanceRef":{"name":"mydb"},"externalID":"e-1"}`, denied: "PolicyDenied"},
		"Touched": {
			reason: "A touch leaves it waiting.", edits: nothing, spec: toMydb, later: under("bind-deny x type=mysql says=ask-ann"), write: `{"metadata":{"labels":{"a":"b"}}}`, want: `{"metadata":{"labels":{"a":"b"}}}`,
			warnings: []string{`no plan is decided yet: spec.instanceRef.name: BindingPolicy "x" does not let namespace "dev" use instance "mydb" (plan db/small): ask ann; the binding waits`},
		},
		"Edited": {reason: "An edit is refused.", edits: nothing, spec: toMydb, later: under("bind-deny x type=mysql"), write: `{"spec":{"parameters":{"a":1}}}`, denied: "PolicyDenied"},
	}
}

// A binding is made of the plan that the instance has, whatever it asks for meanwhile.
func TestPlanInForceUnderPolicies(t *testing.T) {
	t.Parallel()
	// under is the instance that asks for plan small and has another, under policies.
	under := func(has string, policies ...string) func(at string) []func(*stock) {
		return func(at string) []func(*stock) {
			return []func(*stock){hasInstance("mydb", at+"db-small", standingAs("id-db", "id-"+has, at != "")), hasNamespace("dev", "team", "a"), ruled(policies...)}
		}
	}
	settled := func(reason, has string, policies ...string) bindingCase {
		return bindingCase{reason: reason, edits: under(has, policies...), spec: toMydb, plan: "db-small"}
	}
	denied := func(reason, has string, policies ...string) bindingCase {
		return bindingCase{reason: reason, edits: under(has, policies...), spec: toMydb, denied: "PolicyDenied"}
	}
	// during is the instance that asks for plan small and has plan small or nothing, while an operation runs.
	during := func(tc bindingCase, operation v1beta1.InstanceOperation, gives string, policies ...string) bindingCase {
		tc.edits = func(at string) []func(*stock) {
			edits := []func(*v1beta1.ServiceInstance){becoming(operation, "id-db", gives, at != "")}
			if operation == v1beta1.InstanceUpdate {
				edits = append(edits, standingAs("id-db", "id-small", at != ""))
			}
			return []func(*stock){hasInstance("mydb", at+"db-small", edits...), hasNamespace("dev", "team", "a"), ruled(policies...)}
		}
		return tc
	}
	restored := denied("A backup, too.", "large", "deny x plan=large")
	restored.spec = `{"instanceRef":{"name":"mydb"},"externalID":"e-1",` + bindRefs + `}`
	checkBindings(t, map[string]bindingCase{
		"Has":          denied("The plan that it has is denied.", "large", "bind-deny x plan=large"),
		"Asks":         denied("The plan that it asks for is denied.", "large", "deny x plan=small"),
		"Neither":      settled("No policy is about either.", "large", "deny x plan=other"),
		"Same":         settled("It has what it asks for.", "small", "deny x plan=large"),
		"Unlisted":     denied("What policies say of a plan that is not there cannot be known.", "gone", "deny x plan=other"),
		"UnlistedFree": settled("Without policies nothing is denied.", "gone"),
		"Restored":     restored,

		"Provisioned":   during(denied("The plan that it is given is denied.", ""), v1beta1.InstanceProvision, "id-large", "bind-deny x plan=large"),
		"ProvisionedAs": during(settled("It is given what it asks for.", ""), v1beta1.InstanceProvision, "id-small", "bind-deny x plan=large"),
		"Updated":       during(denied("A change of plan runs.", ""), v1beta1.InstanceUpdate, "id-large", "bind-deny x plan=large"),
		"UpdatedAs":     during(settled("No policy is about either.", ""), v1beta1.InstanceUpdate, "id-large", "bind-deny x plan=other"),
		"Unsaid":        during(denied("Which plan it is given cannot be known.", ""), v1beta1.InstanceProvision, "", "deny x plan=other"),
		"UnsaidFree":    during(settled("Without policies nothing is denied.", ""), v1beta1.InstanceUpdate, ""),
		"Deprovisioned": during(settled("What is taken away is given to no one.", ""), v1beta1.InstanceDeprovision, "", "deny x plan=large"),
	})
}

// To find the plan that an instance has costs a bounded number of live reads, and of these a namespace has a rate.
func TestPlanInForceIsFoundByFewReads(t *testing.T) {
	t.Parallel()
	// with is the number of further plans that share the ID of the one that the instance has.
	with := func(further int) bindingCase {
		return bindingCase{spec: toMydb, plan: "db-small", edits: func(at string) []func(*stock) {
			edits := []func(*stock){hasInstance("mydb", at+"db-small", standingAs("id-db", "id-large", at != "")), hasNamespace("dev", "team", "a"), ruled("deny x plan=other")}
			for i := range further {
				plan := resolve.PlanEntry{Ref: resolve.Ref{Namespace: strings.TrimSuffix(at, "/"), Name: fmt.Sprintf("db-%d", i)}, Class: "db", ExternalName: "copy", ExternalID: "id-large"}
				edits = append(edits, func(s *stock) { s.objects = append(s.objects, planObject(&plan)) })
			}
			return edits
		}}
	}
	without := with(0)
	without.edits = func(at string) []func(*stock) { return []func(*stock){hasInstance("mydb", at+"db-small")} }
	for _, namespaced := range []bool{false, true} {
		w, _, o := without.run(t, namespaced)
		o.admitted()
		quiet := len(w.live.taken())
		w, _, o = with(7).run(t, namespaced)
		o.admitted()
		assert.Len(t, w.live.taken(), quiet+2, "one list, one class")
		_, _, o = with(8).run(t, namespaced)
		require.NotNil(t, o.denied(), "that many are not looked at")
		assert.Contains(t, o.denied().Message, "no plan of the catalog is that one")
	}
	often := with(0)
	often.adjust = exhaust
	w, _, o := often.run(t, false)
	require.NotNil(t, o.denied())
	assert.Contains(t, o.denied().Message, "this namespace asks too often to look for it")
	for _, read := range w.live.taken() {
		assert.NotContains(t, read, "Plan")
	}
}

// A settled binding is its policies' no more.
func TestSettledBindingUnderPolicies(t *testing.T) {
	t.Parallel()
	w := stocked(t, db, richly("")...).env()
	stored := w.bindTo(rich).admitted()
	w.restock(stocked(t, db, append(richly(""), ruled("deny x type=mysql", "bind-deny y type=mysql"))...))
	assert.Equal(t, meant(t, stored), meant(t, w.write(bindingOf(rich), stored).admitted()))
	assert.Empty(t, w.write(stored, stored).mutate.Patch)
}
