package suggest

import (
	"regexp"
	"strings"
)

// Ways are one step as either tool takes it. Either may be empty: that tool has no
// command for it.
type Ways struct {
	Svcat   string
	Kubectl string
}

// Lines are the ways out of a refusal, one a line: svcat's after the lead, such as
// "switch at once", then kubectl's. An empty lead leaves the command alone.
func (w Ways) Lines(lead string) []string {
	if lead != "" {
		lead += ": "
	}
	switch {
	case w.Svcat == "":
		return []string{lead + w.Kubectl}
	case w.Kubectl == "":
		return []string{lead + w.Svcat}
	}
	return []string{lead + w.Svcat, "or with kubectl: " + w.Kubectl}
}

// String is both within a sentence.
func (w Ways) String() string {
	switch {
	case w.Svcat == "":
		return w.Kubectl
	case w.Kubectl == "":
		return w.Svcat
	}
	return w.Svcat + ", or with kubectl: " + w.Kubectl
}

var plainWord = regexp.MustCompile(`^[-A-Za-z0-9_@%+=:,./]+$`)

// Word is text as one word of a shell's command line.
func Word(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
