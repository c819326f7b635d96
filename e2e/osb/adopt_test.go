package osb_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// lost takes an instance out of the cluster and leaves it at the broker, as when a
// cluster is lost. What is returned is its backup, without status.
func (s *brokerEnv) lost(i *api.ServiceInstance) *api.ServiceInstance {
	s.Helper()
	backup := &api.ServiceInstance{
		ObjectMeta: metav1.ObjectMeta{Namespace: i.Namespace, Name: i.Name, Annotations: i.Annotations, Finalizers: i.Finalizers},
		Spec:       *i.Spec.DeepCopy(),
	}
	s.mark(i, api.AnnotationAbandon)
	s.Delete(i)
	s.Gone(i)
	require.Len(s, s.broker.Instances(), 1)
	return backup
}

func retrievable(s *setting) { s.service["instances_retrievable"] = true }

// A backup that is restored without status finds its database, and does not remove it
// when it is deleted: it is unknown that it created it.
func TestRestoredBackupIsAdopted(t *testing.T) {
	t.Parallel()
	for name, edits := range map[string][]func(*setting){"Fetched": {retrievable}, "PutAgain": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newBrokerEnv(t, edits...)
			i := s.lost(s.provisioned(having(`{"size": 1}`)))
			s.Create(i)
			ready := s.HasCondition(i, api.ConditionReady, api.ConditionTrue, "Adopted")
			assert.NotEmpty(t, ready.Message)
			assert.Equal(t, api.Provisioned, i.Status.ProvisionStatus)
			assert.Equal(t, api.DeprovisionNotRequired, i.Status.DeprovisionStatus)
			require.NotNil(t, i.Status.DashboardURL)
			assert.Empty(t, i.Annotations[api.AnnotationMintedExternalID], "the mark of a backup is worth nothing")
			assert.Equal(t, 1, s.only().Creates)
			fetches := s.broker.Calls(osbtest.Of(osbtest.FetchInstance))
			assert.Equal(t, name == "Fetched", len(fetches) == 1, "M8: what is not retrievable is not fetched")

			s.Change(i, func() { i.Spec.Parameters = env.RawJSON(`{"size": 2}`) })
			s.Ready(i)
			assert.Equal(t, object{"size": 2.0}, s.only().Parameters, "it can be used and changed")
			s.Delete(i)
			s.Gone(i)
			assert.Len(t, s.broker.Instances(), 1)
			assert.Empty(t, s.broker.Calls(osbtest.Of(osbtest.Deprovision)))
			s.HasEvent(i, "Abandoned")
		})
	}
}

// Who wants what was adopted to be removed says so.
func TestAdoptedIsRemovedIfAskedFor(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t, retrievable)
	i := s.lost(s.provisioned())
	i.Annotations[api.AnnotationDeprovisionAdopted] = "true"
	s.Create(i)
	s.HasCondition(i, api.ConditionReady, api.ConditionTrue, "Adopted")
	s.end(i)
	assert.Len(t, s.broker.Calls(osbtest.Of(osbtest.Deprovision)), 1)
}

// What is there under the ID and is not what was asked for stays as it is.
func TestAnotherUnderTheIDIsAConflict(t *testing.T) {
	t.Parallel()
	large := func(s *brokerEnv, i *api.ServiceInstance) { i.Spec.ClusterServicePlanExternalName = "large" }
	bigger := func(_ *brokerEnv, i *api.ServiceInstance) { i.Spec.Parameters = env.RawJSON(`{"size": 2}`) }
	for name, test := range map[string]struct {
		reason string
		edits  []func(*setting)
		edit   func(*brokerEnv, *api.ServiceInstance)
		says   string
	}{
		"FetchedPlan":       {reason: "another plan", edits: []func(*setting){retrievable}, edit: large, says: "another plan"},
		"FetchedParameters": {reason: "another value", edits: []func(*setting){retrievable}, edit: bigger, says: `parameter "size"`},
		"PutPlan":           {reason: "the broker says 409", edit: large, says: "something else"},
		"PutParameters":     {reason: "the broker says 409", edit: bigger, says: "something else"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newBrokerEnv(t, test.edits...)
			s.broker.Add(s.foreign("theirs"))
			i := s.db(having(`{"size": 1}`))
			i.Spec.ExternalID = s.Name("theirs")
			test.edit(s, i)
			s.Create(i)
			s.stalled(i, "ExternalIDConflict")
			ready, _ := api.FindCondition(i.Status.Conditions, api.ConditionReady)
			assert.Contains(t, ready.Message, test.says)
			s.Delete(i)
			s.Gone(i)
			assert.Equal(t, s.foreign("theirs").Parameters, s.only().Parameters)
			assert.Empty(t, s.broker.Calls(osbtest.Of(osbtest.Deprovision, osbtest.Update)))
		})
	}
}

