package doctor

import (
	"cmp"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/termtext"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/suggest"
)

// claimsOf are the plans of each type that say that they are its default, apart from
// the one that is recorded. Plans that are gone claim nothing.
func claimsOf(entries *resolve.Catalog) map[resolve.Ref]claim {
	classes := map[resolve.Ref]*resolve.ClassEntry{}
	for i := range entries.Classes {
		classes[entries.Classes[i].Ref] = &entries.Classes[i]
	}
	recorded := map[resolve.Ref]resolve.Ref{}
	for _, record := range entries.Records {
		if record.Plan.Name != "" {
			recorded[resolve.Ref{Namespace: record.Plan.Namespace, Name: record.Type}] = record.Plan
		}
	}
	claims := map[resolve.Ref]claim{}
	for i := range entries.Plans {
		plan := &entries.Plans[i]
		class := classes[resolve.Ref{Namespace: plan.Namespace, Name: plan.Class}]
		if class == nil || class.Gone != "" || plan.Gone != "" {
			continue
		}
		at := resolve.Ref{Namespace: plan.Namespace, Name: cmp.Or(plan.Type, class.Type)}
		if at.Name == "" {
			continue
		}
		// Brokers name both as they like: the name is a line in a report.
		c, title := claims[at], termtext.Line(cmp.Or(class.ExternalName, class.Name)+"/"+cmp.Or(plan.ExternalName, plan.Name))
		switch {
		case recorded[at] == plan.Ref:
			c.recorded, c.keep = title, suggest.PlanOf(plan, class).MakeDefault().Svcat
		case plan.Default:
			c.annotated = append(c.annotated, title)
		}
		claims[at] = c
	}
	return claims
}
