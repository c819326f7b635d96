package osb_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// People and scripts wait with kubectl, for better and for worse.
func TestKubectlWait(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	s.broker.Async(osbtest.Provision, 1)
	s.Create(s.db())
	printed := s.Kubectl("", "wait", "--for=condition=Ready", "--timeout=30s", "serviceinstance/mydb")
	assert.Contains(t, printed, "condition met")
	s.broker.Next(osbtest.Update, osbtest.Status(400, `{}`))
	s.Kubectl("", "patch", "serviceinstance", "mydb", "--type=merge", "-p", `{"spec": {"parameters": {"size": 1}}}`)
	s.Kubectl("", "wait", "--for=condition=Failed", "--timeout=30s", "serviceinstance/mydb")
	s.Kubectl("", "wait", "--for=condition=Stalled", "--timeout=30s", "serviceinstance/mydb")
	s.Kubectl("", "delete", "serviceinstance", "mydb", "--wait", "--timeout=30s")
	assert.Empty(t, s.broker.Instances())
}

// Old clients read their old fields.
func TestStatusForOldClients(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	recorded, i := s.record("mydb"), s.provisioned(having(`{"size": 1}`))
	versions := recorded.until(s.testEnv, i)
	during := versions[1].Status
	assert.Equal(t, api.InstanceProvision, during.CurrentOperation)
	assert.Equal(t, api.DeprovisionRequired, during.DeprovisionStatus, "once a call may have been made")
	assert.Empty(t, during.ProvisionStatus)
	require.NotNil(t, during.OperationStartTime)
	require.NotNil(t, during.InProgressProperties)
	assert.Equal(t, "small", during.InProgressProperties.ClusterServicePlanExternalName)
	assert.Nil(t, during.ExternalProperties)
	assert.Zero(t, during.ReconciledGeneration)

	status := i.Status
	assert.Equal(t, int64(1), status.ObservedGeneration)
	assert.Equal(t, int64(1), status.ReconciledGeneration)
	assert.Equal(t, api.Provisioned, status.ProvisionStatus)
	assert.Equal(t, api.DeprovisionRequired, status.DeprovisionStatus)
	assert.Equal(t, "Ready", status.LastConditionState)
	assert.Equal(t, s.Name("db"), status.UserSpecifiedClassName)
	assert.Equal(t, "small", status.UserSpecifiedPlanName)
	require.NotNil(t, status.ExternalProperties)
	assert.Equal(t, "small", status.ExternalProperties.ClusterServicePlanExternalName)
	assert.Equal(t, s.setting.small["id"], status.ExternalProperties.ClusterServicePlanExternalID)
	assert.JSONEq(t, `{"size": 1}`, string(status.ExternalProperties.Parameters.Raw))
	assert.Len(t, status.ExternalProperties.ParameterChecksum, 64)
	require.NotNil(t, status.ExternalProperties.UserInfo)
	assert.NotEmpty(t, status.ExternalProperties.UserInfo.Username)
	assert.Nil(t, status.InProgressProperties)
	require.NotNil(t, status.DashboardURL)
	assert.Contains(t, *status.DashboardURL, i.Spec.ExternalID)

	s.broker.Next(osbtest.Update, osbtest.Status(400, `{}`))
	s.Change(i, func() { i.Spec.Parameters = env.RawJSON(`{"size": 2}`) })
	s.stalled(i, "UpdateInstanceCallFailed")
	assert.Equal(t, int64(2), i.Status.ObservedGeneration)
	assert.Equal(t, int64(1), i.Status.ReconciledGeneration)
	assert.JSONEq(t, `{"size": 1}`, string(i.Status.ExternalProperties.Parameters.Raw))
	s.end(i)
}

