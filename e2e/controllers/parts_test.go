package controllers_test

import (
	"slices"
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
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// Two controllers work in one cluster: each handles the broker that names it, and all that
// is there, from the catalog to the Secret; by the brokers' books, by the API server's, and
// by what status and events say.
func TestEachControllerTouchesOnlyItsOwn(t *testing.T) {
	e := newEnv(t)
	east := e.Name("east")
	e.account(east)
	e.controller("")
	e.controller(east)
	parts := []*part{e.part(""), e.part(east)}
	for _, p := range parts {
		e.Ready(p.broker)
		e.Create(p.instance, p.binding)
	}
	for i, p := range parts {
		e.handled(p, p.name)
		assert.Equal(t, []string{toldBy(p.name), toldBy(p.name)}, p.told(), "it provisioned and bound")
		other := parts[1-i]
		for _, write := range e.writesOf(accountOf(p.name)) {
			for _, theirs := range []client.Object{other.broker, other.instance, other.binding} {
				assert.NotEqual(t, theirs.GetName(), strings.Fields(write)[2], write)
			}
		}
		assert.NotEmpty(t, e.writesOf(accountOf(p.name)))
		e.eventsAreOf(p)
	}
	for _, p := range parts {
		e.remove(p.binding, p.instance)
		assert.Empty(t, p.books.Instances())
		p.books.AssertDuties(t)
	}
}

// eventsAreOf says that a part's events are by its controller.
func (e *testEnv) eventsAreOf(p *part) {
	e.Helper()
	by := "defaultplan-controller"
	if p.name != "" {
		by += "-" + p.name
	}
	var events eventsv1.EventList
	e.Eventually(func() (bool, error) {
		err := e.Client().List(e.Context(), &events, client.InNamespace(e.Namespace), client.MatchingFields{"regarding.name": p.binding.Name})
		return len(events.Items) > 0, err
	})
	for _, event := range events.Items {
		assert.Equal(e, by, event.ReportingController)
	}
}

// What a controller began when it was killed is left to it: no other goes on with it, and
// it does as soon as it runs again.
func TestKilledControllersWorkWaitsForIt(t *testing.T) {
	e := newEnv(t)
	east := e.Name("east")
	e.account(east)
	e.controller("")
	killed := e.controller(east)
	ours, theirs := e.part(""), e.part(east)
	e.Ready(ours.broker, theirs.broker)
	theirs.books.Async(osbtest.Provision, 1000)
	e.Create(theirs.instance, theirs.binding)
	e.Eventually(func() (bool, error) { return len(theirs.books.Running()) > 0, nil })
	require.NoError(t, killed.Stop(t.Context(), syscall.SIGKILL))
	calls := len(theirs.books.Calls())

	e.Change(theirs.instance, func() { theirs.instance.Annotations = map[string]string{"acme.example/touched": "true"} })
	e.Create(ours.instance, ours.binding)
	e.handled(ours, "")
	assert.Len(t, theirs.books.Calls(), calls, "no other controller called in its place")
	e.Get(theirs.instance)
	assert.Equal(t, east, theirs.instance.Status.ControllerName)

	require.NoError(t, killed.Start(t.Context()))
	theirs.books.Finish(theirs.books.Running()[0])
	e.handled(theirs, east)
	assert.Len(t, theirs.books.Instances(), 1)
	assert.NotContains(t, theirs.told(), toldBy(""))
	e.remove(theirs.binding, theirs.instance, ours.binding, ours.instance)
}

// Two controllers that are started with each other's names handle each other's parts from
// then on: who handles what is said by the brokers, and nothing is made twice.
func TestNamesAreSwapped(t *testing.T) {
	e := newEnv(t)
	east, west := e.Name("east"), e.Name("west")
	e.account(east)
	e.account(west)
	first, second := e.controller(east), e.controller(west)
	parts := []*part{e.part(east), e.part(west)}
	for _, p := range parts {
		e.Ready(p.broker)
		e.Create(p.instance, p.binding)
		e.handled(p, p.name)
	}
	require.NoError(t, first.Stop(t.Context(), syscall.SIGTERM))
	require.NoError(t, second.Stop(t.Context(), syscall.SIGKILL))
	e.controller(east, "--controller-name="+west)
	e.controller(west, "--controller-name="+east)
	for i, p := range parts {
		e.Change(p.instance, func() { p.instance.Spec.ClusterServicePlanExternalName = "large" })
		e.handled(p, p.name)
		assert.Equal(t, []string{toldBy(p.name), toldBy(p.name), toldBy(parts[1-i].name)}, p.told(), "the update is by the controller that has the name now")
		assert.Len(t, p.books.Instances(), 1)
		e.remove(p.binding, p.instance)
	}
}

// A broker whose controller does not run is left alone, and so is what is to be there: all that is
// said is for which controller they wait.
func TestNobodysBrokerIsLeftAlone(t *testing.T) {
	e := newEnv(t)
	e.controller("")
	ours, nobodys := e.part(""), e.part(e.Name("unused"))
	class := &api.ClusterServiceClass{ObjectMeta: metav1.ObjectMeta{Name: e.Name("by-hand")}}
	class.Spec.ClusterServiceBrokerName, class.Spec.ExternalID, class.Spec.ExternalName, class.Spec.Description = nobodys.broker.Name, e.Name("id"), e.Name("by-hand"), "d"
	class.Spec.Bindable = true
	plan := &api.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: e.Name("plan-by-hand")}}
	plan.Spec.ClusterServiceBrokerName, plan.Spec.ExternalID, plan.Spec.ExternalName, plan.Spec.Description = nobodys.broker.Name, e.Name("plan"), "small", "d"
	plan.Spec.ClusterServiceClassRef.Name = class.Name
	e.Create(class, plan)
	nobodys.instance.Spec.ClusterServiceClassExternalName = class.Spec.ExternalName
	e.Eventually(func() (bool, error) {
		err := e.Client().Create(e.Context(), nobodys.instance)
		return err == nil, err
	})
	e.Create(nobodys.binding)

	e.Ready(ours.broker)
	e.Create(ours.instance, ours.binding)
	e.handled(ours, "")
	for _, object := range []client.Object{nobodys.broker, nobodys.instance, nobodys.binding} {
		condition := e.HasCondition(object, api.ConditionReady, api.ConditionUnknown, "WaitsForController")
		assert.Contains(t, condition.Message, nobodys.name)
		assert.Len(t, env.ConditionsOf(object), 1, "%T", object)
		var events corev1.EventList
		require.NoError(t, e.Client().List(t.Context(), &events, client.MatchingFields{"involvedObject.name": object.GetName()}))
		assert.Empty(t, events.Items, "%T", object)
	}
	assert.Empty(t, nobodys.books.Calls())
	told := slices.DeleteFunc(e.writesOf(accountOf("")), func(write string) bool { return !strings.Contains(write, nobodys.name) })
	assert.Len(t, told, 3, "each once")
	e.remove(ours.binding, ours.instance)
}

