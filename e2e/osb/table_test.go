package osb_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A row is one of the table of orphan mitigation (OSB.md 1.15), or what its rows sum up.
type row struct {
	reason string
	// faults are those of the verb's first calls, and polls those of the first polls.
	faults, polls []osbtest.Fault
	// says is why it is not Ready meanwhile; empty: nothing is said of it.
	says string
	// mitigated says that what may be there is removed, and made under another ID; kept
	// that it is under the same, because the broker answered all of it.
	mitigated, kept bool
	// failed says that it is not tried again until the spec changes.
	failed bool
}

// script has a broker do as the row says.
func (r *row) script(broker *osbtest.Broker, verb osbtest.Verb) {
	broker.Next(verb, r.faults...)
	broker.Next(osbtest.PollInstance, r.polls...)
}

func faults(all ...osbtest.Fault) []osbtest.Fault { return all }

const redirected = "https://elsewhere.example/"

func async() osbtest.Fault { return osbtest.AsyncDone(0) }

func TestTableProvision(t *testing.T) {
	t.Parallel()
	const refused, silent = "ProvisionCallFailed", "ErrorCallingProvision"
	rows := map[string]row{
		"WellFormed200":        {reason: "the same was there already", faults: faults(osbtest.Status(200, `{}`))},
		"WellFormed202":        {reason: "and polls", faults: faults(osbtest.AsyncDone(1))},
		"Malformed200":         {reason: "no orphan can be where something was before", faults: faults(osbtest.Status(200, `{"x`)), says: refused},
		"Malformed201":         {reason: "it was made", faults: faults(osbtest.Malformed()), says: refused, mitigated: true, kept: true},
		"WrongType201":         {reason: "lawful JSON of other types is malformed too", faults: faults(osbtest.WrongType()), says: refused, mitigated: true, kept: true},
		"Malformed202":         {reason: "it may be in the making", faults: faults(osbtest.Status(202, `[]`)), says: refused, mitigated: true},
		"Oversized201":         {reason: "what is too long cannot be read", faults: faults(osbtest.Oversized(5 << 20)), says: refused, mitigated: true, kept: true},
		"NoContent204":         {reason: "another 2xx", faults: faults(osbtest.NoContent204()), says: refused, mitigated: true, kept: true},
		"Redirect":             {reason: "it is unknown who acted", faults: faults(osbtest.Redirect(307, redirected)), says: refused, mitigated: true},
		"BadRequest400":        {reason: "refused for good", faults: faults(osbtest.Status(400, `{"description": "no"}`)), says: refused, failed: true},
		"Unauthorized401":      {reason: "the credentials may be mended", faults: faults(osbtest.Status(401, `{}`)), says: "AuthFailed"},
		"Forbidden403":         {reason: "some brokers say it so", faults: faults(osbtest.Status(403, `{}`)), says: "AuthFailed"},
		"NotFound404":          {reason: "the broker may be on its way", faults: faults(osbtest.Status(404, `nothing`)), says: refused},
		"RequestTimeout408":    {reason: "since 2.14 no orphan", faults: faults(osbtest.Status(408, `{}`)), says: refused},
		"Conflict409":          {reason: "there is something else, and it cannot be fetched", faults: faults(osbtest.Status(409, `{}`)), says: "ExternalIDConflict", failed: true},
		"Gone410":              {reason: "it makes no sense, and is no orphan", faults: faults(osbtest.Status(410, `{}`)), says: refused},
		"PreconditionFail412":  {reason: "the broker may be upgraded", faults: faults(osbtest.Status(412, `{}`)), says: refused},
		"Unprocessable422":     {reason: "refused for good", faults: faults(osbtest.Status(422, `{}`)), says: refused, failed: true},
		"AsyncRequired422":     {reason: "although it was accepted", faults: faults(osbtest.Status(422, `{"error": "AsyncRequired"}`)), says: refused},
		"ConcurrencyError422":  {reason: "wait, and try again", faults: faults(osbtest.ConcurrencyError()), says: refused},
		"TooManyRequests429":   {reason: "not now", faults: faults(osbtest.Status(429, `{}`)), says: refused},
		"InternalError500":     {reason: "it may be there", faults: faults(osbtest.Status(500, `{}`)), says: refused, mitigated: true},
		"InternalError500Made": {reason: "and it is there", faults: faults(osbtest.Status(500, `{}`).Acting()), says: refused, mitigated: true, kept: true},
		"Unavailable503":       {reason: "503 is a 5xx", faults: faults(osbtest.Status(503, `{}`)), says: refused, mitigated: true},
		"Timeout":              {reason: "no answer", faults: faults(osbtest.Hang()), says: silent, mitigated: true},
		"CutBefore":            {reason: "it is unknown that it did nothing", faults: faults(osbtest.CutBefore()), says: silent, mitigated: true},
		"CutAfter":             {reason: "it is unknown that it exists", faults: faults(osbtest.CutAfter()), says: silent, mitigated: true},
		"CutMiddle":            {reason: "half an answer is none", faults: faults(osbtest.CutMiddle()), says: refused, mitigated: true},
		"PollFailed":           {reason: "what is left is removed", faults: faults(osbtest.AsyncFailed(1)), says: refused, mitigated: true, failed: true},
		"PollMalformed":        {reason: "it goes on, for all we know", faults: faults(async()), polls: faults(osbtest.Status(200, `null`))},
		"PollUnknownState":     {reason: "it goes on, for all we know", faults: faults(async()), polls: faults(osbtest.Status(200, `{"state": "weird"}`))},
		"Poll400":              {reason: "it goes on, for all we know", faults: faults(async()), polls: faults(osbtest.Status(400, `{}`))},
		"Poll404":              {reason: "it goes on, for all we know", faults: faults(async()), polls: faults(osbtest.Status(404, `{}`))},
		"Poll410":              {reason: "gone means success only of deletions", faults: faults(async()), polls: faults(osbtest.Status(410, `{}`))},
		"Poll500":              {reason: "it goes on, for all we know", faults: faults(async()), polls: faults(osbtest.Status(500, `{}`))},
		"PollCut":              {reason: "it goes on, for all we know", faults: faults(async()), polls: faults(osbtest.CutAfter())},
		"PollTimeout":          {reason: "it goes on, for all we know", faults: faults(async()), polls: faults(osbtest.Hang())},
	}
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newBrokerEnv(t).provisions(&r)
		})
	}
}

