package admission_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/golden"
)

// A rule is a row of the table of what may be written into objects of a kind: what
// passes, and what fails. Both are the members of a spec, in YAML, with the names of
// the test as NAME(base), and its namespace as NAMESPACE.
type rule struct {
	reason string
	// from is the spec of an object that is stored; what passes and fails is then
	// a merge patch of its spec.
	from          string
	passes, fails string
	// field is the one at fault.
	field string
	// told is in the warning to what passes, and stored is what it is stored as: a
	// part of the spec, in JSON.
	told, stored string
	// bare says that the spec has no more members than the row says.
	bare bool
	// name is the object's, where it matters.
	name string
}

// bothScopes are rules as those of the namespaced twin of their kind.
func bothScopes(rules map[string]rule) map[string]rule {
	translated := map[string]rule{}
	for name, r := range rules {
		r.from, r.passes, r.fails, r.field = env.Local.Replace(r.from), env.Local.Replace(r.passes), env.Local.Replace(r.fails), env.Local.Replace(r.field)
		translated[name] = r
	}
	return translated
}

// holdsRules plays the rules of a kind in dry runs: what passes is admitted, what
// fails is refused by its field. The golden file has every refusal.
func holdsRules(e *env.Env, of env.Kind, groups ...map[string]rule) {
	e.Helper()
	rules := map[string]rule{}
	for _, group := range groups {
		maps.Copy(rules, group)
	}
	refusals := &goldenTexts{texts: map[string]string{}}
	e.Run(of.Name, func(t *testing.T) {
		for name, r := range rules {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				e := e.In(t)
				if r.told != "" || r.passes != "" {
					passes(e, of, name, r)
				}
				if r.fails != "" {
					refusals.add(name, fails(e, of, name, r))
				}
			})
		}
	})
	golden.MatchAll(e, "rules/"+strings.ToLower(of.Name), refusals.texts)
}

func passes(e *env.Env, of env.Kind, name string, r rule) {
	e.Helper()
	var got *unstructured.Unstructured
	var heard string
	// No write waits for a warning, so a busy webhook may leave one out.
	e.Eventually(func() (bool, error) {
		e.Warnings.Take()
		var err error
		got, err = tryRule(e, of, name, r, r.passes)
		require.NoError(e, err, r.reason)
		heard = strings.Join(e.Warnings.Take(), "\n")
		return strings.Contains(heard, r.told), nil
	})
	if r.told == "" {
		assert.Empty(e, heard, r.reason)
	}
	if r.stored == "" {
		return
	}
	var want any
	require.NoError(e, json.Unmarshal([]byte(r.stored), &want))
	assert.JSONEq(e, r.stored, e.JSON(env.Narrowed(got.Object["spec"], want)), r.reason)
}

func fails(e *env.Env, of env.Kind, name string, r rule) string {
	e.Helper()
	_, err := tryRule(e, of, name, r, r.fails)
	e.RefusedAt(err, r.field, r.reason)
	shown := r.fails
	if r.from != "" {
		shown = r.from + " → " + shown
	}
	if len(shown) > 200 {
		shown = shown[:200] + "…"
	}
	return shown + "\n" + e.Normal(env.Said(err))
}

// tryRule writes an object in a dry run, and returns it as it would be stored.
func tryRule(e *env.Env, of env.Kind, name string, r rule, spec string) (*unstructured.Unstructured, error) {
	e.Helper()
	object := e.Unwritten(of, cmp.Or(r.name, e.Name(strings.ToLower(name))), specOf(e, of, r, spec))
	if r.from == "" {
		return object, e.Client().Create(e.Context(), object, client.DryRunAll)
	}
	stored := object.DeepCopy()
	stored.Object = e.Unwritten(of, object.GetName(), specOf(e, of, r, r.from)).Object
	if err := e.Client().Create(e.Context(), stored); err != nil && !apierrors.IsAlreadyExists(err) {
		return nil, fmt.Errorf("cannot store what is to be changed: %w", err)
	}
	e.Warnings.Take()
	return object, e.Client().Patch(e.Context(), object, env.MergePatch(patchText(e, "spec: {"+spec+"}")), client.DryRunAll)
}

func specOf(e *env.Env, of env.Kind, r rule, members string) string {
	if of.Base != "" && !r.bare {
		members = of.Base + ", " + members
	}
	return "{" + members + "}"
}

// goldenTexts are texts by name, that several goroutines write.
type goldenTexts struct {
	mu    sync.Mutex
	texts map[string]string
}

func (c *goldenTexts) add(name, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.texts[name] = text
}
