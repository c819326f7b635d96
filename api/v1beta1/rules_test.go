package v1beta1

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A ruleCase stores a spec over an old one ("" for a create) and says which
// field the API server refuses ("" for none) and with which words.
type ruleCase struct {
	reason string
	plural string
	name   string
	old    string
	spec   string
	field  string
	words  string
}

func (c ruleCase) object(t *testing.T, spec string) map[string]any {
	t.Helper()
	name := c.name
	if name == "" {
		name = "n"
	}
	return readObject(t, name, spec)
}

// readObject makes an object of a name and a spec.
func readObject(t *testing.T, name, spec string) map[string]any {
	t.Helper()
	var object map[string]any
	read(t, fmt.Appendf(nil, "metadata: {name: %q}\nspec: %s", name, spec), &object)
	return object
}

func (c ruleCase) check(t *testing.T) {
	t.Helper()
	api := serve(t, c.plural)
	var old map[string]any
	if c.old != "" {
		stored, errs := api.store(c.object(t, c.old), nil)
		require.Empty(t, errs, "the old object is unlawful")
		old = stored
	}
	_, errs := api.store(c.object(t, c.spec), old)
	if c.field == "" {
		assert.Empty(t, errs, c.reason)
		return
	}
	require.Len(t, errs, 1, c.reason)
	assert.Equal(t, c.field, errs[0].Field, c.reason)
	assert.Contains(t, errs[0].Error(), c.words, c.reason)
}

func run(t *testing.T, cases map[string]ruleCase) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.check(t)
		})
	}
}

// TestEveryRuleIsTested: a rule whose message no case expects would be untested.
func TestEveryRuleIsTested(t *testing.T) {
	t.Parallel()
	for plural := range plurals {
		structural := serve(t, plural).structural
		messages := make(map[string]bool)
		collectRules(structural, func(message string) { messages[message] = true })
		for message := range messages {
			assert.True(t, refusedSomewhere(plural, message), "%s: no case is refused with %q", plural, message)
			assert.Regexp(t, `: |; `, message, "a message says the field and what to do")
		}
	}
}

// TestWhatWasAlwaysWrongStaysEditable: a rule that is younger than an object
// judges the field when it changes, and nothing before that.
func TestWhatWasAlwaysWrongStaysEditable(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ reason, plural, stored, edited, broken, field string }{
		"URL": {
			reason: "the retired catalog took any text", plural: "clusterservicebrokers", field: "spec.url",
			stored: "{url: broker}", edited: "{url: broker, insecureSkipTLSVerify: true}", broken: "{url: other}",
		},
		"Secret": {
			reason: "stored before its name had a form", plural: "serviceinstances", field: "spec.parametersFrom[0].secretKeyRef.name",
			stored: "{parametersFrom: [{secretKeyRef: {name: A_b, key: k}}]}",
			edited: "{updateRequests: 1, parametersFrom: [{secretKeyRef: {name: A_b, key: k}}]}",
			broken: "{parametersFrom: [{secretKeyRef: {name: A_c, key: k}}]}",
		},
		"Name": {
			reason: "stored before its name had a form", plural: "servicebindings", field: "spec.secretName",
			stored: "{secretName: My_DB}", edited: "{secretName: My_DB, externalID: a}", broken: "{secretName: Our_DB}",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := serve(t, tc.plural)
			stored := readObject(t, "n", tc.stored)
			_, errs := api.store(readObject(t, "n", tc.edited), stored)
			assert.Empty(t, errs, tc.reason)
			_, errs = api.store(readObject(t, "n", tc.broken), stored)
			require.Len(t, errs, 1, tc.reason)
			assert.Equal(t, tc.field, errs[0].Field)
		})
	}
}
