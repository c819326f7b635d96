package osb_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack/apiproxy"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// toAdopt is an instance that is said to be at the broker already, not yet created. At
// the end of the test the books show that none was requested, and none was removed.
func (s *brokerEnv) toAdopt(edits ...func(*api.ServiceInstance)) *api.ServiceInstance {
	s.Helper()
	s.Cleanup(func() {
		assert.Empty(s, s.broker.Calls(osbtest.Of(osbtest.Provision, osbtest.Deprovision)), "what is adopted is not made, and not removed")
		history := s.broker.Histories()[s.Name("theirs")]
		assert.LessOrEqual(s, history.Made, 1, "it existed before, and was not created again")
		assert.Zero(s, history.Removed)
	})
	i := s.db(edits...)
	i.Spec.ExternalID = s.Name("theirs")
	i.Annotations = map[string]string{api.AnnotationAdopt: "true"}
	return i
}

// message is what the condition Ready of an instance says.
func (s *brokerEnv) message(i *api.ServiceInstance) string {
	ready, _ := api.FindCondition(i.Status.Conditions, api.ConditionReady)
	return ready.Message
}

// maintained gives the small plan a version.
func maintained(version string) func(*setting) {
	return func(s *setting) { s.small["maintenance_info"] = object{"version": version} }
}

// What is there, and is what spec says, is taken over: used, changed by an edit, brought
// up to date when asked for, and left where it is.
func TestMarkedIsAdopted(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t, retrievable, maintained("2.0.0"))
	theirs := s.foreign("theirs")
	theirs.MaintenanceVersion = "1.0.0"
	s.broker.Add(theirs)
	i := s.toAdopt(having(`{"size": 1}`))
	s.Create(i)
	s.HasCondition(i, api.ConditionReady, api.ConditionTrue, "Adopted")
	assert.Equal(t, api.Provisioned, i.Status.ProvisionStatus)
	assert.Equal(t, api.DeprovisionNotRequired, i.Status.DeprovisionStatus)
	assert.Equal(t, "1.0.0", i.Status.ExternalProperties.MaintenanceVersion, "the broker's word")
	assert.Len(t, s.broker.Calls(osbtest.Of(osbtest.FetchInstance)), 1)
	assert.Empty(t, s.broker.Calls(osbtest.Of(osbtest.Update)), "nothing is changed by the way")

	s.Change(i, func() { i.Spec.UpdateRequests++ })
	s.Ready(i)
	assert.Equal(t, "2.0.0", s.only().MaintenanceVersion, "a request for the new version gets it")
	s.Change(i, func() { i.Spec.Parameters = env.RawJSON(`{"size": 2}`) })
	s.Ready(i)
	assert.Equal(t, object{"size": 2.0}, s.only().Parameters)

	s.Delete(i)
	s.Gone(i)
	assert.Len(t, s.broker.Instances(), 1)
	s.HasEvent(i, "Abandoned")
}

// What is asked for is compared; where it differs the user says whose side is right.
func TestMarkedIsCompared(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason string
		edit   func(*api.ServiceInstance)
		says   string
		mend   func(*api.ServiceInstance)
	}{
		"Plan": {"the plan is mended by its name", func(i *api.ServiceInstance) { i.Spec.ClusterServicePlanExternalName = "large" }, "it is of another plan",
			func(i *api.ServiceInstance) { i.Spec.ClusterServicePlanExternalName = "small" }},
		"Value": {"a value is mended", having(`{"size": 54321}`), `its parameter "size" has another value`, having(`{"size": 1}`)},
		"LeftOut": {"or left to the broker", having(`{"size": 54321}`), `its parameter "size" has another value`,
			func(i *api.ServiceInstance) { i.Spec.Parameters = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newBrokerEnv(t, retrievable)
			s.broker.Add(s.foreign("theirs"))
			i := s.toAdopt(test.edit)
			s.Create(i)
			s.stalled(i, "ExternalIDConflict")
			assert.Contains(t, s.message(i), test.says, test.reason)
			assert.Contains(t, s.message(i), "nothing was changed")
			assert.NotContains(t, s.message(i), "54321", "fields are named, values are not")
			s.Change(i, func() { test.mend(i) })
			s.HasCondition(i, api.ConditionReady, api.ConditionTrue, "Adopted")
			assert.Equal(t, s.foreign("theirs").Parameters, s.only().Parameters)
			assert.Empty(t, s.broker.Calls(osbtest.Of(osbtest.Update)))
		})
	}
}

// What is not there is not made; looked for again, it is found.
func TestMarkedAndAbsent(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t, retrievable)
	i := s.toAdopt()
	s.Create(i)
	s.stalled(i, "NotAtBroker")
	assert.Contains(t, s.message(i), fmt.Sprintf("%q", s.Name("theirs")))
	assert.NotEqual(t, api.Provisioned, i.Status.ProvisionStatus)
	b := s.Binding("creds", i.Name)
	s.Create(b)
	s.HasCondition(b, api.ConditionReady, api.ConditionUnknown, "")
	assert.Empty(t, s.broker.Calls(osbtest.Of(osbtest.Bind)), "no credentials of what is not there")

	s.broker.Add(s.foreign("theirs"))
	s.Change(i, func() { i.Spec.UpdateRequests++ }) // as svcat touch does
	s.HasCondition(i, api.ConditionReady, api.ConditionTrue, "Adopted")
	s.Ready(b)
	s.Delete(b)
	s.Gone(b)
}

