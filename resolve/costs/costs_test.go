package costs_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve/costs"
)

func TestParse(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, metadata string
		want             string // amount currency unit, with semicolons between them
		err              string
	}{
		"Monthly":        {reason: "the example of the specification", metadata: `{"costs": [{"amount": {"usd": 99.0}, "unit": "MONTHLY"}]}`, want: "99 usd MONTHLY"},
		"Several":        {reason: "in their order", metadata: `{"costs": [{"amount": {"usd": 1.50, "eur": 2}, "unit": "Monthly"}, {"unit": "1GB over 20GB", "amount": {"usd": 0.99}}]}`, want: "1.5 usd Monthly; 2 eur Monthly; 0.99 usd 1GB over 20GB"},
		"Exact":          {reason: "no float has this number", metadata: `{"costs": [{"amount": {"usd": 0.10000000000000000000001}, "unit": "DAILY"}]}`, want: "0.10000000000000000000001 usd DAILY"},
		"Exponents":      {reason: "JSON numbers may have them", metadata: `{"costs": [{"amount": {"a": 1E+2, "b": 12.5e-3, "c": 0e9, "d": 1.0e0}, "unit": "u"}]}`, want: "100 a u; 0.0125 b u; 0 c u; 1 d u"},
		"NegativeZero":   {reason: "JSON allows it", metadata: `{"costs": [{"amount": {"usd": -0.0}, "unit": "u"}]}`, want: "0 usd u"},
		"Large":          {reason: "the largest", metadata: `{"costs": [{"amount": {"usd": 9e29}, "unit": "u"}]}`, want: "900000000000000000000000000000 usd u"},
		"Trimmed":        {reason: "spaces are no part of a word", metadata: `{"costs": [{"amount": {" usd ": 1}, "unit": "\tMONTHLY "}]}`, want: "1 usd MONTHLY"},
		"OtherFields":    {reason: "others may be there", metadata: `{"bullets": ["a"], "costs": [{"amount": {"usd": 1}, "unit": "u", "note": "costs"}], "Costs": 1}`, want: "1 usd u"},
		"None":           {reason: "not there", metadata: `{"displayName": "costs much"}`},
		"Empty":          {reason: "an empty list names none", metadata: `{"costs": []}`},
		"Null":           {reason: "nor does null", metadata: `{"costs": null}`},
		"Nothing":        {reason: "no metadata"},
		"NoObject":       {reason: "metadata of another form", metadata: `["costs"]`, err: "metadata is not an object"},
		"NoJSON":         {reason: "text", metadata: `{"costs"`, err: "metadata is not an object"},
		"Behind":         {reason: "more than one value", metadata: `{"costs": []} {}`, err: "metadata is not an object"},
		"NoList":         {reason: "another form is not read", metadata: `{"costs": "99 usd"}`, err: "costs is not a list"},
		"Twice":          {reason: "which of them?", metadata: `{"costs": [], "costs": [{"amount": {"usd": 1}, "unit": "u"}]}`, err: "costs is there twice"},
		"TwiceNull":      {reason: "as above", metadata: `{"costs": [{"amount": {"usd": 1}, "unit": "u"}], "costs": null}`, err: "costs is there twice"},
		"Escaped":        {reason: "names may have escapes", metadata: `{"c\u006fsts": [{"amount": {"usd": 1}, "unit": "u"}]}`, want: "1 usd u"},
		"NoEntry":        {reason: "another form is not read", metadata: `{"costs": [null]}`, err: "costs[0]: it is not an object"},
		"NoAmount":       {reason: "nothing for a month", metadata: `{"costs": [{"unit": "MONTHLY"}]}`, err: "costs[0]: it needs an amount and a unit"},
		"NoCurrency":     {reason: "no amount either", metadata: `{"costs": [{"amount": {}, "unit": "MONTHLY"}]}`, err: "costs[0]: it needs an amount and a unit"},
		"BadAmount":      {reason: "in which currency?", metadata: `{"costs": [{"amount": 99, "unit": "MONTHLY"}]}`, err: "costs[0]: amount is not an object"},
		"NoUnit":         {reason: "an amount for nothing in particular", metadata: `{"costs": [{"amount": {"usd": 99}}]}`, err: "costs[0]: it needs an amount and a unit"},
		"BlankUnit":      {reason: "spaces say nothing", metadata: `{"costs": [{"amount": {"usd": 99}, "unit": " \n"}]}`, err: "costs[0]: unit is not a text"},
		"LongUnit":       {reason: "it would not be stored", metadata: `{"costs": [{"amount": {"usd": 1}, "unit": "` + strings.Repeat("ü", 257) + `"}]}`, err: "costs[0]: unit is not a text"},
		"BlankCurrency":  {reason: "spaces say nothing", metadata: `{"costs": [{"amount": {" ": 99}, "unit": "u"}]}`, err: "costs[0]: a currency is not a text"},
		"LongCurrency":   {reason: "it would not be stored", metadata: `{"costs": [{"amount": {"` + strings.Repeat("x", 65) + `": 99}, "unit": "u"}]}`, err: "costs[0]: a currency is not a text"},
		"TwoOfCurrency":  {reason: "which of them?", metadata: `{"costs": [{"amount": {"usd": 1, "USD": 900}, "unit": "u"}]}`, err: `costs[0]: currency "USD" is there twice`},
		"SameCurrency":   {reason: "most readers take the last", metadata: `{"costs": [{"amount": {"usd": 900, "usd": 1}, "unit": "u"}]}`, err: `costs[0]: currency "usd" is there twice`},
		"TwoAmounts":     {reason: "which of them?", metadata: `{"costs": [{"amount": {"usd": 900}, "amount": {"usd": 1}, "unit": "u"}]}`, err: `costs[0]: "amount" is there twice`},
		"NullPrice":      {reason: "a currency without a number", metadata: `{"costs": [{"amount": {"usd": null}, "unit": "u"}]}`, err: `costs[0]: the amount of "usd" is not a number`},
		"Words":          {reason: "no part is taken for the whole", metadata: `{"costs": [{"amount": {"usd": 1}, "unit": "u"}, {"amount": {"usd": "a lot"}, "unit": "u"}]}`, err: `costs[1]: the amount of "usd" is not a number`},
		"Quoted":         {reason: "a text is no number", metadata: `{"costs": [{"amount": {"usd": "99"}, "unit": "u"}]}`, err: `costs[0]: the amount of "usd" is not a number`},
		"Negative":       {reason: "no broker pays for its service", metadata: `{"costs": [{"amount": {"usd": -1}, "unit": "u"}]}`, err: `costs[0]: the amount of "usd" is not a number of zero or more`},
		"TooLarge":       {reason: "it would not be stored", metadata: `{"costs": [{"amount": {"usd": 1e30}, "unit": "u"}]}`, err: "has too many digits"},
		"TooSmall":       {reason: "it would not be stored", metadata: `{"costs": [{"amount": {"usd": 1e-31}, "unit": "u"}]}`, err: "has too many digits"},
		"HugeExponent":   {reason: "it would take gigabytes", metadata: `{"costs": [{"amount": {"usd": 1e999999999}, "unit": "u"}]}`, err: "has too many digits"},
		"LongExponent":   {reason: "nor is it an integer", metadata: `{"costs": [{"amount": {"usd": 1e-99999999999999999999}, "unit": "u"}]}`, err: "has too many digits"},
		"ManyDigits":     {reason: "nor is such a text read", metadata: `{"costs": [{"amount": {"usd": 1` + strings.Repeat("0", 100_000) + `}, "unit": "u"}]}`, err: "has too many digits"},
		"ManyCosts":      {reason: "they would not be stored", metadata: `{"costs": [` + strings.Repeat(`{"amount": {"usd": 1}, "unit": "u"},`, 32) + `{"amount": {"usd": 1}, "unit": "u"}]}`, err: "there are 33 amounts or more; at most 32 are read"},
		"ManyCurrencies": {reason: "each is an amount", metadata: `{"costs": [{"amount": {` + currencies(33) + `}, "unit": "u"}]}`, err: "costs[0]: there are 33 amounts or more; at most 32 are read"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parsed, err := costs.Parse([]byte(tc.metadata))
			if tc.err != "" {
				require.ErrorContains(t, err, tc.err, tc.reason)
				assert.Empty(t, parsed, "nothing is guessed")
				return
			}
			require.NoError(t, err, tc.reason)
			var words []string
			for _, cost := range parsed {
				words = append(words, cost.Amount+" "+cost.Currency+" "+cost.Unit)
			}
			assert.Equal(t, tc.want, strings.Join(words, "; "), tc.reason)
		})
	}
}

