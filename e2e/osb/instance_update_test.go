package osb_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// An update tells the broker what changed, and nothing else.
func TestUpdateTellsWhatChanged(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	i := s.provisioned(having(`{"size": 1, "zone": "a"}`))

	s.Change(i, func() { i.Spec.Parameters = env.RawJSON(`{"size": 2, "zone": "a"}`) })
	s.Ready(i)
	sent := s.last(osbtest.Update).Body
	assert.Equal(t, object{"size": 2.0, "zone": "a"}, sent["parameters"])
	assert.NotContains(t, sent, "plan_id")
	assert.Equal(t, s.setting.small["id"], sent["previous_values"].(object)["plan_id"])

	s.Change(i, func() { i.Spec.ClusterServicePlanExternalName = "large" })
	s.Ready(i)
	sent = s.last(osbtest.Update).Body
	assert.Equal(t, s.setting.large["id"], sent["plan_id"])
	assert.NotContains(t, sent, "parameters")
	assert.Equal(t, s.setting.small["id"], sent["previous_values"].(object)["plan_id"])
	assert.Equal(t, "large", i.Status.ExternalProperties.ClusterServicePlanExternalName)

	s.Change(i, func() { i.Spec.Parameters = nil })
	s.Ready(i)
	assert.Equal(t, object{}, s.last(osbtest.Update).Body["parameters"], "they were taken away")
	assert.Empty(t, s.only().Parameters)
	assert.Equal(t, 3, s.only().Updates)

	s.Change(i, func() { i.Spec.UpdateRequests++ })
	s.Ready(i)
	assert.Len(t, s.broker.Calls(osbtest.Of(osbtest.Update)), 3, "nothing is to be told")
	s.end(i)
}

// A plan change is polled with the plan that was before.
func TestAsyncPlanChange(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	i := s.provisioned()
	s.broker.Next(osbtest.Update, osbtest.AsyncDone(1))
	s.Change(i, func() { i.Spec.ClusterServicePlanExternalName = "large" })
	s.Ready(i)
	assert.Equal(t, s.setting.small["id"], s.last(osbtest.PollInstance).Query.Get("plan_id"))
	assert.Equal(t, s.setting.large["id"], s.only().PlanID)
	s.end(i)
}

// A failed update locks nothing: a mended spec is applied, one that is put back is Ready.
func TestFailedUpdateNeverLocks(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	i := s.provisioned(having(`{"size": 1}`))
	s.broker.Next(osbtest.Update, osbtest.Status(400, `{"description": "no such size"}`), osbtest.Status(400, `{}`))

	s.Change(i, func() { i.Spec.Parameters = env.RawJSON(`{"size": 77}`) })
	s.stalled(i, "UpdateInstanceCallFailed")
	assert.Equal(t, api.Provisioned, i.Status.ProvisionStatus)
	s.Change(i, func() { i.Spec.Parameters = env.RawJSON(`{"size": 1}`) })
	s.Ready(i)
	assert.Len(t, s.broker.Calls(osbtest.Of(osbtest.Update)), 1, "it is as it was: nothing is sent")

	s.Change(i, func() { i.Spec.Parameters = env.RawJSON(`{"size": 78}`) })
	s.stalled(i, "UpdateInstanceCallFailed")
	s.Change(i, func() { i.Spec.Parameters = env.RawJSON(`{"size": 3}`) })
	s.Ready(i)
	assert.Equal(t, object{"size": 3.0}, s.only().Parameters)
	s.end(i)
}

// A broker that answers 5xx may have made the change: who puts the spec back has it put back
// at the broker as well.
func TestUpdateThatFailedAndWasMade(t *testing.T) {
	t.Parallel()
	for _, code := range []int{500, 502, 503, 504} {
		t.Run(strconv.Itoa(code), func(t *testing.T) {
			t.Parallel()
			s := newBrokerEnv(t)
			i := s.provisioned(having(`{"size": 1}`))
			s.broker.Next(osbtest.Update, osbtest.Status(code, `{}`).Acting())
			s.Change(i, func() { i.Spec.Parameters = env.RawJSON(`{"size": 2}`) })
			s.called(osbtest.Update, 1)
			s.Change(i, func() { i.Spec.Parameters = env.RawJSON(`{"size": 1}`) })
			s.Ready(i)
			assert.Equal(t, object{"size": 1.0}, s.only().Parameters)
			s.end(i)
		})
	}
}

