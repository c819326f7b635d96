package policy

import (
	"fmt"
	"strings"
)

// Text says for people which policies keep a subject, as in "plan db/premium", from a namespace, what it costs, and the operator's message.
func (r *Refusal) Text(subject, namespace string) string {
	text := fmt.Sprintf("%s %q does not let namespace %q use %s", r.Kind, r.Policies[0], namespace, subject)
	if r.NotAllowed {
		text = fmt.Sprintf("%s is only for the namespaces that %s %s names, and %q is not one of them",
			subject, r.Kind, quotedSome(r.Policies), namespace)
	}
	if r.Costs != "" {
		text += " (" + r.Costs + ")"
	}
	if r.Message != "" {
		text += ": " + r.Message
	}
	return text
}

// quotedSome quotes names for a sentence, and counts those beyond the first few.
func quotedSome(names []string) string {
	const shown = 3
	quoted := make([]string, min(len(names), shown))
	for i := range quoted {
		quoted[i] = fmt.Sprintf("%q", names[i])
	}
	text := strings.Join(quoted, ", ")
	if more := len(names) - shown; more > 0 {
		text += fmt.Sprintf(" or one of %d more", more)
	}
	return text
}
