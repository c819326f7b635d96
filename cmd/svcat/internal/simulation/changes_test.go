package simulation

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/simulation/world"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// listing is a catalog with one service of type mysql and these plans; the first is suggested.
func listing(plans ...string) string {
	return `{"services":[{"id":"db","name":"mysql","description":"d","bindable":true,"plan_updateable":true,"tags":["ServiceType=mysql"],"plans":[` + strings.Join(plans, ",") + `]}]}`
}

// listed is one plan, with what else it says.
func listed(name string, more ...string) string {
	return fmt.Sprintf(`{"id":%[1]q,"name":%[1]q,"description":"d","free":false%[2]s}`, name, strings.Join(append([]string{""}, more...), ","))
}

func catalogChange(answer string) Change {
	return Change{Catalog: &Catalog{Broker: "shop", Answer: []byte(answer)}}
}

const (
	suggested = `"tags":["SuggestedPlan=true"]`
	required  = `"schemas":{"service_instance":{"create":{"parameters":{"type":"object","required":["size"]}},"update":{"parameters":{"type":"object","required":["size"]}}}}`
)

func monthly(amount string) string {
	return `"metadata":{"costs":[{"amount":{"usd":` + amount + `},"unit":"MONTHLY"}]}`
}

// An expectation is the part of a report that a case is about.
type expectation struct {
	Types     []string
	Instances []string
	Bindings  []string
	Limits    []string
	Refusals  []string
	Costs     []string
}

// told is a report in words.
func told(r *Report) expectation {
	var e expectation
	for _, t := range r.Types {
		e.Types = append(e.Types, fmt.Sprintf("%s/%s: %s -> %s", t.Namespace, t.Type, resolved(t.Now), resolved(t.Then)))
	}
	effects := func(all []Effect) (words []string) {
		for _, i := range all {
			words = append(words, strings.TrimRight(fmt.Sprintf("%s/%s %s %s>%s %.40s", i.Namespace, i.Name, i.What, i.Now, i.Then, i.Message), " "))
		}
		return words
	}
	e.Instances, e.Bindings = effects(r.Instances), effects(r.Bindings)
	for _, l := range r.Limits {
		e.Limits = append(e.Limits, fmt.Sprintf("%s in %s: %s -> %s %s", l.Policy, l.Namespace, used(l.Now), used(l.Then), l.Kind))
	}
	for _, f := range r.Refusals {
		e.Refusals = append(e.Refusals, fmt.Sprintf("%s %s/%s %t", f.Kind, f.Namespace, f.Name, f.Change))
	}
	for _, c := range r.Costs.Namespaces {
		e.Costs = append(e.Costs, fmt.Sprintf("%s: %v %d -> %v %d", c.Namespace, c.Now.Costs, c.Now.Unknown, c.Then.Costs, c.Then.Unknown))
	}
	return e
}

func resolved(r Resolution) string {
	switch {
	case r.Waits:
		return "waits"
	case r.Refusal != "":
		return "refused"
	}
	return r.Class + "/" + r.Plan + " " + r.Rule
}

func used(u Usage) string {
	if u.Limit == nil {
		return "none"
	}
	return fmt.Sprintf("%d (%d) of %d", u.Used, u.Granted, *u.Limit)
}

