package osb_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A bindRow is one of the table of orphan mitigation (OSB.md 1.15), for bindings.
type bindRow struct {
	reason string
	// faults are those of the first binds, polls and fetches those of the calls after.
	faults, polls, fetches []osbtest.Fault
	// says is why it is not Ready meanwhile; empty: nothing is said of it.
	says string
	// mitigated says that what may be there is removed, and made under another ID; kept
	// that it is under the same, because the broker answered all of it.
	mitigated, kept bool
	// failed says that it is not tried again.
	failed bool
}

const bindRefused, bindSilent = "BindCallFailed", "ErrorCallingBind"

func TestTableBind(t *testing.T) {
	t.Parallel()
	rows := map[string]bindRow{
		"Created201":          {reason: "at once"},
		"WellFormed200":       {reason: "the same was there already", faults: faults(osbtest.Status(200, `{"credentials": {"user": "u"}}`))},
		"WellFormed202":       {reason: "and polls, and asks again for the credentials", faults: faults(osbtest.AsyncDone(1))},
		"Malformed200":        {reason: "no orphan can be where something was before", faults: faults(osbtest.Status(200, `{"x`)), says: bindRefused},
		"Malformed201":        {reason: "it was made", faults: faults(osbtest.Malformed()), says: bindRefused, mitigated: true, kept: true},
		"WrongType201":        {reason: "lawful JSON of other types is malformed too", faults: faults(osbtest.WrongType()), says: bindRefused, mitigated: true, kept: true},
		"Malformed202":        {reason: "it may be in the making", faults: faults(osbtest.Status(202, `[]`)), says: bindRefused, mitigated: true},
		"Oversized201":        {reason: "what is too long cannot be read", faults: faults(osbtest.Oversized(5 << 20)), says: bindRefused, mitigated: true, kept: true},
		"NoContent204":        {reason: "another 2xx", faults: faults(osbtest.NoContent204()), says: bindRefused, mitigated: true, kept: true},
		"Redirect":            {reason: "it is unknown who acted", faults: faults(osbtest.Redirect(307, redirected)), says: bindRefused, mitigated: true},
		"BadRequest400":       {reason: "refused for good", faults: faults(osbtest.Status(400, `{"description": "no"}`)), says: bindRefused, failed: true},
		"Unauthorized401":     {reason: "the broker's credentials may be mended", faults: faults(osbtest.Status(401, `{}`)), says: "AuthFailed"},
		"NotFound404":         {reason: "the broker may be on its way", faults: faults(osbtest.Status(404, `nothing`)), says: bindRefused},
		"RequestTimeout408":   {reason: "since 2.14 no orphan", faults: faults(osbtest.Status(408, `{}`)), says: bindRefused},
		"Conflict409":         {reason: "there is something else", faults: faults(osbtest.Status(409, `{}`)), says: "ExternalIDConflict", failed: true},
		"Gone410":             {reason: "it makes no sense, and is no orphan", faults: faults(osbtest.Status(410, `{}`)), says: bindRefused},
		"PreconditionFail412": {reason: "the broker may be upgraded", faults: faults(osbtest.Status(412, `{}`)), says: bindRefused},
		"Unprocessable422":    {reason: "refused for good", faults: faults(osbtest.Status(422, `{}`)), says: bindRefused, failed: true},
		"RequiresApp422":      {reason: "although one was given", faults: faults(osbtest.Status(422, `{"error": "RequiresApp"}`)), says: bindRefused, failed: true},
		"AsyncRequired422":    {reason: "although it was accepted", faults: faults(osbtest.Status(422, `{"error": "AsyncRequired"}`)), says: bindRefused},
		"ConcurrencyError422": {reason: "wait, and try again", faults: faults(osbtest.ConcurrencyError()), says: bindRefused},
		"TooManyRequests429":  {reason: "not now", faults: faults(osbtest.Status(429, `{}`)), says: bindRefused},
		"InternalError500":    {reason: "it may be there", faults: faults(osbtest.Status(500, `{}`)), says: bindRefused, mitigated: true},
		"InternalError500Did": {reason: "and it is there", faults: faults(osbtest.Status(500, `{}`).Acting()), says: bindRefused, mitigated: true, kept: true},
		"Unavailable503":      {reason: "503 is a 5xx", faults: faults(osbtest.Status(503, `{}`)), says: bindRefused, mitigated: true},
		"Timeout":             {reason: "no answer", faults: faults(osbtest.Hang()), says: bindSilent, mitigated: true},
		"CutBefore":           {reason: "it is unknown that it did nothing", faults: faults(osbtest.CutBefore()), says: bindSilent, mitigated: true},
		"CutAfter":            {reason: "it is unknown that it exists", faults: faults(osbtest.CutAfter()), says: bindSilent, mitigated: true},
		"CutMiddle":           {reason: "half an answer is none", faults: faults(osbtest.CutMiddle()), says: bindRefused, mitigated: true},
		"PollFailed":          {reason: "what is left is removed", faults: faults(osbtest.AsyncFailed(1)), says: bindRefused, mitigated: true, failed: true},
		"PollMalformed":       {reason: "it goes on, for all we know", faults: faults(async()), polls: faults(osbtest.Status(200, `null`))},
		"Poll404":             {reason: "it goes on, for all we know", faults: faults(async()), polls: faults(osbtest.Status(404, `{}`))},
		"Poll410":             {reason: "gone means success only of deletions", faults: faults(async()), polls: faults(osbtest.Status(410, `{}`))},
		"Poll500":             {reason: "it goes on, for all we know", faults: faults(async()), polls: faults(osbtest.Status(500, `{}`))},
		"PollCut":             {reason: "it goes on, for all we know", faults: faults(async()), polls: faults(osbtest.CutAfter())},
	}
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newBindingEnv(t).binds(&r)
		})
	}
}

