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
		"Monthly":   {reason: "the number, currency and unit are the broker's", metadata: `{"costs": [{"amount": {"usd": 99.00}, "unit": "MONTHLY"}]}`, want: "99.00 usd / MONTHLY"},
		"Several":   {reason: "costs add up, currencies are alternatives", metadata: `{"costs": [{"amount": {"usd": 1.5, "eur": 2}, "unit": "Monthly"}, {"amount": {"usd": 0.99}, "unit": "1GB of messages over 20GB"}]}`, want: "2 eur or 1.5 usd / Monthly, 0.99 usd / 1GB of messages over 20GB"},
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
		"NoWords":   {reason: "a unit of which nothing is left is none", metadata: `{"costs": [{"amount": {"usd": 1}, "unit": "\n"}, {"amount": {"\t": 1}, "unit": "DAILY"}]}`, want: "?, ?"},
		"Long":      {reason: "one plan does not fill a table, not with marks of no width either", metadata: `{"costs": [{"amount": {"usd": 1}, "unit": "` + strings.Repeat("e\u0301", 1000) + `"}]}`, want: "1 usd / " + strings.Repeat("e\u0301", 15) + "e…"},
		"Many":      {reason: "nor with many", metadata: `{"costs": [` + strings.Repeat(`{"amount": {"usd": 1}, "unit": "DAILY"},`, 999) + `{}]}`, want: "1 usd / DAILY, 1 usd / DAILY, 1 usd / DAILY, …"},
		"Words":     {reason: "an amount in words, beside one that can be read", metadata: `{"costs": [{"amount": {"usd": "a lot"}, "unit": "MONTHLY"}, {"amount": {"usd": 1}, "unit": "DAILY"}]}`, want: "?, 1 usd / DAILY"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := &v1beta1.CommonServicePlanSpec{Free: tc.free}
			if tc.metadata != "" {
				plan.ExternalMetadata = &runtime.RawExtension{Raw: []byte(tc.metadata)}
			}
			assert.Equal(t, tc.want, Price(plan), tc.reason)
		})
	}
}
