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
	adopting = scene{kind: Instance, fetchable: true, adopting: true}
	trusting = scene{kind: Instance, adopting: true}
)

// says holds the condition Ready of a tale's thing against a reason.
func (a *tale) says(status v1beta1.ConditionStatus, reason string) string {
	a.t.Helper()
	ready, _ := v1beta1.FindCondition(a.thing.Record.Conditions, v1beta1.ConditionReady)
	require.Equal(a.t, status, ready.Status, "%+v", ready)
	require.Equal(a.t, reason, ready.Reason, "%+v", ready)
	return ready.Message
}

func TestAdoptionTales(t *testing.T) {
	t.Parallel()
	gone := osb.Error{Kind: osb.Gone, StatusCode: 404}
	for name, tc := range map[string]struct {
		reason string
		tell   func(t *testing.T)
	}{
		"Equal": {"what is as asked for is taken over, with the version that the broker tells", func(t *testing.T) {
			a := newTale(t, adopting)
			a.does(Fetch).replies(Reply{Found: &Found{MaintenanceVersion: "1.0.0", DashboardURL: "https://there"}})
			a.says(v1beta1.ConditionTrue, ReasonAdopted)
			require.Equal(t, "1.0.0", a.thing.Record.Accepted.MaintenanceVersion)
			require.Equal(t, NotOwed, a.thing.Record.Owed)
			require.Equal(t, ReasonAdopted, a.outcome.Event.Reason)
			a.does(Rest)
		}},
		"VersionUntold": {"what the broker does not tell is not made up", func(t *testing.T) {
			a := newTale(t, adopting)
			a.decided = a.facts()
			a.decided.Ask.MaintenanceVersion = "2.0.0"
			a.doesWith(Fetch, a.decided).replies(Reply{Found: &Found{}})
			require.Empty(t, a.thing.Record.Accepted.MaintenanceVersion)
			require.Equal(t, Rest, Next(a.thing, a.decided).Step, "a version is for whoever asks for it")
			asked := a.decided
			asked.Ask = ask("a")
			asked.Ask.MaintenanceVersion, asked.Ask.UpdateRequests = "2.0.0", 1
			require.Equal(t, Change, Next(a.thing, asked).Step)
		}},
		"Absent": {"what is not there is not made, however often one looks", func(t *testing.T) {
			a := newTale(t, adopting)
			for range 3 {
				a.does(Fetch).fails(gone)
				assert.Contains(t, a.says(v1beta1.ConditionFalse, ReasonNotAtBroker), specID)
				require.True(t, a.thing.Record.failedForGood())
				a.does(Rest)
				a.edit()
			}
			a.does(Fetch).replies(Reply{Found: &Found{}})
			a.says(v1beta1.ConditionTrue, ReasonAdopted)
		}},
		"AbsentAndDeleted": {"nothing is there: nothing is asked, and nothing told", func(t *testing.T) {
			a := newTale(t, adopting)
			a.does(Fetch).fails(gone)
			a.thing.Deleting, a.thing.RemoveAdopted = true, true
			a.does(Release)
			require.Empty(t, a.decision.Warning)
		}},
		"Different": {"whose side is right is the user's to say", func(t *testing.T) {
			a := newTale(t, adopting)
			a.does(Fetch).replies(Reply{Found: &Found{Difference: "it is of another plan"}})
			message := a.says(v1beta1.ConditionFalse, reasonConflict)
			assert.Contains(t, message, "it is of another plan; nothing was changed: let spec say what is there")
			a.does(Rest)
			a.thing.Deleting = true
			a.does(Release)
		}},
		"FaultsOfTheBroker": {"it is asked again, and nothing is made meanwhile", func(t *testing.T) {
			a := newTale(t, adopting)
			for _, e := range both(refusals, doubts) {
				a.does(Fetch).fails(e)
				require.False(t, a.thing.Record.failedForGood())
				a.does(Rest)
				a.now = a.now.Add(24 * time.Hour)
			}
			a.does(Fetch).crashes()
			a.does(Fetch).replies(Reply{Found: &Found{}})
			a.says(v1beta1.ConditionTrue, ReasonAdopted)
		}},
		"MarkTakenOff": {"then it is an ID like any of a user's: what is not there is made", func(t *testing.T) {
			a := newTale(t, adopting)
			a.does(Fetch).fails(gone)
			a.thing.Adopting = false
			a.edit()
			a.does(Fetch).fails(gone)
			a.does(Make).answers(osb.Response{Created: true})
			require.Equal(t, IsOwed, a.thing.Record.Owed)
			a.thing.Adopting = true
			require.False(t, a.thing.Adopts(), "what was made is not adopted afterwards")
			a.thing.Deleting = true
			a.does(Remove)
		}},
		"MarkAfterALostRequest": {"nothing is sent again: what came of it is looked at", func(t *testing.T) {
			a := newTale(t, scene{kind: Instance})
			a.does(Make).crashes()
			a.thing.Adopting, a.scene.fetchable = true, true
			a.does(Rest)
			a.now = a.now.Add(callTimeout)
			a.does(Fetch).fails(gone)
			a.says(v1beta1.ConditionFalse, ReasonNotAtBroker)
			require.Equal(t, NoOperation, a.thing.Record.Operation)
		}},
		"MarkOnAMinted": {"an ID that was made for it is its own, mark or not", func(t *testing.T) {
			a := newTale(t, scene{kind: Instance, minted: true, fetchable: true, adopting: true})
			a.does(Make)
		}},
		"MarkOnABinding": {"it is for instances", func(t *testing.T) {
			a := newTale(t, scene{kind: Binding, fetchable: true, adopting: true})
			a.does(Make)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Log(tc.reason)
			tc.tell(t)
		})
	}
}

// A broker that cannot be asked is not: what it has is taken over unseen, and said so.
func TestAdoptedOnTrust(t *testing.T) {
	t.Parallel()
	a := newTale(t, trusting)
	a.does(Rest)
	require.Equal(t, ReasonAdoptedOnTrust, a.decision.Event.Reason)
	require.True(t, a.decision.Event.Warning)
	assert.Contains(t, a.says(v1beta1.ConditionTrue, ReasonAdoptedOnTrust), "instances_retrievable")
	r := &a.thing.Record
	require.True(t, r.Exists)
	require.Equal(t, specID, r.ID)
	require.Equal(t, NotOwed, r.Owed)

	a.does(Rest)
	require.Nil(t, a.decision.Event, "it is told once")
	a.thing.Generation++
	a.does(Rest)
	a.says(v1beta1.ConditionTrue, ReasonAdoptedOnTrust)

	a.edit()
	a.does(Change).answers(osb.Response{})
	a.thing.Deleting = true
	held := a.facts()
	held.Holders = []string{"creds"}
	a.doesWith(Rest, held)
	require.False(t, a.thing.Record.holds(v1beta1.ConditionReady), "its bindings go first")
	a.does(Release)
	require.NotEmpty(t, a.decision.Warning, "what is there stays, and that is said")
	a.thing.RemoveAdopted = true
	a.does(Remove)
}
