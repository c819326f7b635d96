package instances_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/offering"
)

// strictSchema allows size and nothing else.
const strictSchema = `{"type":"object","additionalProperties":false,"properties":{"size":{"type":"integer"}}}`

// readyPatch is the command that a denial offers.
var readyPatch = regexp.MustCompile(`kubectl patch -n \S+ serviceinstance .*`)

// TestDeniedPlanChangeComesWithThePatchThatWorks tells of a new plan whose
// schema refuses what the old plan's defaults gave: the denial names each key
// with its origin and ends with a command, and the command works as it is.
func TestDeniedPlanChangeComesWithThePatchThatWorks(t *testing.T) {
	t.Parallel()
	many := map[string]any{}
	for i := range 12 {
		many[fmt.Sprintf("key-%02d", i)] = i
	}
	text, err := json.Marshal(many)
	require.NoError(t, err)
	cases := map[string]struct {
		reason  string
		scope   offering.Scope
		created env.InstanceEdit
		plan    string
		change  string
		names   []string
	}{
		"Cluster": {
			reason: "the keys of both layers", scope: offering.Cluster, created: env.OfType("type"), plan: `{"pool":{"mode":"cold"},"it's":1}`,
			change: `{"spec":{"PLANExternalName":"@other"}}`, names: []string{"backup", "pool", "it's"},
		},
		"Namespace": {
			reason: "in both scopes", scope: offering.Namespace, created: env.OfType("type"), plan: `{"pool":{"mode":"cold"},"a/b~c":1}`,
			change: `{"spec":{"PLANExternalName":"@other"}}`, names: []string{"backup", "pool", "a~1b~0c"},
		},
		"Named": {
			reason: "a plan that was named otherwise before", scope: offering.Cluster, created: namedPlan, plan: `{"pool":1}`,
			change: `{"spec":{"PLANExternalName":null,"PLANName":"@other"}}`, names: []string{"backup", "pool"},
		},
		"Selected": {
			reason: "a plan that was selected before", scope: offering.Cluster, created: env.WithSelector(map[string]string{"offer": "plan"}), plan: `{"pool":1}`,
			change: `{"spec":{"planSelector":{"matchLabels":null},"PLANExternalName":"@other"}}`, names: []string{"backup", "pool"},
		},
		"Many": {
			reason: "more keys than a denial lists", scope: offering.Cluster, created: env.OfType("type"), plan: string(text),
			change: `{"spec":{"PLANExternalName":"@other"}}`, names: []string{"backup", "key-00"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := offering.New(env.New(t), tc.scope, func(_ *env.Class, p, other *env.Plan) {
				p.Defaults, other.Defaults, other.Schema = tc.plan, "", strictSchema
			})
			o.CreateInstance("db", o.Named(tc.created), env.WithParameters(`{"size":1}`))
			stderr := o.KubectlFails("", "patch", "serviceinstance", "db", "--type=merge", "-p", worded(o, tc.change))
			for _, key := range tc.names {
				assert.Contains(t, stderr, "spec.parameters/"+key+": ", tc.reason)
			}
			assert.Contains(t, stderr, "the value is the default of the class")
			assert.Contains(t, stderr, "the value is the default of the plan")
			assert.Equal(t, o.Ref(o.Plan), o.HoldingOf("db").Plan, "a refused write changes nothing")

			o.Shell(readyPatch.FindString(stderr))
			after := o.HoldingOf("db")
			assert.Equal(t, o.Ref(o.Other), after.Plan, tc.reason)
			assert.JSONEq(t, `{"size":1}`, after.Parameters, tc.reason)
			assert.Empty(t, after.Applied.From, "what is gone is no default any more")
		})
	}
}
