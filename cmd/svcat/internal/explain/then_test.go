package explain

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDifference(t *testing.T) {
	t.Parallel()
	basic, premium := &Plan{Class: "azure", Plan: "basic", Scope: "cluster", Name: "b"}, &Plan{Class: "azure", Plan: "premium", Scope: "cluster", Name: "p"}
	one, two := []Parameter{{Pointer: "/a", Value: 1}, {Pointer: "/b", Value: 1}}, []Parameter{{Pointer: "/a", Value: 2}, {Pointer: "/c", Value: 1}}
	for name, tc := range map[string]struct {
		then Then
		now  Now
		want string
	}{
		"Alike": {Then{Plan: basic, Rule: "named"}, Now{Verdict: Decided, Plan: basic, Rule: "named"}, "Created now it would be decided alike."},
		"OtherPlan": {
			Then{Plan: basic}, Now{Verdict: Decided, Plan: premium},
			"Created now it would get azure/premium instead; the instance keeps azure/basic: it was decided once.",
		},
		"OtherRule": {
			Then{Plan: basic, Rule: "cluster-default"}, Now{Verdict: Decided, Plan: basic, Rule: "cluster-suggested"},
			"Created now it would get the same plan; what would differ: the rule (cluster-suggested, then cluster-default).",
		},
		"OtherValues": {
			Then{Plan: basic, Parameters: one}, Now{Verdict: Decided, Plan: basic, Parameters: two, Transforms: []Transform{{Does: "x"}}},
			"Created now it would get the same plan; what would differ: the parameters at /a, /b, /c, the secret transforms.",
		},
		"RefusedNow": {
			Then{Plan: basic}, Now{Verdict: Refused, Plan: premium},
			"Created now it would be refused; the instance keeps azure/basic: it was decided once.",
		},
		"WaitsNow": {
			Then{Plan: basic}, Now{Verdict: Waits},
			"Created now it would have to wait; the instance keeps azure/basic: it was decided once.",
		},
		"UndecidedStill": {Then{}, Now{Verdict: Waits}, "No plan is decided yet, and none would be now: the instance waits."},
		"UndecidedAndRefused": {
			Then{}, Now{Verdict: Refused, Plan: basic},
			"No plan is decided yet, and created now it would be refused: the instance stays undecided until that is mended.",
		},
		"UndecidedUntilNow": {
			Then{}, Now{Verdict: Decided, Plan: basic},
			"No plan is decided yet; the next write of the instance, or the keeper's, would decide on azure/basic.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, difference(&tc.then, &tc.now, "instance"))
		})
	}
}
