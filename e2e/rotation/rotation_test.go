package rotation_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
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
			e := newEnv(t, tc.edits...)
			b := e.bound()
			former := b.Status.ExternalID
			reads := e.reads(b)
			if tc.async {
				e.broker.Async(osbtest.Bind, 1)
				e.broker.Async(osbtest.Unbind, 1)
			}
			e.request(b)
			e.Becomes(b, func() bool { return b.Status.ExternalID != former })
			overlaps(e, b, former, tc.reason)
			e.rotated(b, former)
			removedInTime(e, b, former)
			ready := env.ConditionOf(b, api.ConditionReady)
			assert.Equal(t, api.ConditionTrue, ready.Status)
			assert.Equal(t, b.Spec.Rotation.Requests, b.Status.Credentials.Requests)
			bound := e.broker.Calls(osbtest.Of(osbtest.Bind))
			last := bound[len(bound)-1].Body
			if tc.names {
				assert.Equal(t, former, last["predecessor_binding_id"])
				assert.NotContains(t, last, "parameters")
			} else {
				assert.NotContains(t, last, "predecessor_binding_id")
				assert.Equal(t, map[string]any{"user": "app"}, last["parameters"])
			}
			reads.stop()
			assert.Equal(t, 2, reads.seen())
			e.unbound(b)
		})
	}
}

// overlaps is right after the switch: both are at the broker, and status tells of both.
func overlaps(e *testEnv, b *api.ServiceBinding, former, reason string) {
	e.Helper()
	require.NotNil(e, b.Status.Rotation)
	assert.Equal(e, api.RotationPredecessor, b.Status.Rotation.Role)
	assert.Equal(e, former, b.Status.Rotation.ExternalID)
	assert.NotNil(e, b.Status.Rotation.RemoveAfter)
	known := e.broker.Bindings()
	assert.Contains(e, known, former, reason)
	assert.Contains(e, known, b.Status.ExternalID)
	secret := e.SecretOf(b)
	assert.Equal(e, b.Status.ExternalID, secret.Annotations[api.AnnotationCredentialsOf])
	assert.Equal(e, known[b.Status.ExternalID].Credentials["password"], string(secret.Data["password"]))
}

// removedInTime says that the former credentials were removed after the overlap, and that
// the one who asked for the binding is told as the one who did.
func removedInTime(e *testEnv, b *api.ServiceBinding, former string) {
	e.Helper()
	const overlap = 2 * time.Second
	for _, call := range e.broker.Calls(osbtest.Of(osbtest.Unbind)) {
		assert.Equal(e, former, call.BindingID)
		assert.NotNil(e, call.Identity, "it is no mitigation")
		assert.GreaterOrEqual(e, call.Began.Sub(b.Status.Credentials.IssuedAt.Time), overlap-time.Second)
	}
}