// A broker that cannot be asked is not asked: neither by a request to provision.
func TestMarkedIsTakenOnTrust(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	s.broker.Add(s.foreign("theirs"))
	i := s.toAdopt(having(`{"size": 1}`))
	s.Create(i)
	ready := s.HasCondition(i, api.ConditionReady, api.ConditionTrue, "AdoptedOnTrust")
	assert.Contains(t, ready.Message, "taken on trust")
	s.HasEvent(i, "AdoptedOnTrust")
	b := s.Binding("creds", i.Name)
	s.Create(b)
	s.Ready(b)
	s.Get(s.Secret("creds"))

	// Its bindings are undone before it goes, and it stays at the broker.
	s.Delete(i)
	s.HasCondition(i, api.ConditionReady, api.ConditionFalse, "DeprovisionBlockedByExistingCredentials")
	s.Delete(b)
	s.Gone(b)
	s.Gone(i)
	assert.Empty(t, s.broker.Bindings())
	assert.Len(t, s.broker.Instances(), 1)
}

// While the broker cannot answer nothing is made, and nothing is decided.
func TestMarkedAndFaults(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]osbtest.Fault{
		"500": osbtest.Status(500, `{}`), "503": osbtest.Status(503, `{}`), "401": osbtest.Status(401, `{}`), "400": osbtest.Status(400, `{}`),
		"Timeout": osbtest.Hang(), "CutMiddle": osbtest.CutMiddle(), "Malformed": osbtest.Malformed(), "WrongType": osbtest.WrongType(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newBrokerEnv(t, retrievable)
			s.broker.Add(s.foreign("theirs"))
			s.broker.Next(osbtest.FetchInstance, fault)
			i := s.toAdopt(having(`{"size": 1}`))
			s.Create(i)
			s.HasCondition(i, api.ConditionReady, api.ConditionTrue, "Adopted")
			s.HasEvent(i, "FetchingFailed")
			assert.Len(t, s.broker.Calls(osbtest.Of(osbtest.FetchInstance)), 2)
		})
	}
}

// The mark says which one, and is for what was not made here.
func TestMarkWithoutAnID(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t, retrievable)
	i := s.db()
	i.Annotations = map[string]string{api.AnnotationAdopt: "true"}
	err := s.Client().Create(s.Context(), i)
	require.True(t, apierrors.IsInvalid(err), "%v", err)
	assert.ErrorContains(t, err, "does not say which it is")

	made := s.provisioned()
	made.Annotations[api.AnnotationAdopt] = "true"
	err = s.Client().Update(s.Context(), made)
	require.True(t, apierrors.IsInvalid(err), "the hooks see the mark alone, too: %v", err)
	assert.ErrorContains(t, err, "was made for it")
	s.end(made)
}

// wasThere: the broker has what the instance is to adopt. Its deletion removes it, as
// all of a crash goes in the end.
func wasThere(c *crash) {
	class := c.operation.class
	c.instance.Spec.ExternalID = c.Name("theirs")
	c.instance.Annotations = map[string]string{api.AnnotationAdopt: "true", api.AnnotationDeprovisionAdopted: "true"}
	c.broker.Add(osbtest.Instance{
		ID: c.Name("theirs"), ServiceID: class + "-" + c.Suffix, PlanID: class + "-small-" + c.Suffix,
		Organization: "another cluster", Space: "another namespace", Parameters: object{"size": 1.0},
	})
	c.Cleanup(func() { assert.Empty(c, c.broker.Calls(osbtest.Of(osbtest.Provision)), "what is adopted is not made") })
}

// adoptOperations are those of what is there already.
var adoptOperations = map[string]crashOperation{
	"Adopt": {
		reason: "an instance is looked at, and taken over", class: openClass, resource: ofInstances, prepare: wasThere, begin: toProvision,
		moments: crashMoments{
			"CallArrived": onCall(osbtest.FetchInstance), "BrokerAnswers": onAct(osbtest.FetchInstance),
			"BeforeOutcome": beforeWrite(concludes(osbtest.FetchInstance)), "AfterOutcome": afterWrite(concludes(osbtest.FetchInstance)),
		},
	},
	"AdoptShut": {
		reason: "an instance is taken over unseen", class: shutClass, resource: ofInstances, prepare: wasThere, begin: toProvision,
		variant: true, moments: crashMoments{"BeforeOutcome": beforeWrite(tells), "AfterOutcome": afterWrite(tells)},
	},
	"AdoptBinding": {
		reason: "credentials are fetched, and taken over", class: openClass, resource: ofBindings, prepare: wasBoundBefore, begin: toBind,
		moments: crashMoments{
			"CallArrived": onCall(osbtest.FetchBinding), "BrokerAnswers": onAct(osbtest.FetchBinding),
			"BeforeOutcome": beforeWrite(concludes(osbtest.FetchBinding)), "AfterOutcome": afterWrite(concludes(osbtest.FetchBinding)),
		}.and(atSecret),
	},
	"AdoptBindingShut": {
		reason: "a Secret that a user wrote is taken over", class: shutClass, resource: ofBindings, prepare: inTurn(wasBoundBefore, wasOffered), begin: toBind,
		moments: crashMoments{
			"BeforeSecret": beforeWrite(secretWrite(http.MethodPut)), "AfterSecret": afterWrite(secretWrite(http.MethodPut)),
			"BeforeOutcome": beforeWrite(tells), "AfterOutcome": afterWrite(tells),
		},
	},
}

// tells is any write of the status.
func tells(c *crash, w *apiproxy.Write) bool {
	return w.Resource == c.operation.resource && w.Status() != nil
}
