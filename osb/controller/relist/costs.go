package relist

import (
	"slices"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve/costs"
)

// Costs are what a plan costs, or why that cannot be read.
type Costs struct {
	Listed    []api.PlanCost
	Malformed string
}

// costsOf reads the costs of a plan from its metadata, also where that is too large to be stored.
func costsOf(plan *readPlan) Costs {
	if isLeftOut(plan.LeftOut, "metadata") {
		return Costs{Malformed: "metadata is not an object"}
	}
	listed, err := costs.Parse(plan.Metadata)
	if err != nil {
		plan.notes.addf("its costs are left out: %s", shorten(err.Error()))
		return Costs{Malformed: cut(err.Error(), maxMalformed)}
	}
	return Costs{Listed: listed}
}

func (c *Costs) equal(other *Costs) bool {
	return c.Malformed == other.Malformed && slices.Equal(c.Listed, other.Listed)
}

// fields are those of a plan's status. What is null is taken out.
func (c *Costs) fields() map[string]any {
	fields := map[string]any{"costs": nil, "malformedCosts": nil}
	if len(c.Listed) > 0 {
		fields["costs"] = c.Listed
	}
	if c.Malformed != "" {
		fields["malformedCosts"] = c.Malformed
	}
	return fields
}
