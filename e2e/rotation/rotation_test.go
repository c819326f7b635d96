package rotation_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A raised spec.rotation.requests has the credentials be replaced, whatever the plan can.
// The Secret stays the same object, holds what is valid at any time, and the former ones
// are taken for the overlap.
func TestRotatesOnRequest(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		edits  []func(*setting)
		async  bool
		// names says that the broker is told the predecessor.
		names bool
	}{
		"Rotatable":      {reason: "the broker takes the parameters over", names: true},
		"Plain":          {reason: "bound as any other, with the parameters", edits: []func(*setting){plain}},
		"RotatableAsync": {reason: "credentials are fetched", edits: []func(*setting){fetchable}, async: true, names: true},
		"PlainAsync":     {reason: "credentials are asked for again", edits: []func(*setting){plain}, async: true},
		"OneShot":        {reason: "credentials are given once", edits: []func(*setting){oneShot}, names: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, tc.edits...)
			b := s.bound()
			former := b.Status.ExternalID
			reads := s.reads(b)
			if tc.async {
				s.broker.Async(osbtest.Bind, 1)
				s.broker.Async(osbtest.Unbind, 1)
			}
			s.request(b)
			s.becomes(b, func() bool { return b.Status.ExternalID != former })
			overlaps(s, b, former, tc.reason)
			s.rotated(b, former)
			removedInTime(s, b, former)
			ready, _ := api.FindCondition(b.Status.Conditions, api.ConditionReady)
			assert.Equal(t, api.ConditionTrue, ready.Status)
			assert.Equal(t, b.Spec.Rotation.Requests, b.Status.Credentials.Requests)
			bound := s.broker.Calls(osbtest.Of(osbtest.Bind))
			last := bound[len(bound)-1].Body
			if tc.names {
				assert.Equal(t, former, last["predecessor_binding_id"])
				assert.NotContains(t, last, "parameters")
			} else {
				assert.NotContains(t, last, "predecessor_binding_id")
				assert.Equal(t, object{"user": "app"}, last["parameters"])
			}
			reads.stop()
			assert.Equal(t, 2, reads.seen())
			s.unbound(b)
		})
	}
}

// overlaps is right after the switch: both are at the broker, and status tells of both.
func overlaps(s *stage, b *api.ServiceBinding, former, reason string) {
	s.Helper()
	require.NotNil(s, b.Status.Rotation)
	assert.Equal(s, api.RotationPredecessor, b.Status.Rotation.Role)
	assert.Equal(s, former, b.Status.Rotation.ExternalID)
	assert.NotNil(s, b.Status.Rotation.RemoveAfter)
	known := s.broker.Bindings()
	assert.Contains(s, known, former, reason)
	assert.Contains(s, known, b.Status.ExternalID)
	secret := s.secretOf(b)
	assert.Equal(s, b.Status.ExternalID, secret.Annotations[api.AnnotationCredentialsOf])
	assert.Equal(s, known[b.Status.ExternalID].Credentials["password"], string(secret.Data["password"]))
}

// removedInTime says that the former credentials were removed after the overlap, and that
// the one who asked for the binding is told as the one who did.
func removedInTime(s *stage, b *api.ServiceBinding, former string) {
	s.Helper()
	const overlap = 2 * time.Second
	for _, call := range s.broker.Calls(osbtest.Of(osbtest.Unbind)) {
		assert.Equal(s, former, call.BindingID)
		assert.NotNil(s, call.Identity, "it is no mitigation")
		assert.GreaterOrEqual(s, call.Began.Sub(b.Status.Credentials.IssuedAt.Time), overlap-time.Second)
	}
}
