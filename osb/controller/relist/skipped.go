package relist

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/defaultplan/defaultplan/osb"
)

// A Skipped is a part of a catalog that was not applied.
type Skipped struct {
	// Service and Plan are names at the broker; Plan is empty for a service.
	Service, Plan string
	// Reason says why, in words for people.
	Reason string
}

// String is the part and the reason in one line.
func (s Skipped) String() string {
	if s.Plan == "" {
		return fmt.Sprintf("service %q: %s", s.Service, s.Reason)
	}
	return fmt.Sprintf("plan %q of service %q: %s", s.Plan, s.Service, s.Reason)
}

const (
	// maxTold is how many skipped parts a message names.
	maxTold = 10
	// maxShown bounds how much of a broker's text or of an error a message
	// quotes, in characters.
	maxShown  = 120
	maxReason = 300
)

// Summary is one message about what was skipped: the first ten, and how many
// more there are.
func Summary(skipped []Skipped) string {
	texts := make([]string, 0, maxTold+1)
	for i := range skipped[:min(len(skipped), maxTold)] {
		texts = append(texts, skipped[i].String())
	}
	if more := len(skipped) - maxTold; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, "; ")
}

// notes are what is left out of one class or plan, in words.
type notes struct{ texts []string }

func (n *notes) addf(format string, args ...any) {
	n.texts = append(n.texts, fmt.Sprintf(format, args...))
}

// leftOut records fields of a wrong type.
func (n *notes) leftOut(fields []osb.LeftOut) {
	for _, left := range fields {
		n.addf("its field %s is left out: it %s", left.Field, left.Why)
	}
}

// shorten makes a broker's text fit into a message.
func shorten(text string) string { return cut(text, maxShown) }

// cut makes a text one printable line of at most so many characters.
func cut(text string, most int) string {
	var line strings.Builder
	count := 0
	for _, r := range text {
		if count++; count > most {
			return line.String() + "…"
		}
		if !unicode.IsPrint(r) {
			r = ' '
		}
		line.WriteRune(r)
	}
	return line.String()
}