// As few writes as the truth allows: what may be done, and what came of it.
func TestWritesOfAnInstance(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	recorded, i := s.record("mydb"), s.provisioned(having(`{"size": 1}`))
	assert.Len(t, recorded.until(s.testEnv, i), 3, "the creation, the intent and the outcome")
	assert.Equal(t, []string{"Unknown ProvisionRequestInFlight", "True ProvisionedSuccessfully"}, recorded.told(s.testEnv, i))
	event := s.HasEvent(i, "ProvisionedSuccessfully")
	assert.Equal(t, corev1.EventTypeNormal, event.Type)

	s.Change(i, func() { i.Spec.Parameters = env.RawJSON(`{"size": 2}`) })
	s.Ready(i)
	assert.Len(t, recorded.until(s.testEnv, i), 6, "the edit, the intent and the outcome")

	s.Change(i, func() { i.Labels = map[string]string{"touched": "1"} })
	s.broker.Next(osbtest.Update, osbtest.AsyncDone(3))
	s.Change(i, func() { i.Spec.Parameters = env.RawJSON(`{"size": 3}`) })
	s.Ready(i)
	assert.Len(t, recorded.until(s.testEnv, i), 12, "the label, the edit, the intent, the 202, what the broker says, and the outcome")

	before := len(s.broker.Calls())
	s.Delete(i)
	s.Gone(i)
	assert.Len(t, s.broker.Calls(), before+1)
}

// One that fails again and again says the same all the time, and since when.
func TestConditionsDoNotFlap(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason string
		fault  osbtest.Fault
		says   string
	}{
		"Refused":   {reason: "the same is tried again", fault: osbtest.Status(404, `{}`), says: "ProvisionCallFailed"},
		"Mitigated": {reason: "another is made after a clean-up", fault: osbtest.Status(500, `{}`), says: "ProvisionCallFailed"},
		"Cut":       {reason: "as above, after a while", fault: osbtest.CutAfter(), says: "ErrorCallingProvision"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newBrokerEnv(t)
			s.broker.Next(osbtest.Provision, test.fault, test.fault, test.fault)
			recorded, i := s.record("mydb"), s.provisioned()
			assert.Equal(t, []string{"Unknown ProvisionRequestInFlight", "False " + test.says, "True ProvisionedSuccessfully"}, recorded.told(s.testEnv, i))
			var since []string
			for _, version := range recorded.until(s.testEnv, i) {
				ready, _ := api.FindCondition(version.Status.Conditions, api.ConditionReady)
				if ready.Status == api.ConditionFalse {
					since = append(since, ready.LastTransitionTime.String())
					reconciling, _ := api.FindCondition(version.Status.Conditions, api.ConditionReconciling)
					assert.Equal(t, api.ConditionTrue, reconciling.Status, "kstatus: in progress")
				}
			}
			assert.Len(t, slices.Compact(since), 1)
			s.end(i)
		})
	}
}

// So does a deletion, and an update.
func TestConditionsDoNotFlapLater(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	i := s.provisioned()
	recorded := s.record("mydb")
	fault := osbtest.Status(500, `{}`)
	s.broker.Next(osbtest.Update, fault, fault, fault)
	s.Change(i, func() { i.Spec.Parameters = env.RawJSON(`{"size": 2}`) })
	s.Ready(i)
	told := recorded.told(s.testEnv, i)
	assert.Equal(t, []string{"Unknown UpdateInstanceRequestInFlight", "False UpdateInstanceCallFailed", "True InstanceUpdatedSuccessfully"}, told[len(told)-3:])

	s.broker.Next(osbtest.Deprovision, fault, fault, fault)
	s.Delete(i)
	s.HasCondition(i, api.ConditionReady, api.ConditionFalse, "DeprovisionCallFailed")
	s.Becomes(i, func() bool { return i.Status.Retries == 3 })
	told = recorded.told(s.testEnv, i)
	assert.Equal(t, []string{"Unknown DeprovisionRequestInFlight", "False DeprovisionCallFailed"}, told[len(told)-2:])
	s.Gone(i)
}