// provisions takes an instance through a row, and ends it.
func (s *brokerEnv) provisions(r *row) {
	r.script(s.broker, osbtest.Provision)
	recorded, i := s.record("mydb"), s.db()
	s.Create(i)
	if r.failed {
		s.stalled(i, r.says)
		s.Becomes(i, func() bool { return !i.Status.OrphanMitigationInProgress })
		s.Change(i, func() { i.Spec.Parameters = env.RawJSON(`{"size": 2}`) })
	}
	s.Ready(i)
	s.tells(r, recorded, i)
	assert.Equal(s, r.mitigated && !r.kept, i.Status.ExternalID != i.Spec.ExternalID, "a fresh ID follows what may still arrive")
	assert.Equal(s, i.Status.ExternalID, s.last(osbtest.Provision).InstanceID)
	if _, made := s.broker.Instances()[i.Status.ExternalID]; made { // not if it was said only
		s.only()
	}
	_, left := api.FindCondition(i.Status.Conditions, api.ConditionOrphanMitigation)
	assert.False(s, left)
	s.end(i)
}

// tells asserts what a row says of status and of mitigations.
func (s *brokerEnv) tells(r *row, recorded *recording, i *api.ServiceInstance) {
	s.Helper()
	told := recorded.told(s.testEnv, i)
	if r.says != "" {
		assert.Contains(s, told, "False "+r.says)
	} else {
		assert.False(s, slices.ContainsFunc(told, func(text string) bool { return text[:1] == "F" }), "%v", told)
	}
	mitigations := s.broker.Mitigations()
	if !r.mitigated {
		assert.Empty(s, mitigations)
		return
	}
	require.Len(s, mitigations, 1)
	assert.True(s, mitigations[0].Done, mitigations[0].Why)
	for _, call := range s.broker.Calls(osbtest.Of(osbtest.Deprovision)) {
		assert.Nil(s, call.Identity, "a mitigation has no requester")
	}
}

