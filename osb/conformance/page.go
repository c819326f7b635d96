package conformance

import (
	"fmt"
	"strings"
)

// Page are the tables of docs/conformance.md about a subject.
func Page(subject Subject) string {
	var page strings.Builder
	page.WriteString("| Rule | Level | Since | Section | Requires |\n|---|---|---|---|---|\n")
	for _, rule := range RulesFor(subject) {
		fmt.Fprintf(&page, "| %s | %s | %s | %s | %s |\n", rule.ID, rule.Level, rule.Since, rule.Section, rule.Requires)
	}
	page.WriteString("\nNot judged:\n\n| Section | Requires | Why not |\n|---|---|---|\n")
	for _, unjudged := range NotJudged(subject) {
		fmt.Fprintf(&page, "| %s | %s | %s |\n", unjudged.Section, unjudged.Requires, unjudged.Why)
	}
	return page.String()
}
