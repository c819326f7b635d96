package relist

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
)

const priced = `{"services":[{"id":"@db","name":"@mysql","description":"d","plans":[{"id":"@s","name":"small","description":"d"},
	{"id":"@l","name":"large","description":"d","free":false,"metadata":{"costs":[{"amount":{"usd":99.0,"eur":8.5e1},"unit":"MONTHLY"}]}}]}]}`

// What a plan costs is in its status, in one write more where there is any, and follows the catalog.
func TestCostsAreInTheStatus(t *testing.T) {
	bothScopes(t, func(t *testing.T, w *world) {
		_, writes := w.relist(w.catalog(priced))
		assert.Equal(t, 3+1+1, writes, "class and plans, the class's counts, and one plan's costs")
		assert.Equal(t, Costs{}, w.plan("s").costs)
		dear := Costs{Listed: []api.PlanCost{{Currency: "usd", Amount: "99", Unit: "MONTHLY"}, {Currency: "eur", Amount: "85", Unit: "MONTHLY"}}}
		assert.Equal(t, dear, w.plan("l").costs)
		_, writes = w.relist(w.catalog(priced))
		assert.Zero(t, writes)

		w.relist(w.catalog(priced, "99.0", "250"))
		assert.Equal(t, "250", w.plan("l").costs.Listed[0].Amount)
		broken := w.catalog(priced, `{"usd":99.0,"eur":8.5e1}`, `{"usd":"much"}`)
		result, _ := w.relist(broken)
		assert.Equal(t, Costs{Malformed: `costs[0]: the amount of "usd" is not a number of zero or more`}, w.plan("l").costs, "what was known is not kept")
		require.Len(t, result.Skipped, 1)
		assert.Equal(t, `its costs are left out: costs[0]: the amount of "usd" is not a number of zero or more`, result.Skipped[0].Reason)
		_, writes = w.relist(broken)
		assert.Zero(t, writes)

		_, writes = w.relist(w.catalog(priced, `,"metadata":{"costs":[{"amount":{"usd":99.0,"eur":8.5e1},"unit":"MONTHLY"}]}`, ""))
		assert.Equal(t, 2, writes, "the facts and the status")
		assert.Equal(t, Costs{}, w.plan("l").costs)
		w.relist(w.catalog(priced))
		w.relist(&osb.Catalog{})
		assert.Equal(t, dear, w.plan("l").costs, "what is not listed any more was that dear")
	})
}

// Anyone's edit of the status is undone, and a plan that comes back has its costs in the same write.
func TestCostsAreRepaired(t *testing.T) {
	w := newWorld(t, false)
	w.relist(w.catalog(priced))
	plan := w.plan("l")
	require.NoError(t, w.engine.setStatus(t.Context(), plan, map[string]any{"costs": []any{map[string]any{"currency": "usd", "amount": "1", "unit": "MONTHLY"}}, statusRemoved: true}))
	_, writes := w.relist(w.catalog(priced))
	assert.Equal(t, 1, writes)
	assert.Equal(t, "99", w.plan("l").costs.Listed[0].Amount)
	assert.False(t, w.plan("l").removed)
}

func TestCostsOf(t *testing.T) {
	t.Parallel()
	read := func(plan string) Costs {
		var catalog osb.Catalog
		require.NoError(t, json.Unmarshal([]byte(`{"services":[{"id":"a","name":"a","plans":[{"id":"b","name":"b"`+plan+`}]}]}`), &catalog))
		wanted, _ := Wanted(Broker{Name: "x"}, &catalog)
		return wanted.Classes[0].Plans[0].Costs
	}
	assert.Equal(t, Costs{}, read(""))
	assert.Equal(t, Costs{}, read(`,"metadata":{"costs":null}`))
	assert.Equal(t, Costs{Malformed: "metadata is not an object"}, read(`,"metadata":"costs"`), "nothing is known of it")
	assert.Equal(t, "1", read(`,"metadata":{"x":"` + strings.Repeat("x", maxMetadata) + `","costs":[{"amount":{"usd":1},"unit":"u"}]}`).Listed[0].Amount, "what is too large to be stored is read")
	long := read(`,"metadata":{"costs":[{"amount":{"usd":1},"` + strings.Repeat("\u2028", 300) + `":1,"` + strings.Repeat("\u2028", 300) + `":1,"unit":"u"}]}`)
	assert.LessOrEqual(t, utf8.RuneCountInString(long.Malformed), 256)
	assert.NotEmpty(t, long.Malformed)
}
