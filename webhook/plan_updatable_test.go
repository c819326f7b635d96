package webhook

import (
	"fmt"
	"testing"
)

// planSays makes the plans of an external name say whether they may be left.
func planSays(plan string, updatable bool) func(*stock) {
	return func(s *stock) {
		for _, object := range s.objects {
			if isPlan(object) && viewPlan(object).spec.ExternalName == plan {
				viewPlan(object).spec.PlanUpdatable = new(updatable)
			}
		}
	}
}

// The plan that an instance has says whether it may be left, and where it says nothing, its class.
func TestPlanUpdatable(t *testing.T) {
	t.Parallel()
	const toLarge = `{"spec":{"clusterServicePlanExternalName":"large"}}`
	moved := refsToLarge(`"clusterServicePlanExternalName":"large",`)
	for name, tc := range map[string]updateCase{
		"PlanAllows": {
			reason: "The plan's word is before its class's.", edits: []func(*stock){fixedPlans, planSays("small", true)}, want: moved,
		},
		"PlanForbids": {
			reason: "In both ways.", edits: []func(*stock){planSays("small", false)}, denied: "spec", says: "plan db/small does not allow an instance to change its plan",
		},
		"PlanRepeats": {
			reason: "What both say holds.", edits: []func(*stock){planSays("small", true)}, want: moved,
		},
		"TargetAllows": {
			reason: "The plan to be has no say.", edits: []func(*stock){fixedPlans, planSays("large", true)}, denied: "spec", says: `class "db" does not allow`,
		},
		"TargetForbids": {
			reason: "Not even to forbid: it speaks of leaving it.", edits: []func(*stock){planSays("large", false)}, want: moved,
		},
		"ForbidsOnceProvisioned": {
			reason: "Whatever became of it.", edits: []func(*stock){planSays("small", false)}, stored: provisioned, denied: "spec", says: "plan db/small does not allow",
		},
		"GoneOnceProvisioned": {
			reason: "Of a plan that is gone, the class speaks.", edits: []func(*stock){planSays("small", false)}, stored: provisioned, later: "mysql/db: large", want: moved,
		},
	} {
		tc.catalog, tc.create, tc.write = db, byType, toLarge
		for _, namespaced := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/Namespaced=%t", name, namespaced), func(t *testing.T) {
				t.Parallel()
				tc.scoped(namespaced).run(t)
			})
		}
	}
}