// A plan that may be left is left for one that may not: while the broker has not given that, the way back is open, and
// settles without a call that nothing asks for.
func TestTheWayBackToAPlanThatMayBeLeft(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		answer osbtest.Fault
		// settled is when the broker answered before the plan is put back.
		settled bool
		updates int
		// stays is the reason why the instance keeps the large plan; empty: it has the small one.
		stays string
		// except are the duties that a platform cannot keep that does not know what the broker has.
		except []string
	}{
		"Refused":      {reason: "it is as it was", answer: osbtest.Status(400, `{}`), settled: true, updates: 1},
		"RefusedLater": {reason: "it was put back before the answer", answer: osbtest.Status(400, `{}`), updates: 1},
		"InDoubt":      {reason: "the broker may have made the change: it is asked for what it is to have", answer: osbtest.Status(504, `{}`), updates: 2, except: []string{"M7"}},
		"GivenLater":   {reason: "the plan that it has by now cannot be left", updates: 1, stays: "PlanNotUpdatable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newBrokerEnv(t, func(s *setting) {
				s.service["plan_updateable"], s.small["plan_updateable"], s.except = false, true, tc.except
			})
			i := s.provisioned()
			s.broker.Next(osbtest.Update, tc.answer)
			held := s.broker.Hold(osbtest.Update)
			answers := func() {
				held.Act()
				held.Answer()
			}
			s.Change(i, func() { i.Spec.ClusterServicePlanExternalName = "large" })
			<-held.Arrived
			if tc.settled {
				answers()
				s.stalled(i, "UpdateInstanceCallFailed")
			}
			s.Change(i, func() { i.Spec.ClusterServicePlanExternalName = "small" })
			if !tc.settled {
				answers()
			}
			if tc.stays != "" {
				s.stalled(i, tc.stays)
				s.Change(i, func() { i.Spec.ClusterServicePlanExternalName = "large" })
			}
			s.Ready(i)
			assert.Len(t, s.broker.Calls(osbtest.Of(osbtest.Update)), tc.updates, tc.reason)
			has := map[bool]object{true: s.setting.small, false: s.setting.large}[tc.stays == ""]
			assert.Equal(t, has["id"], s.only().PlanID, tc.reason)
			s.end(i)
		})
	}
}

// An update that a broker goes on answering with 5xx keeps no new binding out.
func TestFailingUpdateAndANewBinding(t *testing.T) {
	t.Parallel()
	s := newBindingEnv(t)
	s.broker.On(func(c osbtest.Call) osbtest.Fault {
		if c.Verb == osbtest.Update {
			return osbtest.Status(500, `{}`)
		}
		return osbtest.Fault{}
	})
	s.Change(s.instance, func() { s.instance.Spec.Parameters = env.RawJSON(`{"size": 2}`) })
	s.called(osbtest.Update, 1)
	b := s.bound()
	s.Get(s.instance)
	assert.NotEqual(t, s.instance.Generation, s.instance.Status.ReconciledGeneration, "the broker refuses still")
	s.broker.On(nil)
	s.Ready(s.instance)
	assert.Equal(t, object{"size": 2.0}, s.only().Parameters)
	s.Delete(b)
	s.Gone(b)
	s.end(s.instance)
}

