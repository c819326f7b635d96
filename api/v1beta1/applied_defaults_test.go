package v1beta1

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAppliedDefaults(t *testing.T) {
	t.Parallel()
	many := make(map[string]string)
	for i := range 2000 {
		many[fmt.Sprintf("/key-%04d", i)] = "class"
	}
	cases := map[string]struct {
		reason    string
		applied   AppliedDefaults
		truncated bool
	}{
		"RuleOnly": {reason: "a decision without defaults", applied: AppliedDefaults{Rule: "named"}},
		"Whole": {reason: "everything fits", applied: AppliedDefaults{
			Rule: "cluster-default", Class: "azure-mysql", Plan: "premium-p1",
			From: map[string]string{"/location": "class", "/a~1b": "plan"}, Removed: []string{"/firewallRules"},
		}},
		"TooMany": {reason: "what does not fit is left out", applied: AppliedDefaults{Rule: "named", From: many}, truncated: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := tc.applied.String()
			assert.LessOrEqual(t, len(text), MaxAppliedDefaults, tc.reason)
			got, err := ParseAppliedDefaults(text)
			require.NoError(t, err)
			assert.Equal(t, tc.truncated, got.Truncated, tc.reason)
			assert.Equal(t, tc.applied.Rule, got.Rule)
			if !tc.truncated {
				assert.Equal(t, tc.applied, got, tc.reason)
				return
			}
			assert.Greater(t, len(text), MaxAppliedDefaults-64, "room is used")
			for pointer, layer := range got.From {
				assert.Equal(t, tc.applied.From[pointer], layer)
			}
		})
	}
}

func TestParseAppliedDefaultsRefuses(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{
		"Nothing": "", "NotJSON": "secret-value", "List": "[]", "Long": strings.Repeat(" ", MaxAppliedDefaults) + "{}",
	} {
		_, err := ParseAppliedDefaults(value)
		require.Error(t, err, name)
		assert.Contains(t, err.Error(), AnnotationAppliedDefaults, name)
		assert.NotContains(t, err.Error(), "secret-value", name)
	}
}
