package resolve_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/resolve"
)

// A draw deals out small values from bytes; an exhausted one deals zeros.
type draw []byte

func (d *draw) upTo(n int) int {
	if len(*d) == 0 {
		return 0
	}
	b := (*d)[0]
	*d = (*d)[1:]
	return int(b) % n
}

func pick[T any](d *draw, from ...T) T { return from[d.upTo(len(from))] }

// Few different values, so that names fit several, types clash and records go stale all the time. Each Ref is there
// once.
func (d *draw) catalog() resolve.Catalog {
	var cat resolve.Catalog
	for i := range d.upTo(6) {
		cat.Classes = append(cat.Classes, resolve.ClassEntry{
			Ref:          resolve.Ref{Namespace: pick(d, "", "dev", "qa"), Name: fmt.Sprintf("c%d", i)},
			ExternalName: pick(d, "cache", "db", ""), ExternalID: pick(d, "id", ""), Type: pick(d, "redis", "", "mysql"),
			Labels: pick(d, nil, map[string]string{"x": "1"}), Gone: pick(d, "", "", "being deleted"),
		})
	}
	for i := range d.upTo(40) {
		cat.Plans = append(cat.Plans, resolve.PlanEntry{
			Ref: resolve.Ref{Namespace: pick(d, "", "dev", "qa"), Name: fmt.Sprintf("p%d", i)},
			UID: pick(d, "", "u", fmt.Sprintf("u%d", i)), Class: fmt.Sprintf("c%d", d.upTo(6)),
			ExternalName: pick(d, "small", "large", ""), ExternalID: pick(d, "id", ""), Type: pick(d, "", "redis", "mysql"),
			Labels: pick(d, nil, map[string]string{"x": "1"}, map[string]string{"x": "2"}), Default: d.upTo(3) == 1, Suggested: d.upTo(3) == 1,
			Weight: int32(d.upTo(2)), Gone: pick(d, "", "", "being deleted"), Denied: pick(d, "", "", "budget"),
		})
	}
	for _, scope := range []string{"", "dev", "qa"} {
		for _, typ := range []string{"redis", "mysql", ""} {
			cat.Records = append(cat.Records, resolve.Record{
				Type: typ, Plan: resolve.Ref{Namespace: scope, Name: pick(d, "", "p0", "p1", "p2", "p3")},
			})
		}
	}
	return cat
}

func (d *draw) request() resolve.Request {
	kinds := []resolve.NameKind{resolve.ByName, resolve.ByExternalName, resolve.ByExternalID, 9}
	return resolve.Request{
		Namespace: pick(d, "dev", "qa", ""), Seed: pick(d, "dev/a", "dev/b"), Namespaced: d.upTo(2) == 1,
		Class: resolve.Named{By: pick(d, kinds...), Value: pick(d, "", "", "cache", "db", "id", "c0", "c1")},
		Plan:  resolve.Named{By: pick(d, kinds...), Value: pick(d, "", "", "", "small", "large", "id", "p0", "p1")},
		Type:  pick(d, "", "redis", "mysql", "mongo"),
		Selector: pick(d, nil, nil, &metav1.LabelSelector{}, &metav1.LabelSelector{MatchLabels: map[string]string{"x": "1"}},
			&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "x", Operator: "NotIn", Values: []string{"1"}}}}),
	}
}

// FuzzPlan holds any request against any catalog: no panic, the same answer for every order, and only answers that
// make sense.
func FuzzPlan(f *testing.F) {
	f.Add([]byte{}, uint64(0))
	f.Add([]byte{0, 0, 0, 0, 0, 0, 1, 0, 2, 1, 0, 0, 0, 1, 1, 0, 2, 1}, uint64(1))
	for i := range 200 {
		data := make([]byte, 400)
		for j := range data {
			data[j] = byte((i*7919 + j*j*31 + i*j*13) >> (j % 3))
		}
		f.Add(data, uint64(i))
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		d := draw(data)
		req, cat := d.request(), d.catalog()
		untouched := shuffled(cat, 0)
		choice, err := resolve.Plan(req, cat)
		again, againErr := resolve.Plan(req, shuffled(cat, seed))
		require.Empty(t, cmp.Diff(untouched, shuffled(cat, 0)), "Inputs are never changed.")
		if err != nil {
			require.Empty(t, cmp.Diff(err, againErr), "The order of the catalog changes no refusal.")
			sensibleError(t, err)
			return
		}
		require.NoError(t, againErr, "The order of the catalog changes no answer.")
		require.Empty(t, cmp.Diff(choice, again, cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "round" }, cmp.Ignore())))
		require.Empty(t, cmp.Diff(choice.Candidates(), again.Candidates()), "Nor what became of the others.")
		sensibleChoice(t, req, choice)
	})
}

func sensibleError(t *testing.T, err error) {
	t.Helper()
	var refused *resolve.Error
	require.ErrorAs(t, err, &refused)
	assert.NotEmpty(t, refused.Field, "There is always a field to change.")
	assert.NotEmpty(t, refused.Detail, "And always something to say.")
	if refused.Reason == resolve.Ambiguous {
		assert.Greater(t, len(refused.Candidates), 1, "It takes two to be ambiguous.")
	}
}

func sensibleChoice(t *testing.T, req resolve.Request, choice resolve.Choice) {
	t.Helper()
	assert.Empty(t, choice.Plan.Gone, "What is gone is never chosen.")
	assert.Empty(t, choice.Class.Gone, "Nor of what is gone.")
	assert.Contains(t, []string{"", req.Namespace}, choice.Plan.Namespace, "Nor from another namespace.")
	assert.Equal(t, resolve.Ref{Namespace: choice.Plan.Namespace, Name: choice.Plan.Class}, choice.Class.Ref, "The class is the plan's.")
	if req.Type != "" && choice.Type != req.Type {
		assert.True(t, choice.Type == "" && req.Class.Value != "", "A type given is the type got.")
	}
	if choice.Rule == resolve.RuleSelector {
		assert.Empty(t, choice.Plan.Denied, "A selector passes over what is denied.")
	}
	chosen := slices.DeleteFunc(choice.Candidates(), func(c resolve.Candidate) bool { return c.Fate != "chosen" })
	require.Len(t, chosen, 1, "One candidate is chosen.")
	assert.Equal(t, choice.Plan.Ref, chosen[0].Plan, "It is the choice.")
}
