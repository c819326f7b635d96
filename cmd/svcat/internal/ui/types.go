package ui

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/explain"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/suggest"
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

// The catalogPages are those about what is on offer.
type catalogPages struct {
	offers   market
	requests requests
	asker    *explain.Asker
	// seal marks what may be created; nil if nothing may.
	seal *seal
	// flags are those with which commands reach the same cluster.
	flags string
}

// types is the first page: the types on offer.
func (p catalogPages) types(r *http.Request) (*answer, error) {
	at := p.offers.place
	told, denied, err := p.asker.Types(r.Context(), at.namespace)
	if err != nil || denied != nil && len(told) == 0 {
		return nil, cmp.Or(err, denied)
	}
	rows := make([]typeRow, len(told))
	for i := range told {
		rows[i] = typeRowOf(&told[i], at)
	}
	var notes []string
	if len(told) > 0 {
		notes = told[0].Notes
	}
	return &answer{title: "Types on offer", missing: denied, body: map[string]any{"Types": rows, "Notes": notes}}, nil
}

// typePath is the path of a type's page.
func typePath(name string) string { return "/types/" + url.PathEscape(name) }

func typeRowOf(told *explain.Explanation, at place) typeRow {
	name := told.Subject.Name
	_, gives, _ := strings.Cut(told.Headline(), " → ")
	row := typeRow{Name: name, Link: at.Link(typePath(name)), Gives: gives}
	now := told.Now
	// Of a plan that only wants parameters the headline says so.
	if now.Refusal != nil && (now.Plan == nil || now.Policy != nil) {
		row.Refusal = now.Refusal.Message
	}
	if now.Plan != nil {
		row.Plan = at.Link(pathOf(at.refOf(now.Plan)), "type", name)
	}
	seen := map[string]bool{}
	take := func(list []explain.Candidate) {
		for i := range list {
			one := candidateOf(&list[i], at)
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

func candidateOf(c *explain.Candidate, at place) candidate {
	return candidate{Title: c.Title, Scope: c.Scope, Fate: c.Fate, Link: at.Link(pathOf(at.refOf(&c.Plan))), Chosen: c.Fate == "chosen"}
}

// refOf is a plan that was explained.
func (p place) refOf(plan *explain.Plan) resolve.Ref {
	ref := resolve.Ref{Name: plan.Name}
	if plan.Scope != ofCluster {
		ref.Namespace = p.namespace
	}
	return ref
}

// serviceType is the page of a type: its plans, and how one of them is chosen.
func (p catalogPages) serviceType(r *http.Request) (*answer, error) {
	name := r.PathValue("type")
	told, err := p.asker.Type(r.Context(), p.offers.namespace, name)
	if err != nil {
		return nil, err
	}
	rows, denied, err := p.offers.list(r.Context(), name)
	if err != nil {
		return nil, err
	}
	row := typeRowOf(&told, p.offers.place)
	fates := map[string]string{}
	for _, one := range row.Candidates {
		fates[one.Link] = one.Fate
	}
	for i := range rows {
		rows[i].Fate = fates[rows[i].Link]
	}
	return &answer{title: name, missing: denied, body: map[string]any{
		"Type": row, "Plans": offerTable{Rows: rows}, "Headline": told.Headline(), "Tree": told.Tree(), "Notes": told.Notes,
		"Command": "svcat explain " + suggest.Word(name) + p.offers.flag() + p.flags,
	}}, nil
}

// plans is the page of all plans, those without a type too, or of those that fit the filters
// in its address.
func (p catalogPages) plans(r *http.Request) (*answer, error) {
	rows, denied, err := p.offers.list(r.Context(), "")
	if err != nil || denied != nil && len(rows) == 0 {
		return nil, cmp.Or(err, denied)
	}
	filters, fit, err := filtered(rows, r.URL.Query())
	if err != nil {
		return nil, err
	}
	return &answer{title: "All plans", missing: denied, body: map[string]any{
		"Plans": offerTable{Rows: fit, Types: true}, "Filters": filters, "All": len(rows),
	}}, nil
}
