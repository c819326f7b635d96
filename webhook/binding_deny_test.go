package webhook

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const goldenBindingDenials = "testdata/denials_bindings.golden"

// Every refusal of a binding, and of an instance by a policy, as people read it.
func TestBindingDenials(t *testing.T) {
	t.Parallel()
	texts := map[string]string{}
	for group, cases := range map[string]map[string]bindingCase{
		"Instance": bindingInstanceCases(), "Description": bindingDescriptionCases(), "Shape": bindingShapeCases(), "Claim": claimCases(), "Undecided": undecidedBindingCases(),
		"Secrets": bindingSecretCases(), "SecretName": bindingSecretNameCases(), "ServiceName": bindingServiceNameCases(), "Restored": bindingRestoredCases(), "Schema": bindingSchemaCases(),
		"Policy": bindingPolicyCases(), "Settled": settledBindingCases(), "Shared": sharedBindingCases(),
	} {
		for name, tc := range cases {
			if tc.denied == "" {
				continue
			}
			for title, namespaced := range tc.scopes(group + name) {
				_, _, o := tc.run(t, namespaced)
				require.NotNil(t, o.denied(), title)
				texts[title] = o.render(title)
			}
		}
	}
	for name, tc := range policedInstances() {
		if tc.denied != "" {
			title := "Provisioning" + name
			texts[title] = tc.run(t).render(title)
		}
	}
	var all strings.Builder
	for _, title := range slices.Sorted(maps.Keys(texts)) {
		all.WriteString(texts[title])
	}
	if *update {
		require.NoError(t, os.WriteFile(goldenBindingDenials, []byte(all.String()), 0o644))
	}
	want, err := os.ReadFile(goldenBindingDenials)
	require.NoError(t, err)
	assert.Equal(t, string(want), all.String(), "run the test with -update and read the difference")
}

// settledBindingCases are edits that come too late.
func settledBindingCases() map[string]bindingCase {
	return map[string]bindingCase{
		"Parameters": {reason: "One field.", spec: toMydb, write: `{"spec":{"parameters":{"a":"` + canary + `"}}}`, denied: "Immutable"},
		"Several":    {reason: "Each field is told.", spec: toMydb, write: `{"spec":{"secretName":"other","secretTransforms":[{"addKey":{"key":"k","stringValue":"` + canary + `"}}],"parametersFrom":[{"secretKeyRef":{"name":"s","key":"k"}}]}}`, denied: "Immutable"},
		"References": {reason: "References, too.", spec: toMydb, write: `{"spec":{"clusterServicePlanRef":{"name":"db-large"}}}`, denied: "Immutable"},
		"Bound":      {reason: "The same once a broker has it.", spec: toMydb, stored: boundStatus, write: `{"spec":{"serviceType":"mysql"}}`, denied: "Immutable"},
	}
}
