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
	adoptingBinding = scenario{kind: Binding, fetchable: true, adopting: true, foreign: "a"}
	trustingBinding = scenario{kind: Binding, adopting: true, foreign: "a"}
)

// given is what a fetch gave that was stored.
var given = CallResult{Found: &Found{}, Credentials: Stored}

// named are the facts of a sequence, with the name of its Secret.
func (a *sequence) named() Facts {
	f := a.facts()
	f.SecretName = "creds"
	return f
}

func TestBindingAdoptionSequences(t *testing.T) {
	t.Parallel()
	gone := osb.Error{Kind: osb.Gone, StatusCode: 404}
	for name, tc := range map[string]struct {
		reason string
		run    func(t *testing.T)
	}{
		"Equal": {"its credentials are fetched, and stored", func(t *testing.T) {
			a := newSequence(t, adoptingBinding)
			a.does(Fetch)
			require.Equal(t, specID, a.decision.Record.ID)
			a.responds(given)
			a.env.secret = true
			a.says(v1beta1.ConditionTrue, ReasonAdopted)
			require.Equal(t, DeprovisionNotRequired, a.resource.Record.DeprovisionStatus)
			require.Empty(t, a.resource.Record.Applied.MaintenanceVersion)
			a.does(Rest)
			a.resource.Generation++
			a.does(Rest)
			a.says(v1beta1.ConditionTrue, ReasonAdopted)
		}},
		"Empty": {"that the Secret is empty stays told", func(t *testing.T) {
			a := newSequence(t, adoptingBinding)
			a.does(Fetch).responds(CallResult{Found: &Found{}, Credentials: Stored, EmptyBecause: "there were none"})
			a.env.secret = true
			a.resource.Generation++
			a.does(Rest)
			assert.Equal(t, emptyMessage+"there were none", a.says(v1beta1.ConditionTrue, ReasonAdopted))
		}},
		"Absent": {"what is not there is not bound", func(t *testing.T) {
			a := newSequence(t, adoptingBinding)
			a.does(Fetch).fails(gone)
			message := a.says(v1beta1.ConditionFalse, ReasonNotAtBroker)
			assert.Contains(t, message, "no binding under the ID \""+specID)
			assert.Contains(t, message, "create it again")
			a.does(Rest)
			a.resource.Deleting, a.resource.DeprovisionAdopted = true, true
			a.does(Release)
			require.Empty(t, a.decision.Warning)
		}},
		"Different": {"its spec is final: the user makes another object", func(t *testing.T) {
			a := newSequence(t, adoptingBinding)
			a.does(Fetch).responds(CallResult{Found: &Found{Difference: `its parameter "role" has another value`}})
			message := a.says(v1beta1.ConditionFalse, reasonConflict)
			assert.Contains(t, message, `its parameter "role" has another value; nothing was changed: delete this object`)
			a.does(Rest)
		}},
		"FaultsOfTheBroker": {"it is asked again, however long that takes", func(t *testing.T) {
			a := newSequence(t, adoptingBinding)
			for _, e := range both(refusals, doubts) {
				a.does(Fetch).fails(e)
				a.says(v1beta1.ConditionFalse, reasonTold(t, e))
				require.False(t, a.resource.Record.failedForGood())
				a.now = a.now.Add(24 * time.Hour)
			}
			a.does(Fetch).crashes()
			a.does(Fetch).responds(given)
			a.says(v1beta1.ConditionTrue, ReasonAdopted)
		}},
		"NotGiven": {"a broker that gives credentials once has given them: a user supplies them", func(t *testing.T) {
			a := newSequence(t, adoptingBinding)
			a.doesWith(Fetch, a.named()).responds(CallResult{Found: &Found{}})
			assert.Contains(t, a.says(v1beta1.ConditionFalse, ReasonCredentialsMissing), `write them to the Secret "creds"`)
			a.does(Rest)
			a.env.secret = true
			a.does(Fetch).responds(given)
			a.says(v1beta1.ConditionTrue, ReasonAdopted)
		}},
		"LostAndFetched": {"a lost Secret is fetched again", func(t *testing.T) {
			a := newSequence(t, adoptingBinding)
			a.does(Fetch).responds(given)
			a.does(Fetch).responds(given)
			a.says(v1beta1.ConditionTrue, ReasonAdopted)
			a.does(Fetch).fails(gone)
			a.says(v1beta1.ConditionFalse, ReasonNotAtBroker)
			a.does(Rest)
		}},
		"LostAndNotFetchable": {"the catalog says otherwise now, and nothing is bound", func(t *testing.T) {
			a := newSequence(t, adoptingBinding)
			a.does(Fetch).responds(given)
			a.scenario.fetchable = false
			a.does(Rest)
			a.says(v1beta1.ConditionFalse, ReasonCredentialsMissing)
		}},
		"MarkTakenOff": {"then it is bound by the same request", func(t *testing.T) {
			a := newSequence(t, adoptingBinding)
			a.does(Fetch).fails(gone)
			a.resource.Adopting = false
			a.resource.Generation++
			a.does(Provision).answers(osb.Response{Created: true})
			require.Equal(t, DeprovisionRequired, a.resource.Record.DeprovisionStatus)
			a.resource.Adopting = true
			require.False(t, a.resource.Adopts(), "what was made is not adopted afterwards")
		}},
		"MarkAfterALostRequest": {"nothing is sent again: what came of it is looked at", func(t *testing.T) {
			a := newSequence(t, scenario{kind: Binding, foreign: "a"})
			a.does(Provision).crashes()
			a.resource.Adopting, a.scenario.fetchable = true, true
			a.does(Rest)
			a.now = a.now.Add(callTimeout)
			a.does(Fetch).responds(given)
			a.says(v1beta1.ConditionTrue, ReasonAdopted)
		}},
		"MarkOnAMinted": {"an ID that was made for it is its own, mark or not", func(t *testing.T) {
			a := newSequence(t, scenario{kind: Binding, minted: true, fetchable: true, adopting: true})
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

// reasonTold is the reason of a binding that could not be read.
func reasonTold(t *testing.T, e osb.Error) string {
	t.Helper()
	reason, _ := told(reasonFetch(Binding), &e)
	return reason
}

// A broker that cannot be asked is not: the credentials are those in the Secret, and where
// there are none, nothing is bound until a user writes them.
func TestBindingAdoptedOnTrust(t *testing.T) {
	t.Parallel()
	a := newSequence(t, trustingBinding)
	a.doesWith(Rest, a.named())
	message := a.says(v1beta1.ConditionFalse, ReasonCredentialsMissing)
	for _, part := range []string{`the Secret "creds"`, v1beta1.AnnotationCredentialsOf + "=" + specID, "without an owner", "create it again without ID"} {
		assert.Contains(t, message, part)
	}
	require.True(t, a.resource.Record.holds(v1beta1.ConditionFailed))
	require.True(t, a.decision.Event.Warning)
	a.does(Rest)
	require.Nil(t, a.decision.Event, "it is told once")

	a.env.secret = true
	a.does(Rest)
	require.Equal(t, ReasonAdoptedOnTrust, a.decision.Event.Reason)
	require.True(t, a.decision.Event.Warning)
	assert.Contains(t, a.says(v1beta1.ConditionTrue, ReasonAdoptedOnTrust), "bindings_retrievable")
	r := &a.resource.Record
	require.True(t, r.Exists)
	require.Equal(t, specID, r.ID)
	require.Equal(t, DeprovisionNotRequired, r.DeprovisionStatus)
	a.does(Rest)
	require.Nil(t, a.decision.Event)
	a.resource.Generation++
	a.does(Rest)
	a.says(v1beta1.ConditionTrue, ReasonAdoptedOnTrust)

	a.env.secret = false
	a.doesWith(Rest, a.named())
	assert.Contains(t, a.says(v1beta1.ConditionFalse, ReasonCredentialsMissing), "raise spec.rotation.requests", "it exists: others can be made beside it")
	lost := a.facts()
	lost.SecretLost, lost.Stored = true, true // a user wrote it again, and it was just taken over
	a.doesWith(Rest, lost)
	a.says(v1beta1.ConditionTrue, ReasonAdoptedOnTrust)

	a.resource.Deleting = true
	a.does(Release)
	require.NotEmpty(t, a.decision.Warning, "what is there stays, and that is said")
	a.resource.DeprovisionAdopted = true
	a.does(Deprovision)
}