// What a user abandons goes although its controller never comes back: the one without a name lets
// it go. What is at the broker stays there.
func TestAbandonedObjectsGoWithoutTheirController(t *testing.T) {
	e := newEnv(t)
	east := e.Name("east")
	e.account(east)
	e.controller("")
	lost := e.controller(east)
	p := e.part(east)
	e.Ready(p.broker)
	e.Create(p.instance, p.binding)
	e.Ready(p.instance, p.binding)
	require.NoError(t, lost.Stop(t.Context(), syscall.SIGKILL))
	calls := len(p.books.Calls())
	for _, object := range []client.Object{p.binding, p.instance} {
		e.Change(object, func() { object.SetAnnotations(map[string]string{api.AnnotationAbandon: "true"}) })
		e.Delete(object)
	}
	e.Gone(p.binding, p.instance)
	assert.Equal(t, "defaultplan-controller", e.HasEvent(p.instance, "Abandoned").ReportingController)
	assert.Len(t, p.books.Calls(), calls)
}

// Every controller is held to the Secrets that it makes, also one with a ServiceAccount of
// its own.
func TestGuardHoldsEveryController(t *testing.T) {
	e := newEnv(t)
	east := e.Name("east")
	e.account(east)
	attacker := e.As(accountOf(east), "system:serviceaccounts", "system:authenticated").Client()
	foreign := e.Secret("foreign")
	e.Create(foreign)
	err := attacker.Delete(t.Context(), foreign)
	require.ErrorContains(t, err, "no ServiceBinding owns it")
	err = attacker.Create(t.Context(), e.Secret("mine"))
	require.ErrorContains(t, err, "the controller may only write Secrets")
}
