package policy_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
)

func usd(amount string) v1beta1.PlanCost {
	return v1beta1.PlanCost{Currency: "usd", Amount: amount, Unit: "MONTHLY"}
}

func listed(all ...v1beta1.PlanCost) resolve.Costs { return resolve.Costs{Listed: all} }

func TestSelectsByCosts(t *testing.T) {
	t.Parallel()
	const over100 = `currency: usd, unit: MONTHLY, above: "100"`
	cases := map[string]struct {
		reason string
		costs  resolve.Costs
		above  string // over100 if empty
		want   bool
		words  string
	}{
		"More":         {reason: "it costs more", costs: listed(usd("250")), want: true, words: "it costs 250 usd / MONTHLY, and the limit is 100"},
		"ABitMore":     {reason: "exactly compared", costs: listed(usd("100.00000000000000000001")), want: true, words: "it costs 100.00000000000000000001 usd / MONTHLY, and the limit is 100"},
		"AsMuch":       {reason: "above is above", costs: listed(usd("100"))},
		"Less":         {reason: "numbers, no texts", costs: listed(usd("99.95"))},
		"Nothing":      {reason: "a cost of nothing", costs: listed(usd("0"))},
		"AddUp":        {reason: "a broker bills each", costs: listed(usd("50"), usd("50.5")), want: true, words: "it costs 100.5 usd / MONTHLY, and the limit is 100"},
		"AnyCase":      {reason: "as people write them", costs: listed(v1beta1.PlanCost{Currency: "USD", Amount: "101", Unit: "Monthly"}), want: true, words: "it costs 101 usd / MONTHLY, and the limit is 100"},
		"BesideOthers": {reason: "others do not count", costs: listed(usd("5"), v1beta1.PlanCost{Currency: "eur", Amount: "900", Unit: "MONTHLY"}, v1beta1.PlanCost{Currency: "usd", Amount: "900", Unit: "1 TB"})},
		"Cents":        {reason: "a limit with a point", costs: listed(usd("0.3")), above: `currency: usd, unit: MONTHLY, above: "0.30"`},
		"Fraction":     {reason: "no float", costs: listed(usd("0.1"), usd("0.2")), above: `currency: usd, unit: MONTHLY, above: "0.3"`},

		"OtherCurrency":  {reason: "it may be worth more", costs: listed(v1beta1.PlanCost{Currency: "btc", Amount: "1", Unit: "MONTHLY"}), want: true, words: "what it costs in usd / MONTHLY is unknown, and the limit is 100"},
		"OtherUnit":      {reason: "it may be billed each second", costs: listed(v1beta1.PlanCost{Currency: "usd", Amount: "1", Unit: "SECOND"}), want: true, words: "what it costs in usd / MONTHLY is unknown, and the limit is 100"},
		"NoCosts":        {reason: "not free, and no more is said", want: true, words: "what it costs in usd / MONTHLY is unknown, and the limit is 100"},
		"Malformed":      {reason: "nothing is guessed", costs: resolve.Costs{Malformed: true}, want: true, words: "what it costs in usd / MONTHLY is unknown, and the limit is 100"},
		"MalformedFree":  {reason: "free is what a catalog says that leaves it out", costs: resolve.Costs{Malformed: true, Free: true}, want: true, words: "what it costs in usd / MONTHLY is unknown, and the limit is 100"},
		"ForgedAmount":   {reason: "no decimal", costs: listed(usd("cheap")), want: true, words: "what it costs in usd / MONTHLY is unknown, and the limit is 100"},
		"UnreadFree":     {reason: "its metadata names costs, and free is what a catalog says that leaves it out", costs: resolve.Costs{Unread: true, Free: true}, want: true, words: "what it costs in usd / MONTHLY is unknown, and the limit is 100"},
		"Free":           {reason: "it costs nothing", costs: resolve.Costs{Free: true}},
		"FreeAboveZero":  {reason: "nothing is not above nothing", costs: resolve.Costs{Free: true}, above: `currency: usd, unit: MONTHLY, above: "0"`},
		"FreeWithCosts":  {reason: "the costs count", costs: resolve.Costs{Free: true, Listed: []v1beta1.PlanCost{usd("250")}}, want: true, words: "it costs 250 usd / MONTHLY, and the limit is 100"},
		"FreeElsewhere":  {reason: "it has costs, and none of these", costs: resolve.Costs{Free: true, Listed: []v1beta1.PlanCost{{Currency: "eur", Amount: "1", Unit: "MONTHLY"}}}, want: true, words: "what it costs in usd / MONTHLY is unknown, and the limit is 100"},
		"UnknownAllowed": {reason: "as the policy says", above: over100 + ", unknown: Allow"},
		"UnknownDenied":  {reason: "as the policy says", above: over100 + ", unknown: Deny", want: true, words: "what it costs in usd / MONTHLY is unknown, and the limit is 100"},
		"MoreAndAllowed": {reason: "only of what is unknown", costs: listed(usd("250")), above: over100 + ", unknown: Allow", want: true, words: "it costs 250 usd / MONTHLY, and the limit is 100"},
		"BadAllowed":     {reason: "malformed costs are unknown", costs: resolve.Costs{Malformed: true}, above: over100 + ", unknown: Allow"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.above == "" {
				tc.above = over100
			}
			target := targetOf(t, small)
			target.Costs = tc.costs
			for title, action := range map[string]string{"p/x": "action: Deny", "b/x": "action: Deny", "p/y": "action: Limit, maxInstances: 1"} {
				rule, err := compiled(t, title, "{"+action+", subjects: [{costs: {"+tc.above+"}}]}")
				require.NoError(t, err)
				assert.Equal(t, tc.want, rule.Selects(target), tc.reason)
				assert.True(t, policy.AboutCosts([]policy.Rule{{}, rule}))
				assert.Contains(t, target.Keys(), rule.Keys()[0], "an index finds it")
			}
			rule, err := compiled(t, "p/cheap", "{action: Deny, message: ask ops, subjects: [{className: other}, {className: cache, costs: {"+tc.above+"}}]}")
			require.NoError(t, err)
			refusal := policy.Judge([]policy.Rule{rule}, target, placeOf("dev"))
			if !tc.want {
				assert.Nil(t, refusal, tc.reason)
				return
			}
			require.NotNil(t, refusal, tc.reason)
			assert.Equal(t, `ProvisioningPolicy "cheap" does not let namespace "dev" use plan cache/small (`+tc.words+`): ask ops`, refusal.Text("plan cache/small", "dev"))
		})
	}
}

