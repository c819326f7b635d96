package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
)

var (
	adopting = scenario{kind: Instance, fetchable: true, adopting: true}
	trusting = scenario{kind: Instance, adopting: true}
)

// says holds the condition Ready of a sequence's resource against a reason.
func (a *sequence) says(status v1beta1.ConditionStatus, reason string) string {
	a.t.Helper()
	ready, _ := v1beta1.FindCondition(a.resource.Record.Conditions, v1beta1.ConditionReady)
	require.Equal(a.t, status, ready.Status, "%+v", ready)
	require.Equal(a.t, reason, ready.Reason, "%+v", ready)
	return ready.Message
}

func TestAdoptionSequences(t *testing.T) {
	t.Parallel()
	gone := osb.Error{Kind: osb.Gone, StatusCode: 404}
	for name, tc := range map[string]struct {
		reason string
		run    func(t *testing.T)
	}{
		"Equal": {"what is as asked for is taken over, with the version that the broker tells", func(t *testing.T) {
			a := newSequence(t, adopting)
			a.does(Fetch).responds(CallResult{Found: &Found{MaintenanceVersion: "1.0.0", DashboardURL: "https://there"}})
			a.says(v1beta1.ConditionTrue, ReasonAdopted)
			require.Equal(t, "1.0.0", a.resource.Record.Applied.MaintenanceVersion)
			require.Equal(t, DeprovisionNotRequired, a.resource.Record.DeprovisionStatus)
			require.Equal(t, ReasonAdopted, a.outcome.Event.Reason)
			a.does(Rest)
		}},
		"VersionUntold": {"what the broker does not tell is not made up", func(t *testing.T) {
			a := newSequence(t, adopting)
			a.decided = a.facts()
			a.decided.Desired.MaintenanceVersion = "2.0.0"
			a.doesWith(Fetch, a.decided).responds(CallResult{Found: &Found{}})
			require.Empty(t, a.resource.Record.Applied.MaintenanceVersion)
			require.Equal(t, Rest, Next(a.resource, a.decided).Step, "a version is sent only if it is requested")
			asked := a.decided
			asked.Desired = desired("a")
			asked.Desired.MaintenanceVersion, asked.Desired.UpdateRequests = "2.0.0", 1
			require.Equal(t, Update, Next(a.resource, asked).Step)
		}},
		"Absent": {"what is not there is not made, however often one looks", func(t *testing.T) {
			a := newSequence(t, adopting)
			for range 3 {
				a.does(Fetch).fails(gone)
				assert.Contains(t, a.says(v1beta1.ConditionFalse, ReasonNotAtBroker), specID)
				require.True(t, a.resource.Record.failedForGood())
				a.does(Rest)
				a.edit()
			}
			a.does(Fetch).responds(CallResult{Found: &Found{}})
			a.says(v1beta1.ConditionTrue, ReasonAdopted)
		}},
		"AbsentAndDeleted": {"nothing is there: nothing is asked, and nothing told", func(t *testing.T) {
			a := newSequence(t, adopting)
			a.does(Fetch).fails(gone)
			a.resource.Deleting, a.resource.DeprovisionAdopted = true, true
			a.does(Release)
			require.Empty(t, a.decision.Warning)
		}},
		"Different": {"whose side is right is the user's to say", func(t *testing.T) {
			a := newSequence(t, adopting)
			a.does(Fetch).responds(CallResult{Found: &Found{Difference: "it is of another plan"}})
			message := a.says(v1beta1.ConditionFalse, reasonConflict)
			assert.Contains(t, message, "it is of another plan; nothing was changed: let spec say what is there")
			a.does(Rest)
			a.resource.Deleting = true
			a.does(Release)
		}},
		"FaultsOfTheBroker": {"it is asked again, and nothing is made meanwhile", func(t *testing.T) {
			a := newSequence(t, adopting)
			for _, e := range both(refusals, doubts) {
				a.does(Fetch).fails(e)
				require.False(t, a.resource.Record.failedForGood())
				a.does(Rest)
				a.now = a.now.Add(24 * time.Hour)
			}
			a.does(Fetch).crashes()
			a.does(Fetch).responds(CallResult{Found: &Found{}})
			a.says(v1beta1.ConditionTrue, ReasonAdopted)
		}},
		"MarkTakenOff": {"then it is an ID like any of a user's: what is not there is made", func(t *testing.T) {
			a := newSequence(t, adopting)
			a.does(Fetch).fails(gone)
			a.resource.Adopting = false
			a.edit()
			a.does(Fetch).fails(gone)
			a.does(Provision).answers(osb.Response{Created: true})
			require.Equal(t, DeprovisionRequired, a.resource.Record.DeprovisionStatus)
			a.resource.Adopting = true
			require.False(t, a.resource.Adopts(), "what was made is not adopted afterwards")
			a.resource.Deleting = true
			a.does(Deprovision)
		}},
		"MarkAfterALostRequest": {"nothing is sent again: what came of it is looked at", func(t *testing.T) {
			a := newSequence(t, scenario{kind: Instance})
			a.does(Provision).crashes()
			a.resource.Adopting, a.scenario.fetchable = true, true
			a.does(Rest)
			a.now = a.now.Add(callTimeout)
			a.does(Fetch).fails(gone)
			a.says(v1beta1.ConditionFalse, ReasonNotAtBroker)
			require.Equal(t, NoOperation, a.resource.Record.Operation)
		}},
		"MarkOnAMinted": {"an ID that was made for it is its own, mark or not", func(t *testing.T) {
			a := newSequence(t, scenario{kind: Instance, minted: true, fetchable: true, adopting: true})
			a.does(Provision)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Log(tc.reason)
			tc.run(t)
		})
	}
}

// A broker that cannot be asked is not: what it has is taken over unseen, and said so.
func TestAdoptedOnTrust(t *testing.T) {
	t.Parallel()
	a := newSequence(t, trusting)
	a.does(Rest)
	require.Equal(t, ReasonAdoptedOnTrust, a.decision.Event.Reason)
	require.True(t, a.decision.Event.Warning)
	assert.Contains(t, a.says(v1beta1.ConditionTrue, ReasonAdoptedOnTrust), "instances_retrievable")
	r := &a.resource.Record
	require.True(t, r.Exists)
	require.Equal(t, specID, r.ID)
	require.Equal(t, DeprovisionNotRequired, r.DeprovisionStatus)

	a.does(Rest)
	require.Nil(t, a.decision.Event, "it is told once")
	a.resource.Generation++
	a.does(Rest)
	a.says(v1beta1.ConditionTrue, ReasonAdoptedOnTrust)

	a.edit()
	a.does(Update).answers(osb.Response{})
	a.resource.Deleting = true
	held := a.facts()
	held.Holders = []string{"creds"}
	a.doesWith(Rest, held)
	require.False(t, a.resource.Record.holds(v1beta1.ConditionReady), "its bindings go first")
	a.does(Release)
	require.NotEmpty(t, a.decision.Warning, "what is there stays, and that is said")
	a.resource.DeprovisionAdopted = true
	a.does(Deprovision)
}
