package osb_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// mark annotates an instance.
func (e *testEnv) mark(i *api.ServiceInstance, annotation string) {
	e.Helper()
	e.Change(i, func() {
		if i.Annotations == nil {
			i.Annotations = map[string]string{}
		}
		i.Annotations[annotation] = "true"
	})
}

// A deletion that fails says so and when it is tried again; in the end it goes.
func TestDeletionFailsAndSucceeds(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	i := s.provisioned()
	s.broker.Next(osbtest.Deprovision, osbtest.Status(400, `{"description": "not today"}`), osbtest.Status(500, `{}`), osbtest.AsyncFailed(0))
	s.Delete(i)
	ready := s.HasCondition(i, api.ConditionReady, api.ConditionFalse, "DeprovisionCallFailed")
	assert.Contains(t, ready.Message, "not today")
	require.NotNil(t, i.Status.NextRetry)
	first := s.broker.Calls(osbtest.Of(osbtest.Deprovision))[0]
	assert.WithinDuration(t, first.Began, i.Status.NextRetry.Time, wait.Patience(5*time.Second))
	_, failed := api.FindCondition(i.Status.Conditions, api.ConditionFailed)
	assert.False(t, failed, "a deletion is never given up")
	assert.Equal(t, api.InstanceDeprovision, i.Status.CurrentOperation)
	s.Gone(i)
	assert.Empty(t, s.broker.Instances())
	assert.Len(t, s.broker.Calls(osbtest.Of(osbtest.Deprovision)), 4)
}

// The plan that is named is the one that the broker has, not one that it refused.
func TestDeletionNamesThePlanThatTheBrokerHas(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	i := s.provisioned()
	s.broker.Next(osbtest.Update, osbtest.Status(400, `{}`))
	s.Change(i, func() { i.Spec.ClusterServicePlanExternalName = "large" })
	s.stalled(i, "UpdateInstanceCallFailed")
	s.end(i)
	assert.Equal(t, s.setting.small["id"], s.last(osbtest.Deprovision).Query.Get("plan_id"))
}

// What was never provisioned goes without a call.
func TestNeverProvisionedGoesWithoutACall(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	i := s.db(from("absent"))
	s.Create(i)
	s.HasCondition(i, api.ConditionReady, api.ConditionUnknown, "ErrorWithParameters")
	s.end(i)
	assert.Empty(t, s.broker.Calls(osbtest.Writes()))
}

// Bindings keep their instance, and are named; it goes with the last of them.
func TestBindingsKeepTheirInstance(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	i := s.provisioned()
	one, two := s.Binding("one", "mydb"), s.Binding("two", "mydb")
	s.Create(one, two)
	s.Ready(one, two)
	s.Delete(i)
	ready := s.HasCondition(i, api.ConditionReady, api.ConditionFalse, "DeprovisionBlockedByExistingCredentials")
	assert.Contains(t, ready.Message, "one, two")
	assert.Empty(t, s.broker.Calls(osbtest.Of(osbtest.Deprovision, osbtest.Unbind)), "no binding is deleted")
	s.Get(one)
	assert.Nil(t, one.DeletionTimestamp)
	s.Delete(one)
	s.Gone(one)
	s.Becomes(i, func() bool {
		ready, _ := api.FindCondition(i.Status.Conditions, api.ConditionReady)
		return ready.Message == "All associated ServiceBindings must be removed before this ServiceInstance can be deleted: two"
	})
	s.Delete(two)
	s.Gone(i)
	assert.Empty(t, s.broker.Instances())
}

// Who wishes it has the bindings deleted with the instance.
func TestCascade(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	i := s.provisioned()
	binding := s.Binding("reader", "mydb")
	s.Create(binding)
	s.Ready(binding)
	s.Delete(i)
	s.HasCondition(i, api.ConditionReady, api.ConditionFalse, "DeprovisionBlockedByExistingCredentials")
	s.mark(i, api.AnnotationCascade)
	s.Gone(i)
	s.Gone(binding)
	s.Gone(s.Secret("reader"))
	assert.Empty(t, s.broker.Bindings())
	assert.Empty(t, s.broker.Instances())
}

// A namespace goes, with all that is in it, and nothing stays at the broker. No event is sent into it:
// the API server would refuse it.
func TestNamespaceDeletionEnds(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	i := s.provisioned()
	binding := s.Binding("reader", "mydb")
	s.Create(binding)
	s.Ready(binding)
	s.broker.Async(osbtest.Deprovision, 1)
	s.broker.Next(osbtest.Unbind, osbtest.Status(500, `{}`))
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace}}
	s.Delete(namespace)
	s.Gone(i)
	s.Gone(binding)
	s.Gone(namespace)
	assert.Empty(t, s.broker.Instances())
	assert.Empty(t, s.broker.Bindings())
	log, err := os.ReadFile(s.Controller().Log())
	require.NoError(t, err)
	for line := range strings.Lines(string(log)) {
		assert.False(t, strings.Contains(line, s.Namespace) && strings.Contains(line, "rejected event"), line)
	}
}