// last is the last call of a verb.
func (s *brokerEnv) last(verb osbtest.Verb) osbtest.Call {
	s.Helper()
	calls := s.broker.Calls(osbtest.Of(verb))
	require.NotEmpty(s, calls)
	return calls[len(calls)-1]
}

func TestTableUpdate(t *testing.T) {
	t.Parallel()
	const refused, silent = "UpdateInstanceCallFailed", "ErrorCallingUpdateInstance"
	rows := map[string]row{
		"WellFormed202":       {reason: "and polls", faults: faults(osbtest.AsyncDone(1))},
		"Malformed200":        {reason: "a failure", faults: faults(osbtest.Malformed()), says: refused},
		"Created201":          {reason: "an update makes nothing", faults: faults(osbtest.Status(201, `{}`)), says: refused},
		"Malformed202":        {reason: "a failure", faults: faults(osbtest.Status(202, `[]`)), says: refused},
		"NoContent204":        {reason: "never an orphan", faults: faults(osbtest.NoContent204()), says: refused},
		"Redirect":            {reason: "never an orphan", faults: faults(osbtest.Redirect(302, redirected)), says: refused},
		"BadRequest400":       {reason: "refused for good", faults: faults(osbtest.Status(400, `{}`)), says: refused, failed: true},
		"Unauthorized401":     {reason: "the credentials may be mended", faults: faults(osbtest.Status(401, `{}`)), says: "AuthFailed"},
		"NotFound404":         {reason: "rejected", faults: faults(osbtest.Status(404, `{}`)), says: refused},
		"RequestTimeout408":   {reason: "rejected", faults: faults(osbtest.Status(408, `{}`)), says: refused},
		"Unprocessable422":    {reason: "refused for good", faults: faults(osbtest.Status(422, `{}`)), says: refused, failed: true},
		"ConcurrencyError422": {reason: "wait, and try again", faults: faults(osbtest.ConcurrencyError()), says: refused},
		"InternalError500":    {reason: "never an orphan", faults: faults(osbtest.Status(500, `{}`)), says: refused},
		"NotRepeatable500":    {reason: "P65: the same update would fail again", faults: faults(osbtest.Status(500, `{"update_repeatable": false}`)), says: refused, failed: true},
		"Timeout":             {reason: "remember, and try again", faults: faults(osbtest.Hang()), says: silent},
		"CutBefore":           {reason: "remember, and try again", faults: faults(osbtest.CutBefore()), says: silent},
		"CutAfter":            {reason: "remember, and try again", faults: faults(osbtest.CutAfter()), says: silent},
		"CutMiddle":           {reason: "remember, and try again", faults: faults(osbtest.CutMiddle()), says: refused},
		"PollFailed":          {reason: "it is as it was", faults: faults(osbtest.AsyncFailed(1)), says: refused, failed: true},
		"Poll404":             {reason: "it goes on, for all we know", faults: faults(async()), polls: faults(osbtest.Status(404, `{}`))},
		"Poll410":             {reason: "it goes on, for all we know", faults: faults(async()), polls: faults(osbtest.Status(410, `{}`))},
		"Poll500":             {reason: "it goes on, for all we know", faults: faults(async()), polls: faults(osbtest.Status(500, `{}`))},
		"PollTimeout":         {reason: "it goes on, for all we know", faults: faults(async()), polls: faults(osbtest.Hang())},
	}
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newBrokerEnv(t).updates(&r)
		})
	}
}

// updates takes an instance through a row of an update, and ends it.
func (s *brokerEnv) updates(r *row) {
	i := s.provisioned(having(`{"size": 1}`))
	r.script(s.broker, osbtest.Update)
	recorded := s.record("mydb")
	s.Change(i, func() { i.Spec.Parameters = env.RawJSON(`{"size": 2}`) })
	if r.failed {
		s.stalled(i, r.says)
		s.Change(i, func() { i.Spec.Parameters = env.RawJSON(`{"size": 3}`) })
	}
	s.Ready(i)
	s.tells(r, recorded, i)
	assert.Equal(s, i.Spec.ExternalID, i.Status.ExternalID, "an update changes no ID")
	assert.JSONEq(s, string(i.Spec.Parameters.Raw), string(i.Status.ExternalProperties.Parameters.Raw))
	s.only()
	s.end(i)
}