// Costs are named where they are the reason, and only there.
func TestCostsInWords(t *testing.T) {
	t.Parallel()
	target := targetOf(t, small)
	target.Costs = listed(usd("250"))
	const dear = `{costs: {currency: usd, unit: MONTHLY, above: "100"}}`
	for spec, want := range map[string]string{
		"{action: Allow, " + inQA + "subjects: [" + dear + "]}":         `plan db is only for the namespaces that ProvisioningPolicy "x" names, and "dev" is not one of them (it costs 250 usd / MONTHLY, and the limit is 100)`,
		"{action: Deny, subjects: [" + dear + ", {planName: small}]}":   `ProvisioningPolicy "x" does not let namespace "dev" use plan db`,
		"{action: Deny, subjects: [" + dear + ", {planName: other}]}":   `ProvisioningPolicy "x" does not let namespace "dev" use plan db (it costs 250 usd / MONTHLY, and the limit is 100)`,
		"{action: Deny, " + inDev + "subjects: [{serviceType: redis}]}": `ProvisioningPolicy "x" does not let namespace "dev" use plan db`,
	} {
		rules := rulesOf(t, map[string]string{"p/x": spec})
		refusal := policy.Judge(rules, target, placeOf("dev"))
		require.NotNil(t, refusal)
		assert.Equal(t, want, refusal.Text("plan db", "dev"))
	}
	assert.False(t, policy.AboutCosts(rulesOf(t, map[string]string{"p/x": "{action: Deny, " + anyPlan})))
}

