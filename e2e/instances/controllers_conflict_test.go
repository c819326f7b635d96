package instances_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

// conflictRounds is how often each of two controllers writes its own value, unless the
// environment variable CONFLICT_ROUNDS says otherwise.
const conflictRounds, conflictRoundsLong = 40, 100

// TestControllersConflictOverAnAnnotation that is none of ours, on an instance, a
// binding and a plan: what was decided stays, and admission is not even asked.
func TestControllersConflictOverAnAnnotation(t *testing.T) {
	t.Parallel()
	// A stack of its own: elsewhere others decide meanwhile.
	e := env.On(t, suite.New(t, stack.Options{Webhooks: 1, Releaser: true}))
	e.Create(e.Bindable()...)
	instance := e.CreateInstance("mydb", env.OfType(e.Name("db")))
	binding := e.Binding("creds", "mydb")
	e.Create(binding)
	require.True(t, binding.Spec.Decided())
	offered := env.Plan{Name: e.Name("p")}.Object()
	// The keeper records the default, and that is the last decision.
	e.Eventually(func() (bool, error) {
		recorded, err := e.RecordedDefault("", e.Name("db"))
		return recorded == e.Name("p"), err
	})
	before := decisionsNow(e)
	require.Positive(t, before)

	writers := []client.Object{instance, binding, offered}
	settled := make([]client.Object, len(writers))
	for i, object := range writers {
		e.Get(object)
		settled[i] = bared(object)
	}
	var conflicts sync.WaitGroup
	for _, object := range writers {
		conflicts.Go(func() { conflict(e, object) })
	}
	conflicts.Wait()
	for i, object := range writers {
		e.Get(object)
		assert.Empty(t, cmp.Diff(settled[i], bared(object)), "(-before +after) %T", object)
		assert.Contains(t, []string{"this", "that"}, object.GetAnnotations()[disputed][:4], "the conflict took place")
	}
	assert.InDelta(t, before, decisionsNow(e), 0, "a conflict over something else costs no decision")

	e.Patch(offered, `{"spec":{"description":"another"}}`)
	assert.Greater(t, decisionsNow(e), before, "they would have been counted")
}

// disputed is the annotation that both controllers want otherwise.
const disputed = "example.org/disputed"

// conflict has two controllers write their values in turns.
func conflict(e *env.Env, object client.Object) {
	e.Helper()
	rounds := suite.Rounds(e.T, "CONFLICT_ROUNDS", conflictRounds, conflictRoundsLong)
	var writers sync.WaitGroup
	for _, side := range []string{"this", "that"} {
		writers.Go(func() {
			target, ok := object.DeepCopyObject().(client.Object)
			if !assert.True(e, ok) {
				return
			}
			for i := range rounds {
				patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:"%s-%d"}}}`, disputed, side, i)
				if !assert.NoError(e, e.Client().Patch(e.Context(), target, env.MergePatch(patch))) {
					return
				}
			}
		})
	}
	writers.Wait()
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
func decisionsNow(e *env.Env) float64 {
	e.Helper()
	return e.Metric(0, "defaultplan_decisions_total")
}
