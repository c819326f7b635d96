package catalog

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

func TestPrice(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, metadata string
		free             bool
		want             string
	}{
		"Monthly":   {reason: "currency and unit are the broker's, and the number exact", metadata: `{"costs": [{"amount": {"usd": 99.00}, "unit": "MONTHLY"}]}`, want: "99 usd / MONTHLY"},
		"Several":   {reason: "costs add up, currencies are alternatives", metadata: `{"costs": [{"amount": {"usd": 1.5, "eur": 2}, "unit": "Monthly"}, {"amount": {"usd": 0.99}, "unit": "1GB of messages over 20GB"}]}`, want: "1.5 usd or 2 eur / Monthly, 0.99 usd / 1GB of messages over 20GB"},
		"FreeCosts": {reason: "a plan that says both says what it costs", metadata: `{"costs": [{"amount": {"usd": 0}, "unit": "MONTHLY"}]}`, free: true, want: "0 usd / MONTHLY"},
		"Free":      {reason: "without costs, free is free", metadata: `{"displayName": "Small"}`, free: true, want: "free"},
		"NoCosts":   {reason: "an empty list names none", metadata: `{"costs": []}`, free: true, want: "free"},
		"Null":      {reason: "nor does null", metadata: `{"costs": null}`, free: true, want: "free"},
		"Unknown":   {reason: "what is not free and says no more is not guessed", metadata: `{"displayName": "Large", "bullets": ["costs \"much\""]}`},
		"None":      {reason: "as above"},
		"NoList":    {reason: "another form is not read", metadata: `{"costs": "99 usd"}`, free: true, want: "?"},
		"NoObject":  {reason: "metadata that is no object", metadata: `["costs"]`, want: "?"},
		"NoUnit":    {reason: "an amount for nothing in particular", metadata: `{"costs": [{"amount": {"usd": 99}}]}`, want: "?"},
		"NoAmount":  {reason: "nothing for a month", metadata: `{"costs": [{"unit": "MONTHLY"}]}`, want: "?"},
		"NullPrice": {reason: "a currency without a number", metadata: `{"costs": [{"amount": {"usd": null}, "unit": "MONTHLY"}]}`, want: "?"},
		"Forged":    {reason: "neither unit nor currency makes a line, a cell, or steers a terminal", metadata: `{"costs": [{"amount": {"us\u001b[2J\u009bd": 9}, "unit": "MON\u202eTH\n# at the broker: nothing\t0"}]}`, want: "9 us\ufffd[2J\ufffdd / MON\ufffdTH # at the broker: no…"},
		"NoWords":   {reason: "a unit of spaces is none", metadata: `{"costs": [{"amount": {"usd": 1}, "unit": "\n"}]}`, want: "?"},
		"Long":      {reason: "one plan does not fill a table, not with marks of no width either", metadata: `{"costs": [{"amount": {"usd": 1}, "unit": "` + strings.Repeat("e\u0301", 100) + `"}]}`, want: "1 usd / " + strings.Repeat("e\u0301", 15) + "e…"},
		"Many":      {reason: "nor with many", metadata: `{"costs": [` + strings.Repeat(`{"amount": {"usd": 1}, "unit": "DAILY"},`, 31) + `{"amount": {"usd": 1}, "unit": "DAILY"}]}`, want: "1 usd / DAILY, 1 usd / DAILY, 1 usd / DAILY, …"},
		"TooMany":   {reason: "more than are read", metadata: `{"costs": [` + strings.Repeat(`{"amount": {"usd": 1}, "unit": "DAILY"},`, 999) + `{"amount": {"usd": 1}, "unit": "DAILY"}]}`, want: "?"},
		"Words":     {reason: "an amount in words, beside one that can be read: no part is taken for the whole", metadata: `{"costs": [{"amount": {"usd": "a lot"}, "unit": "MONTHLY"}, {"amount": {"usd": 1}, "unit": "DAILY"}]}`, want: "?"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			object := &v1beta1.ClusterServicePlan{}
			object.Spec.Free = tc.free
			if tc.metadata != "" {
				object.Spec.ExternalMetadata = &runtime.RawExtension{Raw: []byte(tc.metadata)}
			}
			plan, _ := PlanOf(object)
			assert.Equal(t, tc.want, Price(&plan), tc.reason)
		})
	}
}

// What a relist wrote comes before what metadata says.
func TestPriceByStatus(t *testing.T) {
	t.Parallel()
	object := &v1beta1.ServicePlan{}
	object.Spec.ExternalMetadata = &runtime.RawExtension{Raw: []byte(`{"costs": [{"amount": {"usd": 1}, "unit": "MONTHLY"}]}`)}
	plan, _ := PlanOf(object)
	cost := func(amount, currency, unit string) v1beta1.PlanCost {
		return v1beta1.PlanCost{Amount: amount, Currency: currency, Unit: unit}
	}
	for want, listed := range map[string][]v1beta1.PlanCost{
		"1 usd / MONTHLY":                      nil,
		"99.95 usd / MONTHLY":                  {cost("99.95", "usd", "MONTHLY")},
		"9 usd or 8 eur / MONTHLY, 1 usd / GB": {cost("9", "usd", "MONTHLY"), cost("8", "eur", "MONTHLY"), cost("1", "usd", "GB")},
		"9 usd / MONTHLY, 1 USD / MONTHLY":     {cost("9", "usd", "MONTHLY"), cost("1", "USD", "MONTHLY")},
	} {
		object.Status.Costs = listed
		assert.Equal(t, want, Price(&plan))
	}
	object.Status.Costs, object.Status.MalformedCosts = nil, "costs is not a list"
	assert.Equal(t, "?", Price(&plan))
}