// An instance that is abandoned goes without its broker, and a warning tells of it.
func TestAbandon(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	i := s.provisioned()
	s.broker.On(refusing(osbtest.Status(400, `{}`), osbtest.Deprovision))
	s.Delete(i)
	s.HasCondition(i, api.ConditionReady, api.ConditionFalse, "DeprovisionCallFailed")
	calls := len(s.broker.Calls(osbtest.Of(osbtest.Deprovision)))
	s.mark(i, api.AnnotationAbandon)
	s.Gone(i)
	assert.LessOrEqual(t, len(s.broker.Calls(osbtest.Of(osbtest.Deprovision))), calls+1)
	event := s.HasEvent(i, "Abandoned")
	assert.Equal(t, corev1.EventTypeWarning, event.Type)
	assert.Equal(t, "mydb", event.Regarding.Name)
	assert.Len(t, s.broker.Instances(), 1, "it stays where it is")
}

// The annotation has no effect without a deletion.
func TestAbandonIsForDeletions(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	i := s.provisioned(func(i *api.ServiceInstance) { i.Annotations = map[string]string{api.AnnotationAbandon: "true"} })
	s.Change(i, func() { i.Spec.Parameters = env.RawJSON(`{"size": 1}`) })
	s.Ready(i)
	assert.Len(t, s.broker.Instances(), 1)
	s.Delete(i)
	s.Gone(i)
	s.HasEvent(i, "Abandoned")
}

// With its broker gone from the cluster an instance can go too, and a warning tells of
// what stays.
func TestDeletionWithoutABroker(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	i := s.provisioned()
	// Only removing the finalizer by force deletes a broker with instances.
	s.Delete(s.registered)
	s.Change(s.registered, func() { s.registered.Finalizers = nil })
	s.Gone(s.registered)
	s.Delete(i)
	s.Gone(i)
	event := s.HasEvent(i, "Abandoned")
	assert.Contains(t, event.Note, "not registered any more")
	assert.Empty(t, s.broker.Calls(osbtest.Of(osbtest.Deprovision)))
}

// A broker that is being deleted waits for its instances, and is asked for its catalog, so that its
// 404 is believed: else both would wait for ever.
func TestDeletionOfABrokerThatDoesNotKnowItsInstance(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	i := s.provisioned()
	s.Delete(s.registered)
	s.HasCondition(s.registered, api.ConditionReady, api.ConditionFalse, "DeletionBlockedByInstances")
	unknown := osbtest.Status(404, `{}`)
	s.broker.Next(osbtest.Deprovision, unknown.Acting(), unknown, unknown, unknown, unknown, unknown, unknown, unknown)
	s.Delete(i)
	// The pauses between removals grow: the last may be longer than Gone waits for a change.
	require.NoError(t, wait.EventuallyWithin(t.Context(), 2*time.Minute, func() (bool, error) { return s.Absent(i), nil }))
	s.Gone(s.registered)
}

// However often a removal fails, there is one Event of it.
func TestFailuresAreASeriesOfOneEvent(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	i := s.provisioned()
	failure := osbtest.Status(500, `{}`)
	s.broker.Next(osbtest.Deprovision, failure, failure, failure)
	s.Delete(i)
	s.Gone(i)
	require.GreaterOrEqual(t, len(s.broker.Calls(osbtest.Of(osbtest.Deprovision))), 4)
	var failed []eventsv1.Event
	s.Eventually(func() (bool, error) {
		failed = nil
		for _, event := range s.Events(s.Namespace) {
			if event.Regarding.Name == i.Name && event.Reason == "DeprovisionCallFailed" {
				failed = append(failed, event)
			}
		}
		return len(failed) != 1 || failed[0].Series != nil, nil
	})
	require.Len(t, failed, 1)
	assert.Equal(t, i.UID, failed[0].Regarding.UID)
}

// A broker that does not answer keeps its instances; as soon as it answers they go.
func TestDeletionWaitsForABrokerThatIsDown(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	i := s.provisioned()
	s.broker.Close()
	s.Delete(i)
	s.HasCondition(i, api.ConditionReady, api.ConditionFalse, "DeprovisionCallFailed")
	s.up()
	s.Gone(i)
	assert.Empty(t, s.broker.Instances())
}
