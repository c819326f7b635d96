package simulation

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/webhook/options"
)

// What is refused, gone or over a limit now and is not then is told, too.
func TestBack(t *testing.T) {
	t.Parallel()
	const (
		limited  = `{kind: ProvisioningPolicy, metadata: {name: p}, spec: {action: Allow, maxInstances: 1, subjects: [{className: mysql}]}}`
		roomy    = `{kind: ProvisioningPolicy, metadata: {name: p}, spec: {maxInstances: 2}}`
		instance = `{kind: ServiceInstance, metadata: {name: b, namespace: dev}, spec: {serviceType: mysql}}`
	)
	small, large := listed("small", suggested), listed("large")
	replaced := []Change{{Default: &Default{Class: "mysql", Plan: "large"}}, catalogChange(listing(large))}
	strict := catalogChange(listing(listed("large", required)))
	cases := map[string]struct {
		reason          string
		before, changes []Change
		want            []string
	}{
		"WithinLimit": {
			reason: "A raised limit grants a slot to what had none.", before: applied(t, instance+"\n---\n"+limited), changes: applied(t, roomy),
			want: []string{"dev/b WithinLimit 1 instance>"},
		},
		"Parameters": {
			reason: "The schema asks for less.", before: []Change{catalogChange(listing(listed("small", suggested, required)))}, changes: []Change{catalogChange(listing(small))},
			want: []string{"dev/a ParametersAllowed > admission webhook \"validate.serviceinsta"},
		},
		"Plan": {
			reason: "The plan is listed again.", before: []Change{catalogChange(listing(large))}, changes: []Change{catalogChange(listing(small, large))},
			want: []string{"dev/a PlanBack >mysql/small"},
		},
		"EditRefused": {
			reason: "The plan that it gets at an edit asks for a parameter.", before: replaced, changes: []Change{strict},
			want: []string{"dev/a EditRefused > admission webhook \"validate.serviceinsta"},
		},
		"EditAllowed": {
			reason: "It asks for none any more.", before: append(replaced, strict), changes: []Change{replaced[1]},
			want: []string{"dev/a EditAllowed > admission webhook \"validate.serviceinsta"},
		},
		"EditReworded": {
			reason: "It asks for another one.", before: append(replaced, strict),
			changes: []Change{catalogChange(listing(listed("large", strings.ReplaceAll(required, "size", "zone"))))},
			want:    []string{"dev/a EditRefused refused>refused admission webhook \"validate.serviceinsta"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster, w := newWorld(t, options.New())
			put(t, w, spaces)
			require.NoError(t, w.Relist(t.Context(), "", "shop", []byte(listing(small, large))))
			put(t, w, instanceA)
			for i := range tc.before {
				require.NoError(t, perform(t.Context(), w, &tc.before[i]))
			}
			report := simulate(t, State{Objects: cluster.Objects()}, tc.changes...)
			assert.Equal(t, tc.want, told(report).Instances, tc.reason)
		})
	}
}