// Every kind of change is answered in every way that it can be.
func TestChanges(t *testing.T) {
	t.Parallel()
	instance := func(namespace, name, more string) string {
		return fmt.Sprintf(`{kind: ServiceInstance, metadata: {name: %s, namespace: %s}, spec: {serviceType: mysql%s}}`, name, namespace, more)
	}
	small, large := listed("small", suggested, monthly("10")), listed("large", monthly("25.50"))
	cases := map[string]struct {
		reason  string
		options *options.Options
		catalog string
		texts   []string
		changes []Change
		want    expectation
	}{
		"PlanLeaves": {
			reason: "A used plan that is not listed is gone, and its type resolves to none; what it costs is known nevertheless.",
			texts:  []string{instance("dev", "a", "")}, changes: []Change{catalogChange(listing(large))},
			want: expectation{
				Types:     []string{"dev/mysql: mysql/small cluster-suggested -> refused", "prod/mysql: mysql/small cluster-suggested -> refused"},
				Instances: []string{"dev/a PlanGone mysql/small> it is removed from its broker's catalog"},
				Refusals:  []string{"ServiceType dev/mysql false", "ServiceType prod/mysql false"},
			},
		},
		"PlanReturns": {
			reason: "What is listed again is offered again.", catalog: listing(large),
			changes: []Change{catalogChange(listing(small, large))},
			want:    expectation{Types: []string{"dev/mysql: refused -> mysql/small cluster-suggested", "prod/mysql: refused -> mysql/small cluster-suggested"}},
		},
		"ClassRenamed": {
			reason:  "A plan is the same by another name of its class.",
			changes: []Change{catalogChange(strings.Replace(listing(small, large), `"name":"mysql"`, `"name":"maria"`, 1))},
			want:    expectation{Types: []string{"dev/mysql: mysql/small cluster-suggested -> maria/small cluster-suggested", "prod/mysql: mysql/small cluster-suggested -> maria/small cluster-suggested"}},
		},
		"PlanMoves": {
			reason:  "A plan of another class is made again once it is gone from the one that it had.",
			changes: []Change{catalogChange(strings.Replace(listing(small, large), `"id":"db","name":"mysql"`, `"id":"other","name":"other"`, 1))},
			want:    expectation{Types: []string{"dev/mysql: mysql/small cluster-suggested -> other/small cluster-suggested", "prod/mysql: mysql/small cluster-suggested -> other/small cluster-suggested"}},
		},
		"Dearer": {
			reason: "A plan that costs more changes the sum of its instances.", texts: []string{instance("dev", "a", "")},
			changes: []Change{catalogChange(listing(listed("small", suggested, monthly("12.05")), large))},
			want: expectation{
				Types: []string{"dev/mysql: mysql/small cluster-suggested -> mysql/small cluster-suggested", "prod/mysql: mysql/small cluster-suggested -> mysql/small cluster-suggested"},
				Costs: []string{"dev: [{usd MONTHLY 10}] 0 -> [{usd MONTHLY 12.05}] 0"},
			},
		},
		"Edited": {
			reason: "An edit that leaves the plan as it is reaches the broker.", texts: []string{instance("dev", "a", "")},
			changes: applied(t, instance("dev", "a", ", parameters: {size: 2}")),
			want:    expectation{Instances: []string{"dev/a Edited mysql/small>mysql/small"}},
		},
		"Schema": {
			reason: "An edit is refused where a schema asks for what the instance lacks.", texts: []string{instance("dev", "a", "")},
			changes: []Change{catalogChange(listing(listed("small", suggested, monthly("10"), required), large))},
			want: expectation{
				Instances: []string{"dev/a ParametersRefused > admission webhook \"validate.serviceinsta"},
				Refusals:  []string{"ServiceInstance dev/a false"},
			},
		},
		"NoSchema": {
			reason: "And allowed where it asks no more.", catalog: listing(small, listed("strict", required)),
			texts: []string{
				instance("dev", "a", ", clusterServiceClassExternalName: mysql, clusterServicePlanExternalName: small"),
				instance("dev", "b", ", parameters: {size: 1}, clusterServiceClassExternalName: mysql, clusterServicePlanExternalName: strict"),
			},
			changes: []Change{catalogChange(listing(listed("small", suggested, monthly("10"), required), listed("strict"))), catalogChange(listing(small, listed("strict", required)))},
		},
		"Policy": {
			reason: "A policy refuses what is created, in its namespaces, and leaves alone what is there.", texts: []string{instance("prod", "a", "")},
			changes: applied(t, `{kind: ProvisioningPolicy, metadata: {name: p}, spec: {action: Deny, namespaces: {selector: {matchLabels: {stage: prod}}}, subjects: [{className: mysql}]}}`),
			want: expectation{
				Types:    []string{"prod/mysql: mysql/small cluster-suggested -> refused"},
				Refusals: []string{"ServiceType prod/mysql false"},
			},
		},
		"NoPolicy": {
			reason: "A policy that is deleted refuses nothing then, and what it does now.", changes: []Change{{Delete: &Object{Kind: "ProvisioningPolicy", Name: "p"}}},
			texts: []string{`{kind: ProvisioningPolicy, metadata: {name: p}, spec: {action: Deny, namespaces: {names: [prod]}, subjects: [{className: mysql}]}}`},
			want:  expectation{Types: []string{"prod/mysql: refused -> mysql/small cluster-suggested"}},
		},
		"PolicyByCosts": {
			reason: "Nothing over 20 a month in dev.", texts: []string{`{kind: ClusterServicePlan, metadata: {name: large, annotations: {servicecatalog.kubernetes.io/is-default-plan: "true"}}}`},
			changes: applied(t, `{kind: ProvisioningPolicy, metadata: {name: p}, spec: {action: Deny, namespaces: {names: [dev]}, subjects: [{costs: {currency: usd, unit: MONTHLY, above: "20"}}]}}`),
			want:    expectation{Types: []string{"dev/mysql: mysql/large cluster-default -> refused"}, Refusals: []string{"ServiceType dev/mysql false"}},
		},
		"Limit": {
			reason:  "A new limit grants its slots to the oldest, and the others are over it.",
			texts:   []string{instance("dev", "a", ""), instance("dev", "b", ""), instance("prod", "c", "")},
			changes: applied(t, `{kind: ProvisioningPolicy, metadata: {name: p}, spec: {action: Allow, maxInstances: 1, namespaces: {names: [dev]}, subjects: [{className: mysql}]}}`),
			want: expectation{
				Types:     []string{"dev/mysql: mysql/small cluster-suggested -> refused", "prod/mysql: mysql/small cluster-suggested -> refused"},
				Instances: []string{"dev/b OverLimit >1 instance ProvisioningPolicy \"p\" allows 1 instance"},
				Limits:    []string{"p in dev: none -> 2 (1) of 1 instances"}, Refusals: []string{"ServiceType dev/mysql false", "ServiceType prod/mysql false"},
			},
		},
		"Room": {
			reason: "A raised limit lets in who waited.",
			texts: []string{
				`{kind: ProvisioningPolicy, metadata: {name: p}, spec: {action: Allow, maxInstances: 2, namespaces: {names: [dev]}, subjects: [{className: mysql}]}}`,
				instance("dev", "a", ""), instance("dev", "b", ""),
			},
			changes: applied(t, `{kind: ProvisioningPolicy, metadata: {name: p}, spec: {maxInstances: 3}}`),
			want: expectation{
				Types:  []string{"dev/mysql: refused -> mysql/small cluster-suggested"},
				Limits: []string{"p in dev: 2 (2) of 2 -> 2 (2) of 3 instances"},
			},
		},
		"Default": {
			reason: "A default takes precedence over a suggestion.", changes: []Change{{Default: &Default{Class: "db", Plan: "large"}}},
			want: expectation{Types: []string{"dev/mysql: mysql/small cluster-suggested -> mysql/large cluster-default", "prod/mysql: mysql/small cluster-suggested -> mysql/large cluster-default"}},
		},
		"Replaced": {
			reason: "An instance of which its broker does not know yet gets another plan at its next edit, once its own is gone.",
			texts:  []string{instance("dev", "a", "")}, changes: []Change{{Default: &Default{Class: "mysql", Plan: "large"}}, catalogChange(listing(large))},
			want: expectation{
				Types:     []string{"dev/mysql: mysql/small cluster-suggested -> mysql/large cluster-default", "prod/mysql: mysql/small cluster-suggested -> mysql/large cluster-default"},
				Instances: []string{"dev/a PlanGone mysql/small> it is removed from its broker's catalog", "dev/a Redecided mysql/small>mysql/large at its next edit"},
			},
		},
		"Decided": {
			reason: "Who waits is decided: instances, and bindings after them.", options: waiting(), catalog: `{"services":[]}`,
			texts:   []string{instance("dev", "a", ""), `{kind: ServiceBinding, metadata: {name: b, namespace: dev}, spec: {instanceRef: {name: a}}}`},
			changes: []Change{catalogChange(listing(small))},
			want: expectation{
				Types:     []string{"dev/mysql: waits -> mysql/small cluster-suggested", "prod/mysql: waits -> mysql/small cluster-suggested"},
				Instances: []string{"dev/a WouldBeDecided >mysql/small"}, Bindings: []string{"dev/b WouldBeDecided >mysql/small"},
				Costs: []string{"dev: [] 0 -> [{usd MONTHLY 10}] 0"},
			},
		},
		"StillWaits": {
			reason: "Who waits for another reason then is told so.", options: waiting(), catalog: `{"services":[]}`,
			texts: []string{instance("dev", "a", "")}, changes: []Change{catalogChange(listing(large, listed("other")))},
			want: expectation{Instances: []string{"dev/a Waits > no plan is decided yet: spec.serviceType"}, Types: []string{"dev/mysql: waits -> waits", "prod/mysql: waits -> waits"}},
		},
		"Created": {
			reason: "What is applied is there, and costs.", changes: applied(t, instance("dev", "a", "")),
			want: expectation{Instances: []string{"dev/a Created >mysql/small"}, Costs: []string{"dev: [] 0 -> [{usd MONTHLY 10}] 0"}},
		},
		"RefusedChange": {
			reason: "A change that admission refuses has no effect.", changes: applied(t, strings.Replace(instance("dev", "a", ""), "mysql", "other", 1)),
			want: expectation{Refusals: []string{"ServiceInstance dev/a true"}},
		},
		"Protected": {
			reason:  "A deletion is refused where the annotation says so.",
			texts:   []string{`{kind: ServiceInstance, metadata: {name: a, namespace: dev, annotations: {servicecatalog.kubernetes.io/prevent-deletion: "true"}}, spec: {serviceType: mysql}}`},
			changes: []Change{{Delete: &Object{Kind: "ServiceInstance", Namespace: "dev", Name: "a"}}},
			want:    expectation{Refusals: []string{"ServiceInstance dev/a true"}},
		},
		"Deleted": {
			reason: "An instance that is deleted goes, as its broker lets it go.", texts: []string{instance("dev", "a", "")},
			changes: []Change{{Delete: &Object{Kind: "ServiceInstance", Namespace: "dev", Name: "a"}}},
			want:    expectation{Instances: []string{"dev/a Deleted mysql/small>"}, Costs: []string{"dev: [{usd MONTHLY 10}] 0 -> [] 0"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.options == nil {
				tc.options = options.New()
			}
			if tc.catalog == "" {
				tc.catalog = listing(small, large)
			}
			report := simulate(t, offered(t, tc.options, tc.catalog, tc.texts...), tc.changes...)
			assert.Equal(t, tc.want, told(report), tc.reason)
			assert.Equal(t, strings.Contains(strings.Join(tc.want.Refusals, " "), "true"), report.Refused())
		})
	}
}

// The same catalog again changes nothing, and writes nothing.
func TestSameCatalog(t *testing.T) {
	t.Parallel()
	catalog := listing(listed("small", suggested, monthly("10")), listed("large"))
	state := offered(t, options.New(), catalog)
	w, err := world.New(restored(t, state), options.New())
	require.NoError(t, err)
	require.NoError(t, w.Relist(t.Context(), "", "shop", []byte(catalog)))
	assert.Empty(t, w.Changes(), "what a relist wrote is as another relist would have it")
}
