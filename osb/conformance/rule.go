package conformance

import "slices"

// A Level is how strictly the specification asks for something.
type Level string

// The levels. Only a broken Must makes a Report a bad one.
const (
	Must   Level = "MUST"
	Should Level = "SHOULD"
)

// A Subject is who is to keep a rule.
type Subject string

// The subjects.
const (
	Broker   Subject = "broker"
	Platform Subject = "platform"
)

// A Rule is one requirement of the specification.
type Rule struct {
	// ID never changes its meaning.
	ID    string `json:"id"`
	Level Level  `json:"level"`
	// Since is the first version of the API that asks for it.
	Since string `json:"since"`
	// Section is the heading that it is found under.
	Section string `json:"section"`
	// Requires is what the section asks for, in our words.
	Requires string `json:"requires"`
}

// An Unjudged is a requirement that is not judged, and why.
type Unjudged struct {
	Section, Requires, Why string
}

// Versions are those of the API that can be judged, the oldest first.
func Versions() []string { return []string{"2.13", "2.14", "2.15", "2.16", "2.17"} }

// AtLeast says whether a version of the API is another one or a later one. One that is
// unknown is earlier than all.
func AtLeast(version, other string) bool {
	return slices.Index(Versions(), version) >= slices.Index(Versions(), other)
}

// RulesFor are the rules for a subject, in the order of the specification's sections.
func RulesFor(subject Subject) []Rule {
	if subject == Platform {
		return slices.Clone(platformRules)
	}
	return slices.Clone(brokerRules)
}

// NotJudged are the requirements for a subject that no rule stands for.
func NotJudged(subject Subject) []Unjudged {
	if subject == Platform {
		return slices.Clone(unjudgedOfPlatforms)
	}
	return slices.Clone(unjudgedOfBrokers)
}
