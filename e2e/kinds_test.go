package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// A rule is a row of the table of what may be written into objects of a kind: what
// passes, and what fails. Both are the members of a spec, in YAML, with the names of
// the world as NAME(base), and its namespace as NAMESPACE.
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

// A ruledKind is a kind with rules.
type ruledKind struct {
	kind       string
	namespaced bool
	// base are members that every spec needs.
	base string
}

// local writes what is said of a cluster-scoped kind as it is said of the
// namespaced one.
var local = strings.NewReplacer(
	"clusterServiceClassRef", "serviceClassRef", "clusterServiceBrokerName", "serviceBrokerName",
	"namespace: NAMESPACE, ", "", "spec.clusterServiceClass.name", "spec.serviceClass.name",
)

// bothScopes are rules as those of the namespaced twin of their kind.
func bothScopes(rules map[string]rule) map[string]rule {
	translated := map[string]rule{}
	for name, r := range rules {
		r.from, r.passes, r.fails, r.field = local.Replace(r.from), local.Replace(r.passes), local.Replace(r.fails), local.Replace(r.field)
		translated[name] = r
	}
	return translated
}

// holdsRules plays the rules of a kind in dry runs: what passes is admitted, what
// fails is refused by its field. The golden file has every refusal.
func (w *world) holdsRules(of ruledKind, groups ...map[string]rule) {
	w.Helper()
	rules := map[string]rule{}
	for _, group := range groups {
		maps.Copy(rules, group)
	}
	refusals := &goldenTexts{texts: map[string]string{}}
	w.Run(of.kind, func(t *testing.T) {
		for name, r := range rules {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := w.in(t)
				if r.told != "" || r.passes != "" {
					w.passes(of, name, r)
				}
				if r.fails != "" {
					refusals.add(name, w.fails(of, name, r))
				}
			})
		}
	})
	w.goldenCatalog("rules/"+strings.ToLower(of.kind), refusals.texts)
}

func (w *world) passes(of ruledKind, name string, r rule) {
	w.Helper()
	var got *unstructured.Unstructured
	var heard string
	// No write waits for a warning, so a busy webhook may leave one out.
	w.eventually(func() (bool, error) {
		w.warnings.take()
		var err error
		got, err = w.try(of, name, r, r.passes)
		require.NoError(w, err, r.reason)
		heard = strings.Join(w.warnings.take(), "\n")
		return strings.Contains(heard, r.told), nil
	})
	if r.told == "" {
		assert.Empty(w, heard, r.reason)
	}
	if r.stored == "" {
		return
	}
	var want any
	require.NoError(w, json.Unmarshal([]byte(r.stored), &want))
	assert.JSONEq(w, r.stored, w.json(narrowed(got.Object["spec"], want)), r.reason)
}

func (w *world) fails(of ruledKind, name string, r rule) string {
	w.Helper()
	_, err := w.try(of, name, r, r.fails)
	w.refusedAt(err, r.field, r.reason)
	shown := r.fails
	if r.from != "" {
		shown = r.from + " → " + shown
	}
	if len(shown) > 200 {
		shown = shown[:200] + "…"
	}
	return shown + "\n" + w.normal(said(err))
}

// try writes an object in a dry run, and returns it as it would be stored.
func (w *world) try(of ruledKind, name string, r rule, spec string) (*unstructured.Unstructured, error) {
	w.Helper()
	object := w.unwritten(of, orElse(r.name, w.name(strings.ToLower(name))), w.specOf(of, r, spec))
	if r.from == "" {
		return object, w.client.Create(w.Context(), object, client.DryRunAll)
	}
	stored := object.DeepCopy()
	stored.Object = w.unwritten(of, object.GetName(), w.specOf(of, r, r.from)).Object
	if err := w.client.Create(w.Context(), stored); err != nil && !apierrors.IsAlreadyExists(err) {
		return nil, fmt.Errorf("cannot store what is to be changed: %w", err)
	}
	w.warnings.take()
	return object, w.client.Patch(w.Context(), object, rawMerge(w.patchText("spec: {"+spec+"}")), client.DryRunAll)
}

func (w *world) specOf(of ruledKind, r rule, members string) string {
	if of.base != "" && !r.bare {
		members = of.base + ", " + members
	}
	return "{" + members + "}"
}

// spelled is text with the names of the world.
func (w *world) spelled(text string) string {
	_, spec, _ := strings.Cut(w.manifest("", text), "spec: ")
	return strings.ReplaceAll(spec, "NAMESPACE", w.namespace)
}

// unwritten is an object that is not stored.
func (w *world) unwritten(of ruledKind, name, spec string) *unstructured.Unstructured {
	w.Helper()
	content := map[string]any{}
	require.NoError(w, yaml.Unmarshal([]byte("spec: "+w.spelled(spec)), &content))
	written := &unstructured.Unstructured{Object: content}
	written.SetGroupVersionKind(api.GroupVersion.WithKind(of.kind))
	written.SetName(name)
	if of.namespaced {
		written.SetNamespace(w.namespace)
	}
	return written
}

// refusedAt asserts that err is a refusal, with HTTP 422 or 403, and by the field.
func (w *world) refusedAt(err error, field, reason string) {
	w.Helper()
	require.Error(w, err, reason)
	require.True(w, apierrors.IsInvalid(err) || apierrors.IsForbidden(err), "%s: %v", reason, err)
	var status apierrors.APIStatus
	require.ErrorAs(w, err, &status, reason)
	require.NotNil(w, status.Status().Details, "%s: %v", reason, err)
	var fields []string
	for _, cause := range status.Status().Details.Causes {
		fields = append(fields, cause.Field)
	}
	assert.Contains(w, fields, field, "%s: %v", reason, err)
}

// said is what a refusal says.
func said(err error) string {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return status.Status().Message
	}
	return err.Error()
}

func rawPatch(kind types.PatchType, patch string) client.Patch {
	return client.RawPatch(kind, []byte(patch))
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

// goldenCatalog holds texts against a golden file, in the order of their names.
func (w *world) goldenCatalog(file string, texts map[string]string) {
	w.Helper()
	if w.Failed() {
		return
	}
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		fmt.Fprintf(&all, "# %s\n%s\n\n", name, strings.TrimSpace(texts[name]))
	}
	w.golden(file, all.String())
}

func rawMerge(patch string) client.Patch { return rawPatch(types.MergePatchType, patch) }
