package ui

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/explain"
	"github.com/defaultplan/defaultplan/resolve"
)

// A typeRow is a type as the first page shows it.
type typeRow struct {
	Name, Link string
	// Gives is what an instance gets that asks for the type alone, and why, in the
	// words of svcat explain: the headline behind its arrow.
	Gives string
	// Plan is the page of the plan that is chosen; empty where none is.
	Plan string
	// Refusal is why nothing is chosen.
	Refusal    string
	Candidates []candidate
}

// A candidate is a plan that claims a type, or only is of it.
type candidate struct {
	Title, Scope, Fate, Link string
	Chosen                   bool
}

// types is the first page: the types on offer.
func (s *site) types(w http.ResponseWriter, r *http.Request) {
	told, denied, err := s.asker.Types(r.Context(), s.namespace)
	if err != nil || denied != nil && len(told) == 0 {
		s.fail(w, r, "types", pick(err, denied))
		return
	}
	content := s.page("Types on offer", "types", denied)
	rows := make([]typeRow, len(told))
	for i := range told {
		rows[i] = s.typeRow(&told[i])
	}
	var notes []string
	if len(told) > 0 {
		notes = told[0].Notes
	}
	content.Body = map[string]any{"Types": rows, "Notes": notes}
	render(w, r, http.StatusOK, "types", content)
}

// pick is the error that is one.
func pick(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

func (s *site) typeRow(told *explain.Explanation) typeRow {
	name := told.Subject.Name
	_, gives, _ := strings.Cut(told.Headline(), " → ")
	row := typeRow{Name: name, Link: "/types/" + url.PathEscape(name), Gives: gives}
	now := told.Now
	// Of a plan that only wants parameters the headline says so.
	if now.Refusal != nil && (now.Plan == nil || now.Policy != nil) {
		row.Refusal = now.Refusal.Message
	}
	if now.Plan != nil {
		row.Plan = linkOf(now.Plan, s.namespace) + "?type=" + url.QueryEscape(name)
	}
	seen := map[string]bool{}
	take := func(list []explain.Candidate) {
		for i := range list {
			one := s.candidate(&list[i])
			if !seen[one.Link] {
				seen[one.Link] = true
				row.Candidates = append(row.Candidates, one)
			}
		}
	}
	for _, tier := range now.Tiers {
		take(tier.Claims)
	}
	take(now.Others)
	return row
}

func (s *site) candidate(c *explain.Candidate) candidate {
	return candidate{Title: c.Title, Scope: c.Scope, Fate: c.Fate, Link: linkOf(&c.Plan, s.namespace), Chosen: c.Fate == "chosen"}
}

// linkOf is the address of the page of a plan that was explained.
func linkOf(plan *explain.Plan, namespace string) string {
	ref := resolve.Ref{Name: plan.Name}
	if plan.Scope != ofCluster {
		ref.Namespace = namespace
	}
	return linkTo(ref)
}

// serviceType is the page of a type: its plans, and how one of them is chosen.
func (s *site) serviceType(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("type")
	told, err := s.asker.Type(r.Context(), s.namespace, name)
	if err != nil {
		s.fail(w, r, "types", err)
		return
	}
	rows, denied, err := s.offers(r.Context(), name)
	if err != nil {
		s.fail(w, r, "types", err)
		return
	}
	row := s.typeRow(&told)
	fates := map[string]string{}
	for _, one := range row.Candidates {
		fates[one.Link] = one.Fate
	}
	for i := range rows {
		rows[i].Fate = fates[rows[i].Link]
	}
	content := s.page(name, "types", denied)
	content.Body = map[string]any{
		"Type": row, "Plans": offerTable{Rows: rows}, "Headline": told.Headline(), "Tree": told.Tree(), "Notes": told.Notes,
	}
	render(w, r, http.StatusOK, "type", content)
}

// plans is the page of all plans, those without a type too.
func (s *site) plans(w http.ResponseWriter, r *http.Request) {
	rows, denied, err := s.offers(r.Context(), "")
	if err != nil || denied != nil && len(rows) == 0 {
		s.fail(w, r, "plans", pick(err, denied))
		return
	}
	content := s.page("All plans", "plans", denied)
	content.Body = map[string]any{"Plans": offerTable{Rows: rows, Types: true}}
	render(w, r, http.StatusOK, "plans", content)
}