// What a cache keeps of metadata is asked for at each review.
//
//nolint:paralleltest // AllocsPerRun counts what the whole process allocates.
func TestNamedOfTheCache(t *testing.T) {
	kept := costs.Slim(&runtime.RawExtension{Raw: []byte(`{"costs": [{"amount": {"usd": 1}, "unit": "u"}]}`)})
	require.True(t, costs.Named(kept.Raw))
	assert.Zero(t, testing.AllocsPerRun(100, func() { costs.Named(kept.Raw) }), "it is not parsed")
	assert.Nil(t, costs.Slim(&runtime.RawExtension{Raw: []byte(`{"displayName": "small"}`)}))
}

func currencies(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`"c%d": 1`, i)
	}
	return strings.Join(all, ", ")
}

func TestTotal(t *testing.T) {
	t.Parallel()
	all := []v1beta1.PlanCost{
		{Currency: "usd", Amount: "0.1", Unit: "MONTHLY"},
		{Currency: "USD", Amount: "0.2", Unit: "Monthly"},
		{Currency: "eur", Amount: "7", Unit: "MONTHLY"},
		{Currency: "usd", Amount: "9", Unit: "HOURLY"},
		{Currency: "usd", Amount: "1e9", Unit: "forged"},
		{Currency: "usd", Amount: "1e999999999", Unit: "huge"},
		{Currency: "usd", Amount: "-5", Unit: "signed"},
	}
	for asked, want := range map[[2]string]string{
		{"Usd", "monthly"}: "0.3", {"eur", "MONTHLY"}: "7", {"usd", "hourly"}: "9", {"usd", "forged"}: "", {"usd", "signed"}: "",
		{"chf", "MONTHLY"}: "", {"usd", "DAILY"}: "", {"usd", "huge"}: "",
	} {
		total, known := costs.Total(all, asked[0], asked[1])
		assert.Equal(t, want != "", known, asked)
		if known {
			assert.Equal(t, want, costs.Text(total), asked)
		}
	}
}

