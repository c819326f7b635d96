package explain

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"
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
		"LostPlan": {
			Then{Plan: basic, Again: true}, Now{Verdict: Decided, Plan: premium},
			"Created now it would get azure/premium instead; the instance keeps azure/basic until a change of its spec finds another plan: no broker was called for it yet.",
		},
		"LostPlanAndRefusedNow": {
			Then{Plan: basic, Again: true}, Now{Verdict: Refused, Plan: premium},
			"Created now it would be refused; the instance keeps azure/basic until a change of its spec finds another plan: no broker was called for it yet.",
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

func TestPlanThatIsGone(t *testing.T) {
	t.Parallel()
	const called = ", status: {provisionStatus: Provisioned}"
	for name, tc := range map[string]struct {
		reason, objects, status string
		gone                    string
		again                   bool
	}{
		"Lives": {reason: "it can be chosen", objects: shopClass + shop("p", "", "")},
		"Absent": {
			reason: "its object does not exist", objects: shopClass,
			gone: "it does not exist any more", again: true,
		},
		"AbsentAndCalled": {
			reason: "a broker was called, so the decision is final", objects: shopClass, status: called,
			gone: "it does not exist any more",
		},
		"ClassAbsent": {
			reason: "the class is gone, and with it its plans", objects: shop("p", "", ""),
			gone: "it is of a class that does not exist", again: true,
		},
		"OtherBroker": {
			reason:  "admission does not decide again because of the brokers' names",
			objects: strings.Replace(shopClass, "clusterServiceBrokerName: b", "clusterServiceBrokerName: other", 1) + shop("p", "", ""),
			gone:    "it is of another broker than its class",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stored := fmt.Sprintf("{kind: ServiceInstance, metadata: {name: db, namespace: dev}, spec: {externalID: db, clusterServiceClassExternalName: k, clusterServicePlanExternalName: p, "+
				"clusterServiceClassRef: {name: k}, clusterServicePlanRef: {name: p}}%s}\n", tc.status)
			told, err := newAsker(t, tc.objects+stored).Instance(t.Context(), client.ObjectKey{Namespace: "dev", Name: "db"})
			require.NoError(t, err)
			assert.Equal(t, tc.gone, told.Then.Gone, tc.reason)
			assert.Equal(t, tc.again, told.Then.Again, tc.reason)
		})
	}
}
