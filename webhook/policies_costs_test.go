package webhook

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// offered makes a plan, and its class, one of a broker of the cluster that costs so much a month; of an empty amount, one
// without costs.
func offered(class, plan, amount string) func(*stock) {
	return func(s *stock) {
		switch c := s.object(class, isClass).(type) {
		case *v1beta1.ClusterServiceClass:
			c.Spec.ClusterServiceBrokerName = "aws"
		case *v1beta1.ServiceClass:
			c.Spec.ClusterServiceBrokerName = "aws"
		}
		var status *v1beta1.CommonServicePlanStatus
		switch p := s.object(plan, isPlan).(type) {
		case *v1beta1.ClusterServicePlan:
			p.Spec.ClusterServiceBrokerName, status = "aws", &p.Status.CommonServicePlanStatus
		case *v1beta1.ServicePlan:
			p.Spec.ClusterServiceBrokerName, status = "aws", &p.Status.CommonServicePlanStatus
		}
		if amount != "" {
			status.Costs = []v1beta1.PlanCost{{Currency: "usd", Amount: amount, Unit: "MONTHLY"}}
		}
	}
}

// copyOf gives a plan of a namespace the ID of a plan of the cluster.
func copyOf(plan, original string) func(*stock) {
	return func(s *stock) { s.plan(plan).ExternalID = s.plan(original).ExternalID }
}

func freePlan(name string) func(*stock) {
	return func(s *stock) { s.plan(name).Free = true }
}

// dear is a policy against what costs more than 100 a month.
func dear(edits ...func(*v1beta1.ProvisioningPolicy)) func(*stock) {
	return func(s *stock) {
		p, _ := policyObject(s.tb, "deny cheap in=dev says=ask-ann").(*v1beta1.ProvisioningPolicy)
		p.Spec.Subjects[0].Costs = &v1beta1.PolicyCosts{Currency: "USD", Unit: "monthly", Above: "100", Unknown: v1beta1.UnknownDeny}
		for _, edit := range edits {
			edit(p)
		}
		s.objects = append(s.objects, p)
	}
}

func allowUnknown(p *v1beta1.ProvisioningPolicy) {
	p.Spec.Subjects[0].Costs.Unknown = v1beta1.UnknownAllow
}

