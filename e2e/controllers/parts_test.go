package controllers_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// Two controllers work in one cluster: each handles the broker that names it, and all that
// is there, from the catalog to the Secret; by the brokers' books, by the API server's, and
// by what status and events say.
func TestEachControllerTouchesOnlyItsOwn(t *testing.T) {
	w := newWorld(t)
	east := w.name("east")
	w.account(east)
	w.controller("")
	w.controller(east)
	parts := []*part{w.part(""), w.part(east)}
	for _, p := range parts {
		w.Ready(p.broker)
		w.Create(p.instance, p.binding)
	}
	for i, p := range parts {
		w.handled(p, p.name)
		assert.Equal(t, []string{toldBy(p.name), toldBy(p.name)}, p.told(), "it provisioned and bound")
		other := parts[1-i]
		for _, write := range w.writesOf(accountOf(p.name)) {
			for _, theirs := range []client.Object{other.broker, other.instance, other.binding} {
				assert.NotEqual(t, theirs.GetName(), strings.Fields(write)[2], write)
			}
		}
		assert.NotEmpty(t, w.writesOf(accountOf(p.name)))
		w.told(p)
	}
	for _, p := range parts {
		w.remove(p.binding, p.instance)
		assert.Empty(t, p.books.Instances())
		p.books.AssertDuties(t)
	}
}

// told says that a part's events are by its controller.
func (w *world) told(p *part) {
	w.Helper()
	by := "defaultplan-controller"
	if p.name != "" {
		by += "-" + p.name
	}
	var events eventsv1.EventList
	w.Eventually(func() (bool, error) {
		err := w.client.List(w.Context(), &events, client.InNamespace(w.namespace), client.MatchingFields{"regarding.name": p.binding.Name})
		return len(events.Items) > 0, err
	})
	for _, event := range events.Items {
		assert.Equal(w, by, event.ReportingController)
	}
}

// What a controller began when it was killed is left to it: no other goes on with it, and
// it does as soon as it runs again.
func TestKilledControllersWorkWaitsForIt(t *testing.T) {
	w := newWorld(t)
	east := w.name("east")
	w.account(east)
	w.controller("")
	killed := w.controller(east)
	ours, theirs := w.part(""), w.part(east)
	w.Ready(ours.broker, theirs.broker)
	theirs.books.Async(osbtest.Provision, 1000)
	w.Create(theirs.instance, theirs.binding)
	w.Eventually(func() (bool, error) { return len(theirs.books.Running()) > 0, nil })
	require.NoError(t, killed.Stop(t.Context(), syscall.SIGKILL))
	calls := len(theirs.books.Calls())

	w.Change(theirs.instance, func() { theirs.instance.Annotations = map[string]string{"acme.example/touched": "true"} })
	w.Create(ours.instance, ours.binding)
	w.handled(ours, "")
	assert.Len(t, theirs.books.Calls(), calls, "nobody asked in its place")
	w.Get(theirs.instance)
	assert.Equal(t, east, theirs.instance.Status.ControllerName)

	require.NoError(t, killed.Start(t.Context()))
	theirs.books.Finish(theirs.books.Running()[0])
	w.handled(theirs, east)
	assert.Len(t, theirs.books.Instances(), 1)
	assert.NotContains(t, theirs.told(), toldBy(""))
	w.remove(theirs.binding, theirs.instance, ours.binding, ours.instance)
}

// Two controllers that are started with each other's names handle each other's parts from
// then on: who handles what is said by the brokers, and nothing is made twice.
func TestNamesAreSwapped(t *testing.T) {
	w := newWorld(t)
	east, west := w.name("east"), w.name("west")
	w.account(east)
	w.account(west)
	first, second := w.controller(east), w.controller(west)
	parts := []*part{w.part(east), w.part(west)}
	for _, p := range parts {
		w.Ready(p.broker)
		w.Create(p.instance, p.binding)
		w.handled(p, p.name)
	}
	require.NoError(t, first.Stop(t.Context(), syscall.SIGTERM))
	require.NoError(t, second.Stop(t.Context(), syscall.SIGKILL))
	w.controller(east, "--controller-name="+west)
	w.controller(west, "--controller-name="+east)
	for i, p := range parts {
		w.Change(p.instance, func() { p.instance.Spec.ClusterServicePlanExternalName = "large" })
		w.handled(p, p.name)
		assert.Equal(t, []string{toldBy(p.name), toldBy(p.name), toldBy(parts[1-i].name)}, p.told(), "the update is by whoever has the name now")
		assert.Len(t, p.books.Instances(), 1)
		w.remove(p.binding, p.instance)
	}
}

// A broker whose controller does not run is left alone, without a word, and so is what is
// to be there.
func TestNobodysBrokerIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	w.controller("")
	ours, nobodys := w.part(""), w.part(w.name("nobody"))
	class := &api.ClusterServiceClass{ObjectMeta: metav1.ObjectMeta{Name: w.name("by-hand")}}
	class.Spec.ClusterServiceBrokerName, class.Spec.ExternalID, class.Spec.ExternalName, class.Spec.Description = nobodys.broker.Name, w.name("id"), w.name("by-hand"), "d"
	class.Spec.Bindable = true
	plan := &api.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: w.name("plan-by-hand")}}
	plan.Spec.ClusterServiceBrokerName, plan.Spec.ExternalID, plan.Spec.ExternalName, plan.Spec.Description = nobodys.broker.Name, w.name("plan"), "small", "d"
	plan.Spec.ClusterServiceClassRef.Name = class.Name
	w.Create(class, plan)
	nobodys.instance.Spec.ClusterServiceClassExternalName = class.Spec.ExternalName
	w.Eventually(func() (bool, error) {
		err := w.client.Create(w.Context(), nobodys.instance)
		return err == nil, err
	})
	w.Create(nobodys.binding)

	w.Ready(ours.broker)
	w.Create(ours.instance, ours.binding)
	w.handled(ours, "")
	for _, object := range []client.Object{nobodys.broker, nobodys.instance, nobodys.binding} {
		w.Get(object)
		assert.Empty(t, stack.ConditionsOf(object), "%T", object)
		var events corev1.EventList
		require.NoError(t, w.client.List(t.Context(), &events, client.MatchingFields{"involvedObject.name": object.GetName()}))
		assert.Empty(t, events.Items, "%T", object)
	}
	assert.Empty(t, nobodys.books.Calls())
	for _, write := range w.writesOf(accountOf("")) {
		assert.NotContains(t, write, nobodys.name)
	}
	w.remove(ours.binding, ours.instance)
}

// Every controller is held to the Secrets that it makes, also one with a ServiceAccount of
// its own.
func TestGuardHoldsEveryController(t *testing.T) {
	w := newWorld(t)
	east := w.name("east")
	w.account(east)
	attacker, err := client.New(w.RESTConfigFor(accountOf(east), "system:serviceaccounts", "system:authenticated"), client.Options{Scheme: w.client.Scheme()})
	require.NoError(t, err)
	foreign := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "foreign"}}
	w.Create(foreign)
	err = attacker.Delete(t.Context(), foreign)
	require.ErrorContains(t, err, "no ServiceBinding owns it")
	err = attacker.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "mine"}})
	require.ErrorContains(t, err, "the controller may only write Secrets")
}
