package webhook

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Deleting always works: with a deletion timestamp, an update that leaves spec as it is passes, whatever the binding says.
func TestBindingDeletion(t *testing.T) {
	t.Parallel()
	const ends = `{"metadata":{"deletionTimestamp":"2026-05-01T12:00:00Z","finalizers":["kubernetes-incubator/service-catalog","example.org/other"]}}`
	for name, spec := range map[string]string{
		"Settled": rich, "Wrong": `{"instanceRef":{"name":"mydb","namespace":"prod"},"serviceName":"x","provisionParameters":{"a":1},"secretTransforms":[{"addKeysFrom":{"secretRef":{"name":"root","namespace":"infra"}}}]}`,
		"NoInstance": `{"serviceType":"mysql"}`, "Nothing": `{}`, "ForgedRefs": `{"instanceRef":{"name":"mydb"},` + bindRefs + `}`,
		"TwoNames": `{"instanceRef":{"name":"mydb"},"clusterServiceClassName":"a","clusterServiceClassExternalName":"b"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, w := range []*env{stocked(t, db, richly("")...).env(), stocked(t, "other:").env()} {
				w.adjustForDeletion()
				old := changed(t, bindingOf(spec), ends)
				for _, patch := range []string{`{"metadata":{"finalizers":["example.org/other"]}}`, `{"metadata":{"finalizers":null}}`, `{"metadata":{"labels":{"a":"b"}}}`} {
					o := w.write(changed(t, old, patch), old)
					assert.JSONEq(t, string(changed(t, old, patch)), string(o.admitted()), "nothing is added or taken away")
					assert.Empty(t, o.warnings())
				}
				assert.Empty(t, w.live.taken())
				assert.Empty(t, w.reviews.taken())
			}
		})
	}
}

// adjustForDeletion makes every read fail: to delete, nothing need be known.
func (w *env) adjustForDeletion() {
	down := func(string) error { return assert.AnError }
	w.cached.fail(down)
	w.live.fail(down)
}

// A replacement by a manifest has no finalizer: it is put back. Who takes it off on purpose leaves spec as it is.
func TestBindingFinalizer(t *testing.T) {
	t.Parallel()
	w := stocked(t, db, hasInstance("mydb", "db-small")).env()
	stored := w.bindTo(toMydb).admitted()
	assert.Equal(t, `["kubernetes-incubator/service-catalog"]`, at(t, w.write(bindingOf(toMydb), stored).admitted(), "/metadata/finalizers"))
	taken := w.write(changed(t, stored, `{"metadata":{"finalizers":null}}`), stored).admitted()
	assert.Equal(t, "absent", at(t, taken, "/metadata/finalizers"))
}