func TestPoliciesByCosts(t *testing.T) {
	t.Parallel()
	const two, copied = "mysql/db: small* large", "dev|mysql/own: mine*;db: small large"
	const large = `{"clusterServiceClassExternalName":"db","clusterServicePlanExternalName":"large"}`
	const local = `{"serviceClassExternalName":"own","servicePlanExternalName":"mine"}`
	prices := []func(*stock){offered("db", "db-small", "99.95"), offered("db", "db-large", "250")}
	with := func(edits ...func(*stock)) []func(*stock) { return append(edits, prices...) }
	cases := map[string]struct {
		reason  string
		catalog string
		edits   []func(*stock)
		// stale are those of the cache, if it has others.
		stale  []func(*stock)
		spec   string
		plan   string
		denied string
	}{
		"Cheap":         {reason: "It costs less.", catalog: two, edits: with(dear()), spec: byType, plan: "db-small"},
		"Dear":          {reason: "It costs more.", catalog: two, edits: with(dear()), spec: large, denied: `ProvisioningPolicy "cheap" does not let namespace "dev" use plan db/large (it costs 250 USD / monthly, and the limit is 100): ask ann`},
		"Unknown":       {reason: "Nothing is silently cheap.", catalog: two, edits: []func(*stock){dear()}, spec: byType, denied: `plan db/small (what it costs in USD / monthly is unknown, and the limit is 100)`},
		"UnknownPasses": {reason: "Unless the policy says so.", catalog: two, edits: []func(*stock){dear(allowUnknown)}, spec: byType, plan: "db-small"},
		"Free":          {reason: "Free is nothing.", catalog: two, edits: []func(*stock){dear(), freePlan("db-small")}, spec: byType, plan: "db-small"},
		"Selector":      {reason: "A selector passes over what is too dear.", catalog: "db: small{a=b}=1 large{a=b}=9", edits: with(dear()), spec: `{"planSelector":{"matchLabels":{"a":"b"}}}`, plan: "db-small"},
		"Copy":          {reason: "A copy costs what its original does, whatever its status claims.", catalog: copied, edits: with(dear(), copyOf("dev/own-mine", "db-large"), offered("dev/own", "dev/own-mine", "1")), spec: local, denied: `plan own/mine (it costs 250 USD / monthly, and the limit is 100)`},
		"FreeCopy":      {reason: "Or its spec.", catalog: copied, edits: with(dear(), copyOf("dev/own-mine", "db-large"), freePlan("dev/own-mine"), offered("dev/own", "dev/own-mine", "")), spec: local, denied: `it costs 250 USD / monthly`},
		"CheapCopy":     {reason: "A copy of what is cheap is cheap.", catalog: copied, edits: with(dear(), copyOf("dev/own-mine", "db-small"), offered("dev/own", "dev/own-mine", "900")), spec: local, plan: "own-mine"},
		"CopyByType":    {reason: "By type, too.", catalog: copied, edits: with(dear(), copyOf("dev/own-mine", "db-large"), offered("dev/own", "dev/own-mine", "1")), spec: byType, denied: `plan own/mine (it costs 250`},
		"CopySelected":  {reason: "And by selectors.", catalog: "dev|own: mine{a=b}=9;db: small{a=b}=1 large", edits: with(dear(), copyOf("dev/own-mine", "db-large"), offered("dev/own", "dev/own-mine", "1")), spec: `{"planSelector":{"matchLabels":{"a":"b"}}}`, plan: "db-small"},
		"LostOriginal":  {reason: "Without the original nothing is known.", catalog: copied, edits: with(dear(), offered("dev/own", "dev/own-mine", "1")), spec: local, denied: `what it costs in USD / monthly is unknown`},
		"CheaperNow": {
			reason: "Before a denial the original is read from the API server.", catalog: copied, spec: local, plan: "own-mine",
			stale: with(dear(), copyOf("dev/own-mine", "db-large"), offered("dev/own", "dev/own-mine", "1")),
			edits: []func(*stock){dear(), copyOf("dev/own-mine", "db-large"), offered("dev/own", "dev/own-mine", "1"), offered("db", "db-small", "9"), offered("db", "db-large", "99")},
		},
		"AllowedElsewhere": {
			reason: "What is dear may be for others only.", catalog: two, spec: large,
			edits: with(dear(func(p *v1beta1.ProvisioningPolicy) {
				p.Spec.Action, p.Spec.Namespaces.Names = v1beta1.PolicyAllow, []string{"prod"}
			})),
			denied: `plan db/large is only for the namespaces that ProvisioningPolicy "cheap" names, and "dev" is not one of them (it costs 250 USD / monthly, and the limit is 100): ask ann`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			live := stocked(t, tc.catalog, tc.edits...)
			cached := live
			if tc.stale != nil {
				cached = stocked(t, tc.catalog, tc.stale...)
			}
			o := envOf(t, cached, live).create(tc.spec)
			if tc.denied != "" {
				require.NotNil(t, o.denied(), tc.reason)
				assert.Contains(t, o.denied().Message, tc.denied, tc.reason)
				return
			}
			ref := at(t, o.admitted(), "/spec/clusterServicePlanRef/name")
			if ref == "absent" {
				ref = at(t, o.admitted(), "/spec/servicePlanRef/name")
			}
			assert.Equal(t, `"`+tc.plan+`"`, ref, tc.reason)
		})
	}
}

// A limit counts a copy by what its original costs.
func TestLimitsByCosts(t *testing.T) {
	t.Parallel()
	const copied = "dev|mysql/own: mine*;db: small large"
	const local = `{"serviceClassExternalName":"own","servicePlanExternalName":"mine"}`
	full := dear(func(p *v1beta1.ProvisioningPolicy) {
		p.Spec.Action, p.Spec.MaxInstances = v1beta1.PolicyLimit, new(int32(0))
	}, allowUnknown)
	for original, refused := range map[string]bool{"db-large": true, "db-small": false} {
		s := stocked(t, copied, full, copyOf("dev/own-mine", original), offered("dev/own", "dev/own-mine", "1"), offered("db", "db-small", "9"), offered("db", "db-large", "250"))
		o := s.env().create(local)
		if refused {
			require.NotNil(t, o.denied())
			assert.Contains(t, o.denied().Message, `ProvisioningPolicy "cheap" lets namespace "dev" have 0 instances, those of plan own/mine among them`)
		} else {
			o.admitted()
		}
	}
}

// A policy that only a copy's original makes effective is not told to be idle.
func TestPoliciesByCostsAreNotIdle(t *testing.T) {
	t.Parallel()
	asked := policyKindCase{spec: `{"action":"Deny","subjects":[{"className":"own","costs":{"currency":"usd","unit":"MONTHLY","above":"100","unknown":"Allow"}}]}`}
	for original, warnings := range map[string][]string{"db-large": nil, "db-small": {"spec.subjects[0] selects no plan now"}} {
		w := stocked(t, "dev|mysql/own: mine*;db: small large", copyOf("dev/own-mine", original), offered("dev/own", "dev/own-mine", "500"), offered("db", "db-small", "9"), offered("db", "db-large", "250")).defaultsEnv()
		assert.ElementsMatch(t, warnings, w.validated(asked.review(w)).warnings(), original)
	}
}