// The broker says that an instance cannot be used after a failed update: that is
// recorded, and the next good update mends it.
func TestUnusableAfterAFailedUpdate(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]osbtest.Fault{
		"Async": osbtest.AsyncFailed(0).Saying(false, false),
		"Sync":  osbtest.Status(400, `{"instance_usable": false, "update_repeatable": false}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newBrokerEnv(t)
			i := s.provisioned(having(`{"size": 1}`))
			s.broker.Next(osbtest.Update, fault)
			s.Change(i, func() { i.Spec.Parameters = env.RawJSON(`{"size": 2}`) })
			s.stalled(i, "UpdateInstanceCallFailed")
			assert.True(t, i.Status.Unusable)
			s.Change(i, func() { i.Spec.Parameters = env.RawJSON(`{"size": 3}`) })
			s.Ready(i)
			assert.False(t, i.Status.Unusable)
			s.end(i)
		})
	}
}

// A new version of a plan is applied on request only.
func TestMaintenanceIsAskedFor(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t, func(s *setting) { s.small["maintenance_info"] = object{"version": "1.0.0"} })
	i := s.provisioned(having(`{"size": 1}`))
	assert.Equal(t, object{"version": "1.0.0"}, s.last(osbtest.Provision).Body["maintenance_info"])

	s.setting.small["maintenance_info"] = object{"version": "1.1.0"}
	s.relist()
	s.Change(i, func() { i.Spec.Parameters = env.RawJSON(`{"size": 2}`) })
	s.Ready(i)
	assert.NotContains(t, s.last(osbtest.Update).Body, "maintenance_info")
	assert.Equal(t, "1.0.0", s.only().MaintenanceVersion)

	s.Change(i, func() { i.Spec.UpdateRequests++ })
	s.Ready(i)
	sent := s.last(osbtest.Update).Body
	assert.Equal(t, object{"version": "1.1.0"}, sent["maintenance_info"])
	assert.Equal(t, object{"version": "1.0.0"}, sent["previous_values"].(object)["maintenance_info"])
	assert.NotContains(t, sent, "parameters")
	assert.Equal(t, "1.1.0", s.only().MaintenanceVersion)
	assert.Equal(t, "1.1.0", i.Status.ExternalProperties.MaintenanceVersion)
	s.end(i)
}

// A version that is no longer the broker's causes a relist.
func TestMaintenanceConflictRelists(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t, func(s *setting) { s.small["maintenance_info"] = object{"version": "1.0.0"} })
	s.setting.small["maintenance_info"] = object{"version": "2.0.0"}
	require.NoError(t, s.broker.SetCatalog(s.catalog()))
	i := s.provisioned()
	assert.Len(t, s.broker.Calls(osbtest.Of(osbtest.GetCatalog)), 2)
	assert.Equal(t, "2.0.0", s.only().MaintenanceVersion)
	s.end(i)
}

// What a broker is told of annotations follows them, where it says that it may.
func TestContextIsUpdated(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t, func(s *setting) { s.service["allow_context_updates"] = true })
	i := s.provisioned(func(i *api.ServiceInstance) {
		i.Annotations = map[string]string{"acme.example/team": "red", "other.example/secret": "x"}
	})
	told := s.last(osbtest.Provision).Body["context"].(object)
	assert.Equal(t, object{"acme.example/team": "red"}, told["instance_annotations"])
	assert.Equal(t, object{}, told["namespace_annotations"])
	assert.Equal(t, "kubernetes", told["platform"])
	assert.Equal(t, s.Namespace, told["namespace"])
	assert.Equal(t, "mydb", told["instance_name"])
	assert.Equal(t, "cluster-of-the-scenarios", told["clusterid"])

	s.Change(i, func() { i.Annotations["acme.example/team"] = "blue" })
	s.called(osbtest.Update, 1)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace}}
	s.Change(namespace, func() { namespace.Annotations = map[string]string{"acme.example/cost": "7"} })
	sent := s.called(osbtest.Update, 2)[1].Body
	assert.NotContains(t, sent, "parameters")
	assert.NotContains(t, sent, "plan_id")
	assert.Equal(t, object{"acme.example/team": "blue"}, sent["context"].(object)["instance_annotations"])
	assert.Equal(t, object{"acme.example/cost": "7"}, sent["context"].(object)["namespace_annotations"])
	s.Ready(i)
	s.end(i)
}

// Where it may not, a changed context is told with the next update only.
func TestContextAloneIsNotSent(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	i := s.provisioned(having(`{"size": 1}`))
	s.Change(i, func() { i.Annotations["acme.example/team"] = "blue" })
	s.Change(i, func() { i.Spec.Parameters = env.RawJSON(`{"size": 2}`) })
	s.Ready(i)
	require.Len(t, s.broker.Calls(osbtest.Of(osbtest.Update)), 1)
	assert.Equal(t, object{"acme.example/team": "blue"}, s.only().Context["instance_annotations"])
	s.end(i)
}
