package catalog

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// unreadable stands for costs of another form than the Open Service Broker API describes.
const unreadable = "?"

// Price is what a plan costs, in its broker's words: "99.95 usd / MONTHLY", or several such
// with commas between them; "free" where it says so and names no costs, and empty where it
// says nothing.
func (p Plan) Price() string {
	var metadata struct {
		Costs json.RawMessage `json:"costs"`
	}
	// Metadata may be large, and is mostly without costs.
	if raw := p.Spec.ExternalMetadata; raw != nil && bytes.Contains(raw.Raw, []byte(`"costs"`)) {
		if err := json.Unmarshal(raw.Raw, &metadata); err != nil {
			return unreadable
		}
	}
	var costs []json.RawMessage
	if len(metadata.Costs) > 0 && json.Unmarshal(metadata.Costs, &costs) != nil {
		return unreadable
	}
	if len(costs) == 0 && p.Spec.Free {
		return "free"
	}
	words := make([]string, len(costs))
	for i, cost := range costs {
		words[i] = costIn(cost)
	}
	return strings.Join(words, ", ")
}

// costIn is one of the costs. A number is printed as it is stored.
func costIn(raw json.RawMessage) string {
	var cost struct {
		Amount map[string]json.Number `json:"amount"`
		Unit   string                 `json:"unit"`
	}
	if err := json.Unmarshal(raw, &cost); err != nil || len(cost.Amount) == 0 || cost.Unit == "" {
		return unreadable
	}
	var amounts []string
	for _, currency := range slices.Sorted(maps.Keys(cost.Amount)) {
		if cost.Amount[currency] == "" || currency == "" {
			return unreadable
		}
		amounts = append(amounts, cost.Amount[currency].String()+" "+currency)
	}
	return strings.Join(amounts, " or ") + " / " + cost.Unit
}
