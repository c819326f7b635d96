package rotation_test

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// lasting has credentials expire, and the broker want new ones at half of that time.
func lasting(lifetime time.Duration) func(*setting) {
	return func(s *setting) { s.Lifetime = lifetime }
}

// Credentials that expire are replaced before, again and again; a client that
// reads the Secret never finds what the broker does not take.
func TestRotatesBeforeExpiry(t *testing.T) {
	t.Parallel()
	for name, edits := range map[string][]func(*setting){"Rotatable": nil, "Plain": {plain}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t, append(edits, lasting(12*time.Second))...)
			b := e.bound()
			require.NotNil(t, b.Status.Credentials)
			require.NotNil(t, b.Status.Credentials.ExpiresAt)
			e.HasCondition(b, api.ConditionCredentialsCurrent, api.ConditionTrue, "Current")
			assert.NotEmpty(t, e.SecretOf(b).Annotations[api.AnnotationExpiresAt])
			reads := e.reads(b)
			e.Eventually(func() (bool, error) { return reads.seen() >= 3, nil })
			e.HasCondition(b, api.ConditionCredentialsCurrent, api.ConditionTrue, "Current")
			reads.stop()
			e.unbound(b)
		})
	}
}

// Who does not want new credentials gets none; that they expired is said, and is no
// reason not to be Ready, because nothing is about to happen.
func TestNeverRotates(t *testing.T) {
	t.Parallel()
	e := newEnv(t, lasting(8*time.Second))
	b := e.bound(func(b *api.ServiceBinding) { b.Spec.Rotation = &api.Rotation{Policy: api.RotationNever} })
	e.HasCondition(b, api.ConditionCredentialsCurrent, api.ConditionTrue, "Current")
	found := e.HasCondition(b, api.ConditionCredentialsCurrent, api.ConditionFalse, "Expired")
	assert.Contains(t, found.Message, "expired at")
	e.Ready(b)
	assert.Len(t, e.broker.Calls(osbtest.Of(osbtest.Bind)), 1)
	// An empty rotation is one without the policy; an absent one is taken for an old client's.
	// They are replaced at once, and not by a successor: they are no more.
	former := b.Status.ExternalID
	e.Change(b, func() { b.Spec.Rotation = &api.Rotation{} })
	e.Becomes(b, func() bool { return b.Status.ExternalID != former })
	calls := e.broker.Calls(osbtest.Of(osbtest.Bind))
	assert.NotContains(t, calls[1].Body, "predecessor_binding_id")
	e.Change(b, func() { b.Spec.Rotation = &api.Rotation{Policy: api.RotationNever} })
	e.unbound(b)
}

// A broker whose credentials had expired when they were issued is not asked for others at
// once, and again.
func TestExpiredAtIssueIsNoStorm(t *testing.T) {
	t.Parallel()
	old := func(s *setting) {
		s.Lifetime = time.Second
		s.Now = func() time.Time { return time.Now().Add(-time.Hour) }
	}
	e := newEnv(t, old)
	b := e.bound(func(b *api.ServiceBinding) { b.Spec.Rotation = &api.Rotation{Overlap: &metav1.Duration{}} })
	e.HasCondition(b, api.ConditionCredentialsCurrent, api.ConditionFalse, "Expired")
	for range 3 {
		former, issued := b.Status.ExternalID, b.Status.Credentials.IssuedAt
		e.Becomes(b, func() bool { return b.Status.ExternalID != former })
		// Both are whole seconds of the controller's clock, and the pause is counted from them.
		assert.GreaterOrEqual(t, b.Status.Credentials.IssuedAt.Sub(issued.Time), time.Second, "each has its pause, of one second here")
	}
	e.unbound(b)
}

// What is asked of credentials that are due while the overlap of the former ones lasts:
// an overlap that is shortened ends them.
func TestOverlapIsShortened(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	b := e.bound(func(b *api.ServiceBinding) {
		b.Spec.Rotation = &api.Rotation{Overlap: &metav1.Duration{Duration: time.Hour}}
	})
	former := b.Status.ExternalID
	e.request(b)
	e.Becomes(b, func() bool { return b.Status.ExternalID != former })
	e.request(b)
	e.Ready(b)
	assert.Contains(t, e.broker.Bindings(), former, "there are never three")
	second := b.Status.ExternalID
	e.Change(b, func() { b.Spec.Rotation.Overlap = &metav1.Duration{} })
	e.rotated(b, second)
	assert.NotContains(t, e.broker.Bindings(), former)
	e.unbound(b)
}

// The metrics say when the first credentials expire, and how many bindings have how long left;
// the command that the alert gives shows which.
func TestExpiryIsExported(t *testing.T) {
	t.Parallel()
	e := newEnv(t, lasting(48*time.Hour))
	b := e.bound()
	first := regexp.MustCompile(`defaultplan_credentials_first_expiry_timestamp_seconds\{rotation="automatic"\} (.*)\n`)
	e.Eventually(func() (bool, error) {
		text := e.metrics()
		found := first.FindStringSubmatch(text)
		if found == nil || !regexp.MustCompile(`defaultplan_credentials_expiring\{left="7d",rotation="automatic"\} [1-9]`).MatchString(text) {
			return false, fmt.Errorf("exported: %v", found)
		}
		expires, err := strconv.ParseFloat(found[1], 64)
		// Bindings of other tests may expire before, and none before it was made.
		if expires > float64(b.Status.Credentials.ExpiresAt.Unix()) || expires < float64(time.Now().Add(-time.Hour).Unix()) {
			return false, fmt.Errorf("the first expire at %s", found[1])
		}
		return true, err
	})
	all := e.Kubectl("", "get", "servicebindings", "-A", "-o", "wide", "--sort-by=.status.credentials.expiresAt")
	assert.Regexp(t, e.Namespace+` +`+b.Name+` `, all)
	// A column of the type date would show a moment still to come as <invalid>.
	wide := e.Kubectl("", "get", "sb", b.Name, "-o", "wide")
	assert.Contains(t, wide, b.Status.Credentials.ExpiresAt.UTC().Format(time.RFC3339))
	assert.NotContains(t, wide, "<invalid>")
	e.unbound(b)
}

// metrics are those of the shared controller.
func (e *testEnv) metrics() string {
	e.Helper()
	text, err := e.Scrape(e.Context(), e.Controller().Metrics())
	require.NoError(e, err)
	return text
}
