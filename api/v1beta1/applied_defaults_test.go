package v1beta1

import (
	"fmt"
	"slices"
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
		"Claim": {reason: "what was decided for an instance of a binding's own", applied: AppliedDefaults{
			Rule: "named", From: map[string]string{"/tls": "plan"}, Provision: &AppliedProvision{From: map[string]string{"/size": "class"}, Removed: []string{"/zone"}},
		}},
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

func TestAppliedProvisionIsCut(t *testing.T) {
	t.Parallel()
	many := make(map[string]string)
	for i := range 2000 {
		many[fmt.Sprintf("/key-%04d", i)] = "class"
	}
	few := map[string]string{"/tls": "plan"}
	text := AppliedDefaults{Rule: "named", From: few, Provision: &AppliedProvision{From: many, Removed: []string{"/zone"}}}.String()
	assert.LessOrEqual(t, len(text), MaxAppliedDefaults)
	assert.Greater(t, len(text), MaxAppliedDefaults-64, "room is used")
	got, err := ParseAppliedDefaults(text)
	require.NoError(t, err)
	assert.Equal(t, few, got.From, "what fits stays")
	assert.False(t, got.Truncated, "of the binding's own nothing was left out")
	assert.True(t, got.Provision.Truncated)
	assert.NotEmpty(t, got.Provision.From)
	assert.Equal(t, []string{"/zone"}, got.Provision.Removed, "what was taken away stays whole")
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

func TestPointersThatAdmissionDoesNotWriteAreLeftOut(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason     string
		given, has []string
	}{
		"Roots":       {reason: "all are read", given: []string{"/a", "/a~1b/c", "/a~0", "/b/c", "/b/cd", "/b!"}, has: []string{"/a", "/a~1b/c", "/a~0", "/b/c", "/b/cd", "/b!"}},
		"EmptyKeys":   {reason: "the empty key is one as others", given: []string{"/", "//x", "/a//b", "/a/"}, has: []string{"/", "/a/"}},
		"Document":    {reason: "the whole document is no default", given: []string{"", "/a"}, has: []string{"/a"}},
		"Deepest":     {reason: "parameters are nested no deeper", given: []string{strings.Repeat("/a", 64), strings.Repeat("/b", 65)}, has: []string{strings.Repeat("/a", 64)}},
		"Below":       {reason: "the root includes what is below it, at any depth", given: []string{"/a/b/c", "/a", "/a/b/c/d", "/ab"}, has: []string{"/a", "/ab"}},
		"TextBefore":  {reason: "another spelling of /a", given: []string{"0/a", "1/a", "/a", "a"}, has: []string{"/a"}},
		"OtherTilde":  {reason: "other spellings of /~0", given: []string{"/~", "/~2", "/~0", "/~01", "/~~1"}, has: []string{"/~0", "/~01"}},
		"Order":       {reason: "in which admission wrote them", given: []string{"/db/x", "/db-size", "/a"}, has: []string{"/db/x", "/db-size", "/a"}},
		"NoneIsGiven": {reason: "nothing is made up"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, want := map[string]string{}, map[string]string{}
			for _, pointer := range tc.given {
				from[pointer] = "class"
			}
			for _, pointer := range tc.has {
				want[pointer] = "class"
			}
			twice := append(slices.Clone(tc.given), tc.given...)
			text := AppliedDefaults{Rule: "named", From: from, Removed: twice, Provision: &AppliedProvision{From: from, Removed: twice}}.String()
			got, err := ParseAppliedDefaults(text)
			require.NoError(t, err)
			for _, read := range []AppliedProvision{{From: got.From, Removed: got.Removed}, *got.Provision} {
				assert.Len(t, read.From, len(want), tc.reason)
				assert.Subset(t, read.From, want, tc.reason)
				assert.Equal(t, tc.has, read.Removed, tc.reason)
			}
		})
	}
}
