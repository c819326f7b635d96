package watches

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// An instance that waits looks again when a binding has left its broker, and not at each
// of its changes.
func TestLetsGo(t *testing.T) {
	t.Parallel()
	bound := &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "b", Finalizers: []string{v1beta1.FinalizerServiceCatalog}}}
	bound.Spec.InstanceRef = &v1beta1.InstanceReference{Name: "i"}
	bound.Status.UnbindStatus = v1beta1.UnbindRequired
	unbound := bound.DeepCopy()
	unbound.Status.UnbindStatus = v1beta1.UnbindSucceeded
	passes := Released()
	assert.True(t, passes.Delete(event.DeleteEvent{Object: bound}))
	assert.True(t, passes.Update(event.UpdateEvent{ObjectOld: bound, ObjectNew: unbound}))
	assert.False(t, passes.Update(event.UpdateEvent{ObjectOld: bound, ObjectNew: bound}))
	assert.False(t, passes.Update(event.UpdateEvent{ObjectOld: unbound, ObjectNew: unbound}))
	assert.False(t, passes.Create(event.CreateEvent{Object: bound}))
	assert.False(t, passes.Generic(event.GenericEvent{Object: bound}))
}
