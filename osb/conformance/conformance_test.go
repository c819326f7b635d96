package conformance_test

import (
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/osb/conformance"
)

var subjects = []conformance.Subject{conformance.Broker, conformance.Platform}

// TestThePageHasTheRules compares docs/conformance.md with the rules.
func TestThePageHasTheRules(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/conformance.md")
	require.NoError(t, err)
	for _, subject := range subjects {
		assert.Contains(t, string(page), conformance.Page(subject), "copy what osb-conformance rules %s prints", subject)
	}
}

func TestRulesAreWhole(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, subject := range subjects {
		for _, rule := range conformance.RulesFor(subject) {
			assert.Regexp(t, `^([A-Z]+-\d+|M\d+\.\d+)$`, rule.ID)
			assert.False(t, seen[rule.ID], "%s is there twice", rule.ID)
			seen[rule.ID] = true
			assert.Contains(t, conformance.Versions(), rule.Since, rule.ID)
			assert.Contains(t, []conformance.Level{conformance.Must, conformance.Should}, rule.Level, rule.ID)
			assert.NotEmpty(t, rule.Section, rule.ID)
			assert.NotContains(t, rule.Requires, "|", rule.ID)
		}
		for _, unjudged := range conformance.NotJudged(subject) {
			assert.NotEmpty(t, unjudged.Why, unjudged.Requires)
		}
	}
}

func TestAtLeast(t *testing.T) {
	t.Parallel()
	assert.True(t, conformance.AtLeast("2.17", "2.13"))
	assert.True(t, conformance.AtLeast("2.13", "2.13"))
	assert.False(t, conformance.AtLeast("2.13", "2.14"))
	assert.False(t, conformance.AtLeast("3.0", "2.13"), "an unknown one")
}

// TestSheet: what is broken stays broken, what is kept is not passed over, and a version does not
// have the rules of later ones.
func TestSheet(t *testing.T) {
	t.Parallel()
	sheet := conformance.NewSheet(conformance.Broker, "2.13")
	sheet.Pass("PRO-1", "at first")
	sheet.Keep("PRO-1")
	sheet.Pass("PRO-1", "later")
	sheet.Break("DEP-1", "once")
	sheet.Break("DEP-1", "once")
	sheet.Keep("DEP-1")
	sheet.Explain("UPD-1", "never")
	sheet.Explain("UPD-1", "again")
	sheet.Judge("UPD-2", true, "kept")
	sheet.Break("ROT-1", "of 2.17")
	assert.Equal(t, conformance.Kept, sheet.Outcome("PRO-1"))
	assert.Equal(t, conformance.NotSeen, sheet.Outcome("ROT-1"))
	report := sheet.Report()
	assert.Equal(t, 2, report.Count(conformance.Kept))
	assert.Equal(t, 1, report.Count(conformance.Broken))
	assert.False(t, report.Good(false))
	details := map[string][]string{}
	for _, result := range report.Results {
		if result.Details != nil {
			details[result.ID] = result.Details
		}
	}
	assert.Equal(t, map[string][]string{"DEP-1": {"once"}, "UPD-1": {"never"}}, details)
	assert.False(t, slices.ContainsFunc(report.Results, func(r conformance.Result) bool { return r.Since != "2.13" }))
}