func TestTableDeprovision(t *testing.T) {
	t.Parallel()
	rows := map[string]row{
		"WellFormed202":       {reason: "and polls", faults: faults(osbtest.AsyncDone(1))},
		"Malformed200":        {reason: "it was not sent to its end: removed again", faults: faults(osbtest.Malformed())},
		"Created201":          {reason: "another 2xx: removed again", faults: faults(osbtest.Status(201, `{}`)), mitigated: true},
		"Malformed202":        {reason: "a failure: removed again", faults: faults(osbtest.Status(202, `[]`))},
		"NoContent204":        {reason: "another 2xx: removed again", faults: faults(osbtest.NoContent204()), mitigated: true},
		"Redirect":            {reason: "a failure: removed again", faults: faults(osbtest.Redirect(302, redirected))},
		"BadRequest400":       {reason: "a deletion is never given up", faults: faults(osbtest.Status(400, `{}`))},
		"Unauthorized401":     {reason: "the credentials may be mended", faults: faults(osbtest.Status(401, `{}`))},
		"RequestTimeout408":   {reason: "a deletion is never given up", faults: faults(osbtest.Status(408, `{}`))},
		"Unprocessable422":    {reason: "a deletion is never given up", faults: faults(osbtest.Status(422, `{}`))},
		"ConcurrencyError422": {reason: "wait, and try again", faults: faults(osbtest.ConcurrencyError())},
		"InternalError500":    {reason: "removed again", faults: faults(osbtest.Status(500, `{}`)), mitigated: true},
		"Timeout":             {reason: "remember, and try again", faults: faults(osbtest.Hang())},
		"CutBefore":           {reason: "remember, and try again", faults: faults(osbtest.CutBefore())},
		"CutAfter":            {reason: "the next is told that it is gone", faults: faults(osbtest.CutAfter())},
		"PollFailed":          {reason: "removed again", faults: faults(osbtest.AsyncFailed(1)), mitigated: true},
		"Poll404":             {reason: "it goes on, for all we know", faults: faults(async()), polls: faults(osbtest.Status(404, `{}`))},
		"Poll404ForLong":      {reason: "the broker does not know the operation: it is requested again", faults: faults(osbtest.AsyncLost(osbtest.Status(404, `{}`), 3))},
		"Poll410":             {reason: "gone is success", faults: faults(async()), polls: faults(osbtest.Status(410, `{}`).Acting())},
		"Poll500":             {reason: "it goes on, for all we know", faults: faults(async()), polls: faults(osbtest.Status(500, `{}`))},
		"PollTimeout":         {reason: "it goes on, for all we know", faults: faults(async()), polls: faults(osbtest.Hang())},
	}
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newBrokerEnv(t).deprovisions(&r)
		})
	}
}

// deprovisions takes an instance through a row of its deletion.
func (s *brokerEnv) deprovisions(r *row) {
	i := s.provisioned()
	r.script(s.broker, osbtest.Deprovision)
	s.end(i)
	mitigations := s.broker.Mitigations()
	assert.Equal(s, r.mitigated, len(mitigations) == 1, "%v", mitigations)
	assert.Empty(s, s.broker.Orphans())
	for _, call := range s.broker.Calls(osbtest.Of(osbtest.Deprovision)) {
		assert.NotNil(s, call.Identity, "the user wished it")
		assert.Equal(s, i.Spec.ExternalID, call.InstanceID)
	}
}

// The answers that end a deletion although something may be left: the broker's word is
// taken.
func TestTableDeprovisionOfWhatIsGone(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]osbtest.Fault{"Gone410": osbtest.Status(410, `Gone`), "NotFound404": osbtest.Status(404, `{}`), "Empty200": osbtest.Status(200, ``)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newBrokerEnv(t)
			i := s.provisioned()
			require.True(t, s.broker.Lose(i.Status.ExternalID))
			s.broker.Next(osbtest.Deprovision, fault)
			s.end(i)
			calls := 1
			if name == "NotFound404" {
				calls = 2 // believed once the catalog was read: the address is right
			}
			assert.Len(t, s.broker.Calls(osbtest.Of(osbtest.Deprovision)), calls)
		})
	}
}
