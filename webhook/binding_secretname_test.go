package webhook

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// The Secret that a binding writes to is spoken for.
func TestBindingSecretName(t *testing.T) {
	t.Parallel()
	checkBindings(t, bindingSecretNameCases())
}

func bindingSecretNameCases() map[string]bindingCase {
	beside := func(others ...func(*stock)) func(at string) []func(*stock) {
		return func(at string) []func(*stock) {
			return append([]func(*stock){hasInstance("mydb", at+"db-small")}, others...)
		}
	}
	going := func(b *v1beta1.ServiceBinding) {
		b.DeletionTimestamp, b.Finalizers = &metav1.Time{Time: founded}, []string{v1beta1.FinalizerServiceCatalog}
	}
	named := func(secret string) string {
		return fmt.Sprintf(`{"instanceRef":{"name":"mydb"},"secretName":%q}`, secret)
	}
	elsewhere := func(s *stock) {
		s.objects = append(s.objects, &v1beta1.ServiceBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "foreign", UID: "uid-foreign"}, Spec: v1beta1.ServiceBindingSpec{SecretName: "creds"},
		})
	}
	return map[string]bindingCase{
		"Given":         {reason: "A name may be given.", spec: named("mine"), plan: "db-small"},
		"OthersBeside":  {reason: "Others write to others, and elsewhere.", edits: beside(hasBinding("other"), hasBinding("third", toSecret("x")), elsewhere), spec: toMydb, plan: "db-small"},
		"OthersSecret":  {reason: "Two bindings in one Secret would be neither.", edits: beside(hasBinding("other", toSecret("mine"))), spec: named("mine"), denied: "SecretReserved"},
		"OthersByName":  {reason: "Also where the other only has its own name.", edits: beside(hasBinding("other")), spec: named("other"), denied: "SecretReserved"},
		"DefaultsTaken": {reason: "Or this one only has its own.", edits: beside(hasBinding("other", toSecret("creds"))), spec: toMydb, denied: "SecretReserved"},
		"Freed":         {reason: "One that is being deleted gives its Secret up.", edits: beside(hasBinding("other", toSecret("mine"), going)), spec: named("mine"), plan: "db-small"},
		"JustFreed": {
			reason: "The cache is not believed.", edits: beside(hasBinding("other", toSecret("x"))), behind: beside(hasBinding("other", toSecret("mine"))), spec: named("mine"), plan: "db-small",
		},
		"JustFreedAskedTooOften": {
			reason: "Over the limit it is.", edits: beside(), behind: beside(hasBinding("other", toSecret("mine"))), adjust: exhaust, spec: named("mine"), denied: "SecretReserved",
		},
		"ItsFormerSelf": {
			reason: "The cache may still show the binding of that name which is gone.", edits: beside(), behind: beside(hasBinding("creds")), adjust: exhaust, spec: toMydb, plan: "db-small",
		},
		"ItsParameters": {
			reason: "A Secret that the binding reads would be overwritten.", denied: "SecretReserved",
			spec: `{"instanceRef":{"name":"mydb"},"parametersFrom":[{"secretKeyRef":{"name":"a","key":"k"}},{"secretKeyRef":{"name":"creds","key":"k"}}]}`,
		},
		"ItsTransforms": {
			reason: "The same.", denied: "SecretReserved", spec: `{"instanceRef":{"name":"mydb"},"secretName":"mine","secretTransforms":[{"removeKey":{"key":"a"}},` + addKeys("mine") + `]}`,
		},
		"ItsTransformsByNamespace": {
			reason: "Also where its namespace is written.", denied: "SecretReserved", spec: `{"instanceRef":{"name":"mydb"},"secretTransforms":[` + addKeys("dev/creds") + `]}`,
		},
		"SameNameElsewhere": {
			reason: "One of that name elsewhere is another.", spec: `{"instanceRef":{"name":"mydb"},"secretTransforms":[` + addKeys("prod/creds") + `]}`,
			granted: []string{"alice get secrets prod/creds"}, asked: []string{"alice get secrets prod/creds"}, plan: "db-small",
		},
		"EditedToReserved": {
			reason: "An edit is held against the others, too.", edits: func(string) []func(*stock) { return []func(*stock){hasBinding("other")} }, spec: toMydb,
			write: `{"spec":{"secretName":"other"}}`, denied: "SecretReserved",
		},
		"ReservedBefore": {
			reason: "What was always wrong is not checked at another edit.", edits: func(string) []func(*stock) { return []func(*stock){} }, spec: named("mine"),
			later: func(string) []func(*stock) { return []func(*stock){hasBinding("other", toSecret("mine"))} }, write: `{"spec":{"parameters":{"a":1}}}`,
			want:     `{"spec":{"parameters":{"a":1},"userInfo":{"username":"bob"}}}`,
			warnings: []string{`no plan is decided yet: instance "mydb" does not exist yet; the binding waits`},
		},
	}
}

// With generateName there is no name until the object is stored: the Secret is named after it all the same, and the
// binding is touched like any other.
func TestBindingGenerateName(t *testing.T) {
	t.Parallel()
	named := `{"metadata":{"name":"creds-x7f2"}}`
	generate := func(w *env) []byte {
		w.nameless = true
		made := w.ask(MutateBindings, w.review(bindingWith(`{"generateName":"creds-","namespace":"dev"}`, toMydb), nil))
		require.True(t, made.Allowed)
		w.nameless = false
		stored := changed(t, made.patched, named)
		judged := w.ask(ValidateBindings, w.review(stored, nil))
		require.True(t, judged.Allowed)
		return stored
	}
	w := stocked(t, db).env()
	undecided := generate(w)
	w.user.Username = "keeper"
	assert.Empty(t, w.write(undecided, undecided).mutate.Patch, "a touch changes nothing")
	w.restock(stocked(t, db, hasInstance("mydb", "db-small", ending)))
	assert.Empty(t, w.write(undecided, undecided).mutate.Patch, "and is not refused")
	w.restock(stocked(t, db, hasInstance("mydb", "db-small")))
	decided := w.write(undecided, undecided).admitted()
	assert.Equal(t, `"alice"`, at(t, decided, "/spec/userInfo/username"), "it stays the user's")
	assert.Equal(t, `"creds-x7f2"`, at(t, decided, "/spec/secretName"))

	settled := generate(w)
	assert.JSONEq(t, `{"name":"db-small"}`, at(t, settled, "/spec/clusterServicePlanRef"))
	assert.Empty(t, w.write(settled, settled).mutate.Patch)
	replaced := w.write(bindingWith(`{"name":"creds-x7f2","namespace":"dev"}`, toMydb), settled).admitted()
	assert.Equal(t, at(t, settled, "/spec"), at(t, replaced, "/spec"), "a replacement is restored")

	w.restock(stocked(t, db, hasInstance("mydb", "db-small"), hasBinding("other", toSecret("creds-x7f2"))))
	w.nameless = true
	made := w.ask(MutateBindings, w.review(bindingWith(`{"generateName":"creds-","namespace":"dev"}`, toMydb), nil))
	w.nameless = false
	judged := w.ask(ValidateBindings, w.review(changed(t, made.patched, named), nil))
	assert.False(t, judged.Allowed, "the name that was generated is another binding's Secret")
}
