package resolve_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/defaultplan/defaultplan/resolve"
)

// TestWords: what people are told holds no code name.
func TestWords(t *testing.T) {
	t.Parallel()
	for rule, want := range map[resolve.Rule]string{
		resolve.RuleNamed:              "named",
		resolve.RuleOnlyPlan:           "the only plan of class cache",
		resolve.RuleClassDefault:       "default of class cache",
		resolve.RuleClassSuggested:     "suggested in class cache",
		resolve.RuleSelector:           "the heaviest match",
		resolve.RuleNamespaceDefault:   "default of namespace dev",
		resolve.RuleClusterDefault:     "default of the cluster",
		resolve.RuleNamespaceSuggested: "suggested in namespace dev",
		resolve.RuleClusterSuggested:   "suggested in the cluster",
		"restored":                     "restored",
	} {
		assert.Equal(t, want, rule.Words("dev", "cache"))
	}
	assert.Equal(t, "default of the class", resolve.RuleClassDefault.Words("dev", ""), "a class that is not known is not named")
}