// FuzzParse holds any metadata against the schema of the status, and amounts against what JSON's numbers mean.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"costs": [{"amount": {"usd": 99.0}, "unit": "MONTHLY"}]}`,
		`{"costs": [{"amount": {"usd": 1.5e1, "eur": 2}, "unit": "a"}, {"amount": {"usd": 1e-9}, "unit": "b"}]}`,
		`{"costs": [{"amount": {"usd": -0}, "unit": "MONTHLY"}]}`, `{"costs": null}`, `{"costs": [{}]}`, `["costs"]`,
		`{"costs": [{"amount": {"usd": 1e400}, "unit": "` + "\u202e" + `"}]}`, `{"c\u006fsts": [{"amount":{"\ud800":1},"unit":"u"}], "costs":[]}`,
	} {
		f.Add(seed)
	}
	amount := regexp.MustCompile(`^(0|[1-9][0-9]*)(\.[0-9]*[1-9])?$`)
	f.Fuzz(func(t *testing.T, metadata string) {
		parsed, err := costs.Parse([]byte(metadata))
		if err != nil {
			require.Empty(t, parsed)
			return
		}
		require.LessOrEqual(t, len(parsed), 32)
		for _, cost := range parsed {
			require.Regexp(t, amount, cost.Amount)
			require.LessOrEqual(t, len(cost.Amount), 64)
			for text, most := range map[string]int{cost.Currency: 64, cost.Unit: 256} {
				require.NotEmpty(t, text)
				require.LessOrEqual(t, utf8.RuneCountInString(text), most)
			}
		}
	})
}

// FuzzDecimal holds decimals against what math/big reads of the same text: none is rounded.
func FuzzDecimal(f *testing.F) {
	for _, seed := range []string{"0", "-0.0", "99.950", "1e3", "12.5E-3", "9e29", "1e-30", "1e30", "1e999999999", "01", "0x1", "1/3", "+1", "1_0", ".5", "Inf"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		value, err := costs.Decimal(text)
		if err != nil {
			return
		}
		require.True(t, json.Valid([]byte(text)), "it is a JSON number")
		want, ok := new(big.Rat).SetString(text)
		require.True(t, ok)
		require.Zero(t, want.Cmp(value))
		again, err := costs.Decimal(costs.Text(value))
		require.NoError(t, err)
		require.Zero(t, value.Cmp(again), "as text it is the same")
	})
}
