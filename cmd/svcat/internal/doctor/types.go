package doctor

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/termtext"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/suggest"
)

const typesCheck = "types"

// types looks which types give no plan, and where more plans claim to be the default
// than are.
func (v inventory) types(ctx context.Context) []finding {
	var entries *resolve.Catalog
	return v.check(ctx, typesCheck, "classes, plans and types", func(ctx context.Context, scope cli.Scope) (err error) {
		entries, err = v.entries(ctx, scope)
		return err
	}, func(where string) []finding {
		findings := append(judgeTypes(catalog.UnresolvedTypes(entries)), judgeClaims(entries)...)
		if len(findings) == 0 {
			return []finding{okf(typesCheck, "every type gives a plan%s", where)}
		}
		return findings
	})
}

// entries are the catalog of a scope as package resolve takes it: of ten thousand
// plans no more is held than a choice needs.
func (v inventory) entries(ctx context.Context, scope cli.Scope) (*resolve.Catalog, error) {
	entries, query := &resolve.Catalog{}, catalog.Query{Scope: scope}
	err := catalog.Types(ctx, v.reader, query, func(t catalog.Type) error {
		entries.Records = append(entries.Records, t.Record())
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = catalog.Classes(ctx, v.reader, query, func(c catalog.Class) error {
		entries.Classes = append(entries.Classes, c.ClassEntry())
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = catalog.Plans(ctx, v.reader, query, func(p catalog.Plan) error {
		entries.Plans = append(entries.Plans, p.PlanEntry())
		return nil
	})
	return entries, err
}

// judgeTypes is a warning for each type that gives no plan: an operator has to choose.
func judgeTypes(lacks []catalog.Unresolved) []finding {
	var findings []finding
	for _, lack := range lacks {
		var titles []string
		for _, candidate := range lack.Why.Candidates {
			titles = append(titles, termtext.Line(candidate.Title))
		}
		message := titled(lack.Type) + " " + stateOf(lack.Why)
		if len(titles) > 0 {
			message += ": " + some(titles)
		}
		findings = append(findings, warningf(typesCheck, "choose one: "+suggest.Choose(lack.Type).Svcat, "%s", message))
	}
	return findings
}

// stateOf says what is wrong with a type that gives no plan.
func stateOf(why *resolve.Error) string {
	switch {
	case why.Reason != resolve.Ambiguous:
		return "has neither a default plan nor a suggested one"
	case catalog.IsSuggestion(why.Rule):
		return "has no default plan, and several are suggested"
	}
	return "is ambiguous: several plans are annotated as its default, and none is recorded"
}

// A claim is what the plans of one type and scope say of themselves.
type claim struct {
	// recorded is the recorded default, annotated the others that are annotated; keep is the
	// command that makes the recorded one the default again.
	recorded  string
	annotated []string
	keep      string
}

// judgeClaims is a warning for each type of which other plans are annotated than the
// recorded default: they were annotated before admission kept them from it. Several
// that are annotated where none is recorded make the type one that gives no plan.
func judgeClaims(entries *resolve.Catalog) []finding {
	claims := claimsOf(entries)
	var findings []finding
	for _, at := range slices.SortedFunc(maps.Keys(claims), byScope) {
		c := claims[at]
		if len(c.annotated) == 0 || c.recorded == "" {
			continue
		}
		slices.Sort(c.annotated)
		findings = append(findings, warningf(typesCheck, "keep it: "+c.keep,
			"%s has %s as its default, but annotated as such are also: %s", titled(at), c.recorded, some(c.annotated)))
	}
	return findings
}

// titled is a type in a sentence.
func titled(at resolve.Ref) string { return "type " + at.Name + placeOf(at.Namespace, at.Name).within }

func byScope(a, b resolve.Ref) int {
	return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
}
