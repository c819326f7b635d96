package policy_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/resolve/policy"
)

func TestFaults(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		title  string
		spec   string
		want   []string // fields, each with the start of its detail
	}{
		"Action": {
			reason: "only two are known", title: "p/x", spec: "{action: allow, " + anyPlan,
			want: []string{`spec.action: Unsupported value: "allow": supported values: "Allow", "Deny"`},
		},
		"NoNamespaces": {
			reason: "none is not every one", title: "p/x", spec: "{action: Deny, namespaces: {names: []}, " + anyPlan,
			want: []string{"spec.namespaces: Required value: give names or a selector"},
		},
		"NamespaceLabel": {
			reason: "a label's value has rules", title: "p/x", spec: "{action: Deny, namespaces: {selector: {matchLabels: {tier: a b}}}, " + anyPlan,
			want: []string{`spec.namespaces.selector.matchLabels[tier]: Invalid value: "a b"`},
		},
		"EmptySubject": {
			reason: "it would be everything", title: "p/x", spec: "{action: Deny, subjects: [{planName: a}, {}]}",
			want: []string{"spec.subjects[1]: Required value: it says nothing"},
		},
		"EmptyBindingSubject": {
			reason: "as it would here", title: "b/x", spec: "{action: Deny, subjects: [{}]}",
			want: []string{"spec.subjects[0]: Required value: it says nothing"},
		},
		"Costs": {
			reason: "as the schema has it, where there is none", title: "p/x", spec: "{action: Deny, subjects: [{costs: {}}, {costs: {currency: ' usd', unit: MONTHLY, above: '1e99', unknown: deny}}]}",
			want: []string{
				`spec.subjects[0].costs.currency: Invalid value: ""`, `spec.subjects[0].costs.unit: Invalid value: ""`, `spec.subjects[0].costs.above: Invalid value: "": it is not a number`,
				`spec.subjects[1].costs.currency: Invalid value: " usd"`, `spec.subjects[1].costs.above: Invalid value: "1e99": it has too many digits`, `spec.subjects[1].costs.unknown: Unsupported value: "deny"`,
			},
		},
		"PlanSelectorKey": {
			reason: "the path leads to the key", title: "p/x", spec: "{action: Deny, subjects: [{}, {}, {planSelector: {matchExpressions: [{key: a!, operator: Exists}]}}]}",
			want: []string{"spec.subjects[0]: Required", "spec.subjects[1]: Required", `spec.subjects[2].planSelector.matchExpressions[0].key: Invalid value: "a!"`},
		},
		"Operator": {
			reason: "to the operator", title: "p/x", spec: "{action: Deny, subjects: [{planSelector: {matchExpressions: [{key: a, operator: Gt, values: ['1']}]}}]}",
			want: []string{`spec.subjects[0].planSelector.matchExpressions[0].operator: Invalid value: "Gt"`},
		},
		"Values": {
			reason: "to values that are missing, or too many, or wrong", title: "b/x",
			spec: "{action: Deny, subjects: [{instanceSelector: {matchExpressions: [{key: a, operator: In}, {key: a, operator: Exists, values: [b]}, {key: a, operator: In, values: [b, -]}]}}]}",
			want: []string{
				"spec.subjects[0].instanceSelector.matchExpressions[0].values: Required",
				"spec.subjects[0].instanceSelector.matchExpressions[1].values: Forbidden",
				`spec.subjects[0].instanceSelector.matchExpressions[2].values[1]: Invalid value: "-"`,
			},
		},
		"LabelsInOrder": {
			reason: "a map's order changes nothing", title: "p/x", spec: "{action: Deny, subjects: [{planSelector: {matchLabels: {c!: x, a!: x, b!: x, d: x, e!: x}}}]}",
			want: []string{
				`spec.subjects[0].planSelector.matchLabels[a!]: Invalid value: "a!"`, `spec.subjects[0].planSelector.matchLabels[b!]: Invalid value: "b!"`,
				`spec.subjects[0].planSelector.matchLabels[c!]: Invalid value: "c!"`, `spec.subjects[0].planSelector.matchLabels[e!]: Invalid value: "e!"`,
			},
		},
		"InOrder": {
			reason: "action, namespaces, subjects: as kubectl explain shows them", title: "b/x",
			spec: "{subjects: [{instanceSelector: {matchLabels: {a: -}}, planSelector: {matchLabels: {a: -}}}], namespaces: {}}",
			want: []string{
				"spec.action: Unsupported", "spec.namespaces: Required",
				"spec.subjects[0].planSelector.matchLabels[a]: Invalid", "spec.subjects[0].instanceSelector.matchLabels[a]: Invalid",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 20 {
				rule, err := compiled(t, tc.title, tc.spec)
				var broken *policy.Error
				require.ErrorAs(t, err, &broken, tc.reason)
				require.Len(t, broken.Faults, len(tc.want), "%s: %v", tc.reason, err)
				for i, fault := range broken.Faults {
					require.True(t, strings.HasPrefix(fault.Field+": "+fault.Detail, tc.want[i]), "%s: got %v", tc.reason, fault)
				}
				require.Equal(t, policy.Rule{}, rule, "Half a rule is none.")
			}
		})
	}
}

func TestErrorSays(t *testing.T) {
	t.Parallel()
	_, err := compiled(t, "b/rds", "{action: Deny, namespaces: {}, subjects: [{}]}")
	require.EqualError(t, err, `cannot read BindingPolicy "rds": `+
		"spec.namespaces: Required value: give names or a selector; without namespaces the rule holds in every namespace; "+
		"spec.subjects[0]: Required value: it says nothing, and would select everything: an empty planSelector says so")
}

// TestErrorIsShort: neither many faults nor long labels fill a log.
func TestErrorIsShort(t *testing.T) {
	t.Parallel()
	for _, before := range []string{"", "x", "xy"} {
		var subjects strings.Builder
		for range 256 {
			fmt.Fprintf(&subjects, "{planSelector: {matchLabels: {%q: a}}},", before+strings.Repeat("€", 300))
		}
		_, err := compiled(t, "p/x", "{action: Deny, subjects: ["+subjects.String()+"]}")
		var broken *policy.Error
		require.ErrorAs(t, err, &broken)
		assert.Len(t, broken.Faults, 10)
		assert.Less(t, len(err.Error()), 10*2*300)
		assert.True(t, utf8.ValidString(err.Error()))
	}
}
