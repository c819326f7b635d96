package webhook

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	// toMydb is the spec of the simplest binding.
	toMydb = `{"instanceRef":{"name":"mydb"}}`
	// bindRefs are references of a backup to plan small of class db.
	bindRefs = `"clusterServiceClassRef":{"name":"db"},"clusterServicePlanRef":{"name":"db-small"}`
	// boundStatus is the status of a binding that a broker has.
	boundStatus = `{"status":{"externalProperties":{},"unbindStatus":"Required"}}`
)

func bindingOf(spec string) []byte { return bindingWith(`{"name":"creds","namespace":"dev"}`, spec) }

func bindingWith(meta, spec string) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":"ServiceBinding","metadata":%s,"spec":%s}`, meta, spec)
}

// bindTo writes a new binding with this spec.
func (w *env) bindTo(spec string) *outcome {
	w.tb.Helper()
	return w.write(bindingOf(spec), nil)
}

// A bindingCase is a write of a binding. It is written for the cluster's scope.
type bindingCase struct {
	reason string
	// catalog is the text of what there is, db if empty, and edits changes it; at is what stands before the names of its
	// scope. Without edits, there is the instance mydb on plan small.
	catalog string
	edits   func(at string) []func(*stock)
	// behind is what the cache shows, if it is behind.
	behind func(at string) []func(*stock)
	adjust func(*env)
	// granted are the rights of users.
	granted []string
	// spec is that of a new binding; meta is its metadata, if it is not the usual one. Where write or put is set, it is
	// stored first, by alice.
	spec, meta string
	// stored is a merge patch over what was stored, and later is what there is at the time of the write.
	stored string
	later  func(at string) []func(*stock)
	// write is a merge patch over what is stored, put a whole spec instead; bob writes it.
	write, put string

	// denied is the label of the refusal, "" for none.
	denied string
	// plan is the plan that is decided, "" for none.
	plan string
	// want is the merge patch from the spec that was written to the stored one, less what every binding gets; after an
	// update it is that from the whole of what was stored before.
	want     string
	warnings []string
	// asked are the rights that were asked for.
	asked []string
	// scope is the one scope that it is about, both if empty.
	scope string
}

// inScope is the case in a namespace.
func (tc bindingCase) inScope(namespaced bool) (bindingCase, string) {
	if tc.catalog == "" {
		tc.catalog = db
	}
	if tc.edits == nil {
		tc.edits = func(at string) []func(*stock) { return []func(*stock){hasInstance("mydb", at+"db-small")} }
	}
	if !namespaced {
		return tc, ""
	}
	tc.catalog = inNamespace(tc.catalog)
	for _, text := range []*string{&tc.spec, &tc.stored, &tc.write, &tc.put, &tc.want} {
		*text = strings.ReplaceAll(*text, "clusterService", "service")
	}
	warnings := make([]string, len(tc.warnings))
	for i, warning := range tc.warnings {
		warnings[i] = strings.ReplaceAll(warning, "clusterService", "service")
	}
	if tc.warnings != nil {
		tc.warnings = warnings
	}
	return tc, "dev/"
}

// run writes, and returns what was stored before and what became of it.
func (tc bindingCase) run(t *testing.T, namespaced bool) (*env, []byte, *outcome) {
	t.Helper()
	tc, scope := tc.inScope(namespaced)
	live := stocked(t, tc.catalog, tc.edits(scope)...)
	cached := live
	if tc.behind != nil {
		cached = stocked(t, tc.catalog, tc.behind(scope)...)
	}
	w := envOf(t, cached, live)
	w.reviews.granted = tc.granted
	if tc.adjust != nil {
		tc.adjust(w)
	}
	meta := `{"name":"creds","namespace":"dev"}`
	if tc.meta != "" {
		meta = tc.meta
	}
	written := bindingWith(meta, tc.spec)
	if tc.write == "" && tc.put == "" {
		return w, written, w.write(written, nil)
	}
	stored := changed(t, w.write(written, nil).admitted(), tc.stored)
	w.reviews.taken()
	if tc.later != nil {
		w.restock(stocked(t, tc.catalog, tc.later(scope)...))
	}
	w.user.Username = "bob"
	written = changed(t, stored, tc.write)
	if tc.put != "" {
		written = changed(t, bindingWith(meta, tc.put), tc.stored)
	}
	return w, stored, w.write(written, stored)
}

// check holds what became of the case against what is wanted.
func (tc bindingCase) check(t *testing.T, namespaced bool) {
	t.Helper()
	w, before, o := tc.run(t, namespaced)
	tc, _ = tc.inScope(namespaced)
	assert.Equal(t, tc.asked, w.reviews.taken(), tc.reason)
	if tc.denied != "" {
		require.NotNil(t, o.denied(), tc.reason)
		assert.Equal(t, tc.denied, o.label(), o.denied().Message)
		return
	}
	stored := o.admitted()
	if tc.write != "" || tc.put != "" {
		assert.JSONEq(t, cmp.Or(tc.want, "{}"), change(t, before, stored), tc.reason)
	} else {
		plan, rest := added(t, before, stored, namespaced)
		assert.Equal(t, tc.plan, plan, tc.reason)
		assert.JSONEq(t, cmp.Or(tc.want, "{}"), rest, tc.reason)
	}
	assert.Equal(t, tc.warnings, append([]string(nil), o.warnings()...), tc.reason)
	if plan, _ := added(t, stored, stored, namespaced); plan != "" {
		assert.Empty(t, w.write(stored, stored).mutate.Patch, "it is settled")
	}
}

// label is the label of the refusal.
func (o *outcome) label() string {
	if !o.mutate.Allowed {
		return o.mutate.outcome
	}
	return o.validate.outcome
}

// added is the plan that a stored binding is decided on, and what admission added to its spec beyond that and what every
// binding gets.
func added(t *testing.T, written, stored []byte, namespaced bool) (plan, rest string) {
	t.Helper()
	var object struct {
		Spec map[string]any `json:"spec"`
	}
	require.NoError(t, json.Unmarshal([]byte(change(t, written, stored)), &object))
	for _, field := range append(refFields[:], "userInfo", "externalID") {
		delete(object.Spec, field)
	}
	if object.Spec["secretName"] == "creds" {
		delete(object.Spec, "secretName")
	}
	field := "clusterServicePlanRef"
	if namespaced {
		field = "servicePlanRef"
	}
	if plan = strings.Trim(at(t, stored, "/spec/"+field+"/name"), `"`); plan == "absent" {
		plan = ""
	}
	if object.Spec == nil {
		return plan, "{}"
	}
	return plan, marshal(t, object.Spec)
}

// checkBindings runs cases, each in the scopes that it is about.
func checkBindings(t *testing.T, cases map[string]bindingCase) {
	t.Helper()
	for name, tc := range cases {
		for title, namespaced := range tc.scopes(name) {
			t.Run(title, func(t *testing.T) {
				t.Parallel()
				tc.check(t, namespaced)
			})
		}
	}
}

// scopes says of each title of the case whether it is that in a namespace.
func (tc bindingCase) scopes(name string) map[string]bool {
	switch tc.scope {
	case onlyCluster:
		return map[string]bool{name: false}
	case onlyNamespace:
		return map[string]bool{name + "InNamespace": true}
	}
	return map[string]bool{name: false, name + "InNamespace": true}
}
