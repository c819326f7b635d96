package webhook

import (
	"fmt"
	"strings"
	"testing"
)

// planSays makes the plans of an external name say whether they may be left.
func planSays(plan string, updatable bool) func(*stock) {
	return func(s *stock) {
		for _, object := range s.objects {
			if isPlan(object) && planSpec(object).ExternalName == plan {
				planSpec(object).PlanUpdatable = new(updatable)
			}
		}
	}
}

// The plan that an instance has at its broker says whether it may be left, whatever was decided since, and the way back to
// it is open.
func TestPlanInForceUpdatable(t *testing.T) {
	t.Parallel()
	const (
		hasSmall = `{"status":{"provisionStatus":"Provisioned","deprovisionStatus":"Required","externalProperties":{"clusterServicePlanExternalID":"id-small","planExternalID":"id-small"}}}`
		retired  = `{"status":{"provisionStatus":"Provisioned","externalProperties":{"clusterServicePlanExternalID":"id-small"}}}`
		sizes    = "mysql/db: small large huge"
	)
	back := strings.ReplaceAll(refsToLarge(`"clusterServicePlanExternalName":"large",`), "large", "small")
	on := strings.ReplaceAll(refsToLarge(`"clusterServicePlanExternalName":"large",`), "large", "huge")
	const toSmall, toHuge = `{"spec":{"clusterServicePlanExternalName":"small"}}`, `{"spec":{"clusterServicePlanExternalName":"huge"}}`
	for name, tc := range map[string]updateCase{
		"Back": {
			reason: "It is the plan that it has.", edits: []func(*stock){fixedPlans, planSays("small", true)}, stored: hasSmall, write: toSmall, want: back,
		},
		"BackThoughClosed": {
			reason: "Nothing is left where nothing changes at the broker.", edits: []func(*stock){fixedPlans, planSays("large", false), planSays("small", false)},
			stored: hasSmall, write: toSmall, want: back,
		},
		"Another": {
			reason: "The plan that it has allows it.", edits: []func(*stock){fixedPlans, planSays("small", true)}, stored: hasSmall, write: toHuge, want: on,
		},
		"AnotherForbidden": {
			reason: "The plan that it has forbids it, whatever the decided one says.", edits: []func(*stock){planSays("small", false), planSays("large", true)},
			stored: hasSmall, write: toHuge, denied: "spec", says: "plan db/small does not allow an instance to change its plan",
		},
		"Gone": {
			reason: "Of a plan that is gone, the class speaks.", edits: []func(*stock){fixedPlans, planSays("large", true)}, stored: strings.ReplaceAll(hasSmall, "id-small", "id-gone"),
			write: toHuge, denied: "spec", says: `class "db" does not allow`,
		},
		"Retired": {
			reason: "So it is in records of the retired catalog.", edits: []func(*stock){planSays("small", false)}, stored: retired, write: toHuge, denied: "spec", says: "plan db/small does not allow",
		},
		"Unrecorded": {
			reason: "Without a record, the decided plan speaks.", edits: []func(*stock){planSays("large", false)}, stored: provisioned, write: toHuge, denied: "spec", says: "plan db/large does not allow",
		},
	} {
		tc.catalog, tc.create = sizes, `{"clusterServiceClassExternalName":"db","clusterServicePlanExternalName":"large"}`
		for _, namespaced := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/Namespaced=%t", name, namespaced), func(t *testing.T) {
				t.Parallel()
				tc.scoped(namespaced).run(t)
			})
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