// foreign is an instance of another platform.
func (s *brokerEnv) foreign(id string) osbtest.Instance {
	return osbtest.Instance{
		ID: s.Name(id), ServiceID: s.setting.service["id"].(string), PlanID: s.setting.small["id"].(string),
		Organization: "another cluster", Space: "another namespace", Parameters: object{"size": 1.0},
	}
}

// A conflict ends when the spec is mended: then the other is adopted.
func TestConflictEndsWithAnAgreeingSpec(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t, retrievable)
	s.broker.Add(s.foreign("theirs"))
	i := s.db(having(`{"size": 2}`))
	i.Spec.ExternalID = s.Name("theirs")
	s.Create(i)
	s.stalled(i, "ExternalIDConflict")
	s.Change(i, func() { i.Spec.Parameters = env.RawJSON(`{"size": 1}`) })
	s.HasCondition(i, api.ConditionReady, api.ConditionTrue, "Adopted")
	s.Delete(i)
	s.Gone(i)
	assert.Len(t, s.broker.Instances(), 1)
}

// An ID of one's own under which there is nothing is provisioned, and what was made is
// removed.
func TestOwnIDIsProvisioned(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t, retrievable)
	i := s.db()
	i.Spec.ExternalID = s.Name("chosen")
	s.Create(i)
	s.Ready(i)
	assert.Equal(t, s.Name("chosen"), s.only().ID)
	assert.Equal(t, api.DeprovisionRequired, i.Status.DeprovisionStatus)
	s.end(i)
}

// What comes of a try under such an ID is never cleaned up: it might be another's. The
// same request, sent again, finds out.
func TestOwnIDIsNeverMitigated(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]osbtest.Fault{
		"500": osbtest.Status(500, `{}`), "CutAfter": osbtest.CutAfter(), "Timeout": osbtest.Hang(), "NoContent204": osbtest.NoContent204(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newBrokerEnv(t, func(s *setting) { s.except = []string{"M10"} }) // that it is not removed is the point
			s.broker.Next(osbtest.Provision, fault)
			i := s.db()
			i.Spec.ExternalID = s.Name("chosen")
			s.Create(i)
			s.Ready(i)
			assert.Empty(t, s.broker.Calls(osbtest.Of(osbtest.Deprovision)))
			assert.Equal(t, s.Name("chosen"), s.only().ID)
			s.mark(i, api.AnnotationDeprovisionAdopted)
			s.end(i)
		})
	}
}

// A manifest that is copied to another namespace, ID and all, does not get at the
// original: not while it is there, and not after it was lost.
func TestCopiedManifestLeavesTheOriginalAlone(t *testing.T) {
	t.Parallel()
	for name, edits := range map[string][]func(*setting){"Fetched": {retrievable}, "PutAgain": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newBrokerEnv(t, edits...)
			elsewhere := newEnv(t)
			i := s.provisioned()
			duplicate := &api.ServiceInstance{
				ObjectMeta: metav1.ObjectMeta{Namespace: elsewhere.Namespace, Name: "copied", Annotations: i.Annotations, Finalizers: i.Finalizers},
				Spec:       *i.Spec.DeepCopy(), Status: *i.Status.DeepCopy(),
			}
			err := s.Client().Create(s.Context(), duplicate.DeepCopy())
			require.Error(t, err)
			assert.True(t, apierrors.IsInvalid(err), "%v", err)

			s.lost(i)
			s.Create(duplicate)
			if name == "Fetched" { // it may be looked at
				s.HasCondition(duplicate, api.ConditionReady, api.ConditionTrue, "Adopted")
			} else { // another namespace is another attribute
				s.stalled(duplicate, "ExternalIDConflict")
			}
			s.Delete(duplicate)
			s.Gone(duplicate)
			assert.Len(t, s.broker.Instances(), 1)
			assert.Empty(t, s.broker.Calls(osbtest.Of(osbtest.Deprovision)))
		})
	}
}