// What a plan of a namespace claims to cost counts only where its broker is of that namespace.
func TestCostsOfCopies(t *testing.T) {
	t.Parallel()
	cheap, dear, bad := listed(usd("1")), listed(usd("250")), resolve.Costs{Malformed: true}
	free, unknown := resolve.Costs{Free: true}, resolve.Costs{}
	cluster, local, none := resolve.Ref{Name: "aws"}, resolve.Ref{Namespace: "dev", Name: "aws"}, resolve.Ref{}
	plan := func(namespace string, broker resolve.Ref, costs resolve.Costs) resolve.PlanEntry {
		return resolve.PlanEntry{Ref: resolve.Ref{Namespace: namespace, Name: "p"}, ExternalID: "id", Broker: broker, Costs: costs}
	}
	named := func(p resolve.PlanEntry, name, id string) resolve.PlanEntry {
		p.Name, p.ExternalID = name, id
		return p
	}
	cases := map[string]struct {
		reason  string
		class   resolve.Ref // the class's broker
		plan    resolve.PlanEntry
		cluster []resolve.PlanEntry
		want    resolve.Costs
		own     bool // nothing is to be looked up
	}{
		"OfTheCluster":       {reason: "its own", class: cluster, plan: plan("", cluster, dear), want: dear, own: true},
		"MalformedOfCluster": {reason: "its own", class: cluster, plan: plan("", cluster, bad), want: bad, own: true},
		"OfALocalBroker":     {reason: "that broker says it", class: local, plan: plan("dev", local, cheap), want: cheap, own: true},
		"Copy":               {reason: "those of the original", class: cluster, plan: plan("dev", cluster, cheap), cluster: []resolve.PlanEntry{plan("", cluster, dear)}, want: dear},
		"FreeCopy":           {reason: "a tenant writes free into a copy", class: cluster, plan: plan("dev", cluster, free), cluster: []resolve.PlanEntry{plan("", cluster, unknown)}, want: unknown},
		"CopyOfFree":         {reason: "the original is", class: cluster, plan: plan("dev", cluster, dear), cluster: []resolve.PlanEntry{plan("", cluster, free)}, want: free},
		"CopyOfBad":          {reason: "the original's are malformed", class: cluster, plan: plan("dev", cluster, cheap), cluster: []resolve.PlanEntry{plan("", cluster, bad)}, want: bad},
		"CopyOfNone":         {reason: "the original is gone", class: cluster, plan: plan("dev", cluster, cheap), want: unknown},
		"NoBroker":           {reason: "a broker may come yet", class: none, plan: plan("dev", none, free), cluster: []resolve.PlanEntry{plan("", none, cheap)}, want: unknown, own: true},
		"NoBrokerOfCluster":  {reason: "an operator wrote it", class: none, plan: plan("", none, free), want: free, own: true},
		"BrokerOfItsClass":   {reason: "the class's broker counts", class: cluster, plan: plan("dev", none, cheap), cluster: []resolve.PlanEntry{plan("", cluster, dear)}, want: dear},
		"OtherBroker":        {reason: "another broker's plan of that ID", class: cluster, plan: plan("dev", cluster, free), cluster: []resolve.PlanEntry{plan("", resolve.Ref{Name: "gcp"}, cheap)}, want: unknown},
		"OtherID":            {reason: "another plan", class: cluster, plan: plan("dev", cluster, free), cluster: []resolve.PlanEntry{named(plan("", cluster, cheap), "p", "other")}, want: unknown},
		"CopyOfAnother":      {reason: "a copy is no original", class: cluster, plan: plan("dev", cluster, free), cluster: []resolve.PlanEntry{plan("qa", cluster, cheap)}, want: unknown},
		"ClusterCopy":        {reason: "its original's", class: cluster, plan: plan("", cluster, free), cluster: []resolve.PlanEntry{named(plan("", cluster, free), "copy", "id"), plan("", cluster, dear)}, want: dear},
		"FreeClusterCopy":    {reason: "all that have the ID must be free", class: cluster, plan: plan("", cluster, free), cluster: []resolve.PlanEntry{plan("", cluster, free), named(plan("", cluster, unknown), "original", "id")}, want: unknown},
		"ClusterCopyAlone":   {reason: "nothing else is known", class: cluster, plan: plan("", cluster, free), want: free},
		"SeveralOriginals":   {reason: "the first by name, in any order", class: cluster, plan: plan("dev", cluster, free), cluster: []resolve.PlanEntry{named(plan("", cluster, cheap), "b", "id"), named(plan("", cluster, dear), "a", "id"), named(plan("", cluster, free), "0", "id")}, want: dear},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 2 {
				target := policy.TargetOf(resolve.ClassEntry{Broker: tc.class}, tc.plan)
				assert.Equal(t, tc.own, target.Original == policy.Original{}, tc.reason)
				target = target.PricedBy(tc.cluster)
				assert.Equal(t, tc.want, target.Costs, tc.reason)
				slices.Reverse(tc.cluster)
			}
		})
	}
}
