package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/resolve"
)

const typesCheck = "types"

// types looks which types give no plan, and where more plans claim to be the default
// than are.
func (s *installation) types(ctx context.Context) []finding {
	var entries *resolve.Catalog
	limited, err := s.widest(func(scope cli.Scope) (err error) {
		entries, err = s.entries(ctx, scope)
		return err
	})
	if err != nil {
		return []finding{unread(typesCheck, "classes, plans and types", err)}
	}
	findings := append(judgeTypes(catalog.UnresolvedTypes(entries)), judgeClaims(entries)...)
	if len(findings) == 0 {
		return partly(limited, okf(typesCheck, "every type gives a plan%s", s.only(limited)))
	}
	return partly(limited, findings...)
}

// entries are the catalog of a scope as package resolve takes it: of ten thousand
// plans no more is held than a choice needs.
func (s *installation) entries(ctx context.Context, scope cli.Scope) (*resolve.Catalog, error) {
	entries, query := &resolve.Catalog{}, catalog.Query{Scope: scope}
	err := catalog.Types(ctx, s.client, query, func(t catalog.Type) error {
		entries.Records = append(entries.Records, t.Record())
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = catalog.Classes(ctx, s.client, query, func(c catalog.Class) error {
		entries.Classes = append(entries.Classes, c.ClassEntry())
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = catalog.Plans(ctx, s.client, query, func(p catalog.Plan) error {
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
			titles = append(titles, candidate.Title)
		}
		message := titled(lack.Type) + " " + stateOf(lack.Why)
		if len(titles) > 0 {
			message += ": " + some(titles)
		}
		findings = append(findings, warningf(typesCheck, "choose one: "+command("CLASS/PLAN", lack.Type.Namespace), "%s", message))
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
	// recorded is the recorded default, annotated the others that are annotated.
	recorded  string
	annotated []string
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
		findings = append(findings, warningf(typesCheck, "keep it: "+command(c.recorded, at.Namespace),
			"%s has %s as its default, but annotated as such are also: %s", titled(at), c.recorded, some(c.annotated)))
	}
	return findings
}

// titled is a type in a sentence.
func titled(at resolve.Ref) string {
	if at.Namespace != "" {
		return fmt.Sprintf("type %s in namespace %q", at.Name, at.Namespace)
	}
	return "type " + at.Name
}

// command makes a plan its type's default.
func command(plan, namespace string) string {
	if namespace == "" {
		return "svcat set plan " + plan + " --default --cluster"
	}
	return "svcat set plan " + plan + " --default --scope namespace -n " + namespace
}

func byScope(a, b resolve.Ref) int {
	return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
}
