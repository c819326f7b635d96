package catalog

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/termtext"
)

const (
	// unreadable stands for costs of another form than the Open Service Broker API describes.
	unreadable = "?"
	// shownCosts and shownCost bound what a broker can fill a table with: so many costs, and so
	// many characters of each.
	shownCosts, shownCost = 3, 40
	// more stands for the costs that are left out.
	more = "…"
)

// Price is what a plan costs, in its broker's words: "99.95 usd / MONTHLY", or several such
// with commas between them; "free" where it says so and names no costs, and empty where it
// says nothing.
func Price(plan *v1beta1.CommonServicePlanSpec) string {
	costs := Costs(plan.ExternalMetadata)
	if len(costs) == 0 && plan.Free {
		return "free"
	}
	return strings.Join(costs, ", ")
}

// Costs are the costs in the metadata of a plan, each a short line in its broker's words: the
// first ones, and an ellipsis where there are more.
func Costs(raw *runtime.RawExtension) []string {
	// Metadata may be large, and is mostly without costs.
	if raw == nil || !bytes.Contains(raw.Raw, []byte(`"costs"`)) {
		return nil
	}
	var metadata struct {
		Costs json.RawMessage `json:"costs"`
	}
	if err := json.Unmarshal(raw.Raw, &metadata); err != nil {
		return []string{unreadable}
	}
	var costs []json.RawMessage
	if len(metadata.Costs) > 0 && json.Unmarshal(metadata.Costs, &costs) != nil {
		return []string{unreadable}
	}
	var words []string
	for _, cost := range costs[:min(len(costs), shownCosts)] {
		words = append(words, termtext.Short(costIn(cost), shownCost))
	}
	if len(costs) > shownCosts {
		words = append(words, more)
	}
	return words
}

// costIn is one of the costs. A number is printed as it is stored.
func costIn(raw json.RawMessage) string {
	var cost struct {
		Amount map[string]json.Number `json:"amount"`
		Unit   string                 `json:"unit"`
	}
	if err := json.Unmarshal(raw, &cost); err != nil || len(cost.Amount) == 0 {
		return unreadable
	}
	unit := termtext.Line(cost.Unit)
	if unit == "" {
		return unreadable
	}
	var amounts []string
	for _, currency := range slices.Sorted(maps.Keys(cost.Amount)) {
		shown := termtext.Line(currency)
		if cost.Amount[currency] == "" || shown == "" {
			return unreadable
		}
		amounts = append(amounts, cost.Amount[currency].String()+" "+shown)
	}
	return strings.Join(amounts, " or ") + " / " + unit
}
