package conformance

import "slices"

// An Outcome is what was seen of a rule.
type Outcome string

// The outcomes.
const (
	Kept   Outcome = "kept"
	Broken Outcome = "broken"
	// NotSeen: nothing happened that the rule is about.
	NotSeen Outcome = "not seen"
)

// A Result is what was seen of one rule.
type Result struct {
	Rule

	Outcome Outcome `json:"outcome"`
	// Details say what broke the rule, or why nothing was seen of it. They hold no credential
	// and no value of a parameter.
	Details []string `json:"details,omitempty"`
}

// A Report is what was seen of all rules that a version of the API has.
type Report struct {
	Subject    Subject  `json:"subject"`
	APIVersion string   `json:"apiVersion"`
	Results    []Result `json:"results"`
	// Leftovers are what could not be removed in the end.
	Leftovers []string `json:"leftovers,omitempty"`
}

// Good says whether no MUST was broken, and nothing was left over. Strict counts a broken
// SHOULD as well.
func (r *Report) Good(strict bool) bool {
	for _, result := range r.Results {
		if result.Outcome == Broken && (strict || result.Level == Must) {
			return false
		}
	}
	return len(r.Leftovers) == 0
}

// Count is how many rules have an outcome.
func (r *Report) Count(outcome Outcome) int {
	count := 0
	for _, result := range r.Results {
		if result.Outcome == outcome {
			count++
		}
	}
	return count
}

// A Sheet collects what is seen of rules.
type Sheet struct {
	report Report
	places map[string]int
}

// NewSheet has the rules for a subject that a version has.
func NewSheet(subject Subject, version string) *Sheet {
	s := &Sheet{report: Report{Subject: subject, APIVersion: version}, places: map[string]int{}}
	for _, rule := range RulesFor(subject) {
		if AtLeast(version, rule.Since) {
			s.places[rule.ID] = len(s.report.Results)
			s.report.Results = append(s.report.Results, Result{Rule: rule, Outcome: NotSeen})
		}
	}
	return s
}

// result is the one of a rule; nil where the version does not have it.
func (s *Sheet) result(id string) *Result {
	if place, has := s.places[id]; has {
		return &s.report.Results[place]
	}
	return nil
}

// Keep says that a rule was seen to be kept, unless it was seen broken.
func (s *Sheet) Keep(id string) {
	if r := s.result(id); r != nil && r.Outcome == NotSeen {
		r.Outcome, r.Details = Kept, nil
	}
}

// mostDetails is how many times a rule says how it was broken.
const mostDetails = 5

// Break says that a rule was broken, and how.
func (s *Sheet) Break(id, detail string) {
	r := s.result(id)
	if r == nil {
		return
	}
	if r.Outcome != Broken {
		r.Outcome, r.Details = Broken, nil
	}
	if len(r.Details) < mostDetails && !slices.Contains(r.Details, detail) {
		r.Details = append(r.Details, detail)
	}
}

// Judge keeps a rule, or breaks it.
func (s *Sheet) Judge(id string, kept bool, detail string) {
	if kept {
		s.Keep(id)
		return
	}
	s.Break(id, detail)
}

// Pass says why nothing was seen of a rule so far.
func (s *Sheet) Pass(id, why string) {
	if r := s.result(id); r != nil && r.Outcome == NotSeen {
		r.Details = []string{why}
	}
}

// Outcome is what was seen of a rule so far.
func (s *Sheet) Outcome(id string) Outcome {
	if r := s.result(id); r != nil {
		return r.Outcome
	}
	return NotSeen
}

// Leave says that something could not be removed.
func (s *Sheet) Leave(what string) { s.report.Leftovers = append(s.report.Leftovers, what) }

// Report is what was seen.
func (s *Sheet) Report() Report { return s.report }

// Explain says why nothing was seen of a rule, unless a reason is known.
func (s *Sheet) Explain(id, why string) {
	if r := s.result(id); r != nil && r.Outcome == NotSeen && r.Details == nil {
		r.Details = []string{why}
	}
}