// What goes wrong with the credentials of a binding that was made asynchronously.
func TestTableFetchBinding(t *testing.T) {
	t.Parallel()
	const failed = "FetchingBindingFailed"
	rows := map[string]bindRow{
		"Fetched":          {reason: "they are fetched, once", faults: faults(osbtest.AsyncDone(1))},
		"NotFound404":      {reason: "it may be in the making still", faults: faults(async()), fetches: faults(osbtest.Status(404, `{}`)), says: failed},
		"InternalError500": {reason: "the binding is there", faults: faults(async()), fetches: faults(osbtest.Status(500, `{}`)), says: failed},
		"Concurrency422":   {reason: "the binding is there", faults: faults(async()), fetches: faults(osbtest.ConcurrencyError()), says: failed},
		"Malformed":        {reason: "the binding is there", faults: faults(async()), fetches: faults(osbtest.Status(200, `{"cred`)), says: failed},
		"Timeout":          {reason: "the binding is there", faults: faults(async()), fetches: faults(osbtest.Hang()), says: failed},
	}
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newBindingEnv(t, fetchable, oneShot).binds(&r)
		})
	}
}

// binds takes a binding through a row, and ends it.
func (s *bindingEnv) binds(r *bindRow) {
	s.broker.Next(osbtest.Bind, r.faults...)
	s.broker.Next(osbtest.PollBinding, r.polls...)
	s.broker.Next(osbtest.FetchBinding, r.fetches...)
	recorded, b := s.recordBinding("reader"), s.reader()
	s.Create(b)
	if r.failed {
		s.bindingStalled(b, r.says)
		s.Becomes(b, func() bool { return !b.Status.OrphanMitigationInProgress })
	} else {
		s.Ready(b)
		s.bindingTells(r, recorded.told(s.testEnv, b))
		s.agrees(b)
	}
	s.mitigates(r, b)
	s.unbound(b)
	s.end(s.instance)
}

// bindingTells asserts what a row says of status.
func (s *bindingEnv) bindingTells(r *bindRow, told []string) {
	s.Helper()
	if r.says != "" {
		assert.Contains(s, told, "False "+r.says)
		return
	}
	for _, text := range told {
		assert.NotEqual(s, "F", text[:1], "%v", told)
	}
}

// agrees asserts that the Secret holds what the broker's books have.
func (s *bindingEnv) agrees(b *api.ServiceBinding) {
	s.Helper()
	secret := s.secretOf(b)
	kept, made := s.broker.Bindings()[b.Status.ExternalID]
	if !made { // it was said only
		return
	}
	assert.Len(s, s.broker.Bindings(), 1)
	assert.Equal(s, kept.Credentials["password"], string(secret.Data["password"]))
}

