package e2e_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// fightRounds is how often each of two controllers writes its own value.
const fightRounds = 200

// TestControllersFightOverAnAnnotation that is none of ours, on an instance, a
// binding and a plan: what was decided stays, and admission is not even asked.
func TestControllersFightOverAnAnnotation(t *testing.T) {
	t.Parallel()
	// A stack of its own: elsewhere others decide meanwhile.
	w := newWorldOn(t, startStack(t, nil))
	w.create(w.bindable()...)
	instance := w.createInstance("mydb", ofType(w.name("db")))
	binding := w.binding("creds")
	w.create(binding)
	require.True(t, binding.Spec.Decided())
	offered := plan{name: w.name("p")}.object()
	// The keeper records the default, and that is the last decision.
	w.eventually(func() (bool, error) {
		recorded, err := w.recordedDefault("", w.name("db"))
		return recorded == w.name("p"), err
	})
	before := w.decisionsNow()
	require.Positive(t, before)

	fighters := []client.Object{instance, binding, offered}
	settled := make([]client.Object, len(fighters))
	for i, object := range fighters {
		w.get(object)
		settled[i] = bared(object)
	}
	var fights sync.WaitGroup
	for _, object := range fighters {
		fights.Go(func() { w.fight(object) })
	}
	fights.Wait()
	for i, object := range fighters {
		w.get(object)
		assert.Empty(t, cmp.Diff(settled[i], bared(object)), "(-before +after) %T", object)
		assert.Contains(t, []string{"this", "that"}, object.GetAnnotations()[disputed][:4], "the fight took place")
	}
	assert.InDelta(t, before, w.decisionsNow(), 0, "a fight over something else costs no decision")

	w.patch(offered, `{"spec":{"description":"another"}}`)
	assert.Greater(t, w.decisionsNow(), before, "they would have been counted")
}

// disputed is the annotation that both controllers want otherwise.
const disputed = "example.org/disputed"

// fight has two controllers write their values in turns.
func (w *world) fight(object client.Object) {
	w.Helper()
	var fighters sync.WaitGroup
	for _, side := range []string{"this", "that"} {
		fighters.Go(func() {
			target, ok := object.DeepCopyObject().(client.Object)
			if !assert.True(w, ok) {
				return
			}
			for i := range fightRounds {
				patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:"%s-%d"}}}`, disputed, side, i)
				if !assert.NoError(w, w.client.Patch(w.Context(), target, rawMerge(patch))) {
					return
				}
			}
		})
	}
	fighters.Wait()
}

// bared is an object without what any write changes.
func bared(object client.Object) client.Object {
	bare, _ := object.DeepCopyObject().(client.Object)
	bare.SetResourceVersion("")
	bare.SetManagedFields(nil)
	annotations := bare.GetAnnotations()
	delete(annotations, disputed)
	bare.SetAnnotations(annotations)
	switch object := bare.(type) {
	case *api.ServiceInstance:
		// The API server stores the default of status with the first write.
		object.Status = api.ServiceInstanceStatus{}
	case *api.ServiceBinding:
		object.Status = api.ServiceBindingStatus{}
	}
	return bare
}

// decisionsNow is how many decisions the stack's only webhook counted.
func (w *world) decisionsNow() float64 {
	w.Helper()
	return w.metric(0, "defaultplan_decisions_total")
}
