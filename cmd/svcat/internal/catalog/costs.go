package catalog

import (
	"slices"
	"strings"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/termtext"
	"github.com/defaultplan/defaultplan/resolve/costs"
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

// Price is what a plan costs, such as "99.95 usd / MONTHLY", or several such with commas between
// them; "free" where it says so and names no costs, and empty where it says nothing.
func Price(plan *Plan) string {
	words := Costs(plan)
	if len(words) == 0 && plan.Spec.Free {
		return "free"
	}
	return strings.Join(words, ", ")
}

// Costs are what a plan costs, each a short line: the first ones, and an ellipsis where there are
// more.
func Costs(plan *Plan) []string {
	listed, readable := listedCosts(plan)
	if !readable {
		return []string{unreadable}
	}
	var words []string
	for _, alternatives := range byUnit(listed) {
		if len(words) == shownCosts {
			return append(words, more)
		}
		words = append(words, termtext.Short(inWords(alternatives), shownCost))
	}
	return words
}

// listedCosts are those of a plan's status. A copy, and a plan of which no relist has written
// them yet, has only its metadata.
func listedCosts(plan *Plan) (listed []v1beta1.PlanCost, readable bool) {
	switch metadata := plan.Spec.ExternalMetadata; {
	case plan.Status.MalformedCosts != "":
		return nil, false
	case len(plan.Status.Costs) > 0, metadata == nil:
		return plan.Status.Costs, true
	default:
		parsed, err := costs.Parse(metadata.Raw)
		return parsed, err == nil
	}
}

// byUnit groups costs that follow each other, of one unit in several currencies: they are
// alternatives.
func byUnit(listed []v1beta1.PlanCost) [][]v1beta1.PlanCost {
	var groups [][]v1beta1.PlanCost
	for _, cost := range listed {
		last := len(groups) - 1
		if last < 0 || groups[last][0].Unit != cost.Unit || slices.ContainsFunc(groups[last], func(c v1beta1.PlanCost) bool { return strings.EqualFold(c.Currency, cost.Currency) }) {
			groups = append(groups, nil)
			last++
		}
		groups[last] = append(groups[last], cost)
	}
	return groups
}

// inWords are costs of one unit as a line.
func inWords(alternatives []v1beta1.PlanCost) string {
	amounts := make([]string, len(alternatives))
	for i, cost := range alternatives {
		amounts[i] = cost.Amount + " " + termtext.Line(cost.Currency)
	}
	return strings.Join(amounts, " or ") + " / " + termtext.Line(alternatives[0].Unit)
}