// mitigates asserts what a row says of mitigations.
func (s *bindingEnv) mitigates(r *bindRow, b *api.ServiceBinding) {
	s.Helper()
	assert.Equal(s, r.mitigated && !r.kept, b.Status.ExternalID != b.Spec.ExternalID, "a fresh ID follows what may still arrive")
	mitigations := s.broker.Mitigations()
	if !r.mitigated {
		assert.Empty(s, mitigations)
		return
	}
	require.Len(s, mitigations, 1)
	assert.True(s, mitigations[0].Done, mitigations[0].Why)
	assert.Equal(s, b.Spec.ExternalID, mitigations[0].BindingID)
	for _, call := range s.broker.Calls(osbtest.Of(osbtest.Unbind)) {
		assert.Nil(s, call.Identity, "a mitigation has no requester")
	}
}

func TestTableUnbind(t *testing.T) {
	t.Parallel()
	rows := map[string]bindRow{
		"WellFormed200":       {reason: "at once"},
		"WellFormed202":       {reason: "and polls", faults: faults(osbtest.AsyncDone(1))},
		"Malformed200":        {reason: "it was not sent to its end: removed again", faults: faults(osbtest.Malformed())},
		"Malformed202":        {reason: "a failure: removed again", faults: faults(osbtest.Status(202, `[]`))},
		"NoContent204":        {reason: "another 2xx: removed again", faults: faults(osbtest.NoContent204()), mitigated: true},
		"Redirect":            {reason: "a failure: removed again", faults: faults(osbtest.Redirect(302, redirected))},
		"BadRequest400":       {reason: "a deletion is never given up", faults: faults(osbtest.Status(400, `{}`))},
		"Unauthorized401":     {reason: "the credentials may be mended", faults: faults(osbtest.Status(401, `{}`))},
		"ConcurrencyError422": {reason: "wait, and try again", faults: faults(osbtest.ConcurrencyError())},
		"InternalError500":    {reason: "removed again", faults: faults(osbtest.Status(500, `{}`)), mitigated: true},
		"Timeout":             {reason: "remember, and try again", faults: faults(osbtest.Hang())},
		"CutAfter":            {reason: "the next is told that it is gone", faults: faults(osbtest.CutAfter())},
		"PollFailed":          {reason: "removed again", faults: faults(osbtest.AsyncFailed(1)), mitigated: true},
		"Poll404":             {reason: "it goes on, for all we know", faults: faults(async()), polls: faults(osbtest.Status(404, `{}`))},
		"Poll410":             {reason: "gone is success", faults: faults(async()), polls: faults(osbtest.Status(410, `{}`).Acting())},
		"Poll500":             {reason: "it goes on, for all we know", faults: faults(async()), polls: faults(osbtest.Status(500, `{}`))},
	}
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newBindingEnv(t).unbinds(&r)
		})
	}
}

// unbinds takes a binding through a row of its deletion.
func (s *bindingEnv) unbinds(r *bindRow) {
	b := s.bound()
	s.broker.Next(osbtest.Unbind, r.faults...)
	s.broker.Next(osbtest.PollBinding, r.polls...)
	s.unbound(b)
	mitigations := s.broker.Mitigations()
	assert.Equal(s, r.mitigated, len(mitigations) == 1, "%v", mitigations)
	assert.Empty(s, s.broker.Orphans())
	for _, call := range s.broker.Calls(osbtest.Of(osbtest.Unbind)) {
		assert.NotNil(s, call.Identity, "the user wished it")
		assert.Equal(s, b.Spec.ExternalID, call.BindingID)
	}
	s.end(s.instance)
}

// The answers that end a deletion although something may be left: the broker's word is
// taken.
func TestTableUnbindOfWhatIsGone(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]osbtest.Fault{"Gone410": osbtest.Status(410, `Gone`), "NotFound404": osbtest.Status(404, `{}`), "Empty200": osbtest.Status(200, ``)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newBindingEnv(t)
			b := s.bound()
			require.True(t, s.broker.Lose(s.instance.Status.ExternalID), "another client removed it")
			s.broker.Next(osbtest.Unbind, fault)
			s.unbound(b)
			calls := 1
			if name == "NotFound404" {
				calls = 2 // believed once the catalog was read: the address is right
			}
			assert.Len(t, s.broker.Calls(osbtest.Of(osbtest.Unbind)), calls)
		})
	}
}
