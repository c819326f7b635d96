package controllers_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// named is a part of a named controller beside which the one without a name runs.
func (e *testEnv) named() *part {
	e.Helper()
	east := e.Name("east")
	e.account(east)
	e.controller("")
	e.controller(east)
	p := e.part(east)
	e.Ready(p.broker)
	return p
}

// alone says that only the controller of a part touched what is of this test: by the
// broker's books, by the API server's, and by what status says.
func (e *testEnv) alone(p *part, handled ...client.Object) {
	e.Helper()
	for _, by := range p.told() {
		assert.Equal(e, toldBy(p.name), by)
	}
	assert.Empty(e, e.writesOf(accountOf("")))
	for _, object := range handled {
		e.Get(object)
		name := ""
		switch o := object.(type) {
		case *api.ServiceInstance:
			name = o.Status.ControllerName
		case *api.ServiceBinding:
			name = o.Status.ControllerName
		}
		assert.Equal(e, p.name, name, "%T %s", object, object.GetName())
	}
}

// A claim, a binding from another namespace and a rotation are handled by the controller
// that their broker names, and by no other.
func TestNamedControllerHandlesClaimsSharingAndRotation(t *testing.T) {
	e := newEnv(t)
	p := e.named()
	other := e.newNamespace("other")
	p.instance.Spec.Sharing = &api.Sharing{Namespaces: []string{other}}
	claim := e.Binding(e.Name("claim"), "")
	claim.Spec.ClusterServiceClassExternalName, claim.Spec.ClusterServicePlanExternalName = p.instance.Spec.ClusterServiceClassExternalName, "small"
	e.Create(p.instance, p.binding, claim)
	e.Ready(p.instance, p.binding, claim)
	from := &api.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: other, Name: e.Name("from")}}
	from.Spec.InstanceRef = &api.InstanceReference{Namespace: e.Namespace, Name: p.instance.Name}
	e.Create(from)
	e.Ready(from)
	assert.Len(t, p.books.Instances(), 2)
	assert.Len(t, p.books.Bindings(), 3)

	former := p.binding.Status.ExternalID
	e.Change(p.binding, func() {
		p.binding.Spec.Rotation = &api.Rotation{Requests: 1, Overlap: &metav1.Duration{Duration: time.Second}}
	})
	e.Eventually(func() (bool, error) {
		e.Get(p.binding)
		_, there := p.books.Bindings()[former]
		if status := &p.binding.Status; there || status.Rotation != nil || status.Credentials == nil || status.Credentials.Requests != 1 {
			return false, errors.New("its credentials are not replaced yet")
		}
		return true, nil
	})
	assert.Len(t, p.books.Bindings(), 3, "the new ones in place of the former")
	own := e.Instance(api.DedicatedInstanceName(claim))
	e.alone(p, p.instance, p.binding, claim, from, own)

	e.remove(from, claim, p.binding, p.instance)
	e.Gone(own)
	assert.Empty(t, p.books.Bindings())
	assert.Empty(t, p.books.Instances())
	e.alone(p)
	p.books.AssertDuties(t)
}

// What goes wrong at the broker of a named controller is over in the end: nothing is made
// twice, nothing is left, and no other controller repairs it.
func TestFaultsAtANamedControllersBroker(t *testing.T) {
	e := newEnv(t)
	p := e.named()
	e.Create(p.instance)
	e.Ready(p.instance)
	faults := []osbtest.Fault{osbtest.Status(500, `{}`).Acting(), osbtest.CutMiddle(), osbtest.Hang()}
	p.books.Next(osbtest.Bind, faults...)
	var bindings []client.Object
	for i := range faults {
		b := p.binding.DeepCopy()
		b.Name = fmt.Sprintf("%s-%d", p.binding.Name, i)
		bindings = append(bindings, b)
	}
	e.Create(bindings...)
	e.Ready(bindings...)
	assert.Len(t, p.books.Bindings(), len(faults))
	p.books.Next(osbtest.Bind, osbtest.AsyncFailed(0))
	e.Create(p.binding)
	e.HasCondition(p.binding, api.ConditionReady, api.ConditionFalse, "BindCallFailed")
	e.alone(p, append(bindings, p.instance, p.binding)...)

	bindings = append(bindings, p.binding)
	p.books.Next(osbtest.Unbind, osbtest.Status(500, `{}`), osbtest.AsyncFailed(0))
	for _, b := range bindings {
		e.Delete(b)
	}
	e.Gone(bindings...)
	e.remove(p.instance)
	assert.Empty(t, p.books.Bindings())
	assert.Empty(t, p.books.Instances())
	assert.Empty(t, p.books.Orphans())
	e.alone(p)
	p.books.AssertDuties(t)
}
