package controllers_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// named is a part of a named controller beside which the one without a name runs.
func (w *world) named() *part {
	w.Helper()
	east := w.name("east")
	w.account(east)
	w.controller("")
	w.controller(east)
	p := w.part(east)
	w.Ready(p.broker)
	return p
}

// alone says that only the controller of a part touched what is of this test: by the
// broker's books, by the API server's, and by what status says.
func (w *world) alone(p *part, handled ...client.Object) {
	w.Helper()
	for _, by := range p.told() {
		assert.Equal(w, toldBy(p.name), by)
	}
	assert.Empty(w, w.writesOf(accountOf("")))
	for _, object := range handled {
		w.Get(object)
		name := ""
		switch o := object.(type) {
		case *api.ServiceInstance:
			name = o.Status.ControllerName
		case *api.ServiceBinding:
			name = o.Status.ControllerName
		}
		assert.Equal(w, p.name, name, "%T %s", object, object.GetName())
	}
}

// A claim, a binding from another namespace and a rotation are handled by the controller
// that their broker names, and by nobody else.
func TestNamedControllerHandlesClaimsSharingAndRotation(t *testing.T) {
	w := newWorld(t)
	p := w.named()
	other := w.newNamespace("other")
	p.instance.Spec.Sharing = &api.Sharing{Namespaces: []string{other}}
	claim := &api.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: w.name("claim")}}
	claim.Spec.ClusterServiceClassExternalName, claim.Spec.ClusterServicePlanExternalName = p.instance.Spec.ClusterServiceClassExternalName, "small"
	w.Create(p.instance, p.binding, claim)
	w.Ready(p.instance, p.binding, claim)
	from := &api.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: other, Name: w.name("from")}}
	from.Spec.InstanceRef = &api.InstanceReference{Namespace: w.namespace, Name: p.instance.Name}
	w.Create(from)
	w.Ready(from)
	assert.Len(t, p.books.Instances(), 2)
	assert.Len(t, p.books.Bindings(), 3)

	former := p.binding.Status.ExternalID
	w.Change(p.binding, func() {
		p.binding.Spec.Rotation = &api.Rotation{Requests: 1, Overlap: &metav1.Duration{Duration: time.Second}}
	})
	w.Eventually(func() (bool, error) {
		w.Get(p.binding)
		_, there := p.books.Bindings()[former]
		if status := &p.binding.Status; there || status.Rotation != nil || status.Credentials == nil || status.Credentials.Requests != 1 {
			return false, errors.New("its credentials are not replaced yet")
		}
		return true, nil
	})
	assert.Len(t, p.books.Bindings(), 3, "the new ones in place of the former")
	own := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: api.DedicatedInstanceName(claim)}}
	w.alone(p, p.instance, p.binding, claim, from, own)

	w.remove(from, claim, p.binding, p.instance)
	w.Gone(own)
	assert.Empty(t, p.books.Bindings())
	assert.Empty(t, p.books.Instances())
	w.alone(p)
	p.books.AssertDuties(t)
}

// What goes wrong at the broker of a named controller is over in the end: nothing is made
// twice, nothing is left, and nobody else mends it.
func TestFaultsAtANamedControllersBroker(t *testing.T) {
	w := newWorld(t)
	p := w.named()
	w.Create(p.instance)
	w.Ready(p.instance)
	faults := []osbtest.Fault{osbtest.Status(500, `{}`).Acting(), osbtest.CutMiddle(), osbtest.Hang()}
	p.books.Next(osbtest.Bind, faults...)
	var bindings []client.Object
	for i := range faults {
		b := p.binding.DeepCopy()
		b.Name = fmt.Sprintf("%s-%d", p.binding.Name, i)
		bindings = append(bindings, b)
	}
	w.Create(bindings...)
	w.Ready(bindings...)
	assert.Len(t, p.books.Bindings(), len(faults))
	p.books.Next(osbtest.Bind, osbtest.AsyncFailed(0))
	w.Create(p.binding)
	w.HasCondition(p.binding, api.ConditionReady, api.ConditionFalse, "BindCallFailed")
	w.alone(p, append(bindings, p.instance, p.binding)...)

	bindings = append(bindings, p.binding)
	p.books.Next(osbtest.Unbind, osbtest.Status(500, `{}`), osbtest.AsyncFailed(0))
	for _, b := range bindings {
		require.NoError(t, w.client.Delete(t.Context(), b))
	}
	w.Gone(bindings...)
	w.remove(p.instance)
	assert.Empty(t, p.books.Bindings())
	assert.Empty(t, p.books.Instances())
	assert.Empty(t, p.books.Orphans())
	w.alone(p)
	p.books.AssertDuties(t)
}
