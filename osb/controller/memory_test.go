package controller

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/queue"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

func TestMemoryOfCalls(t *testing.T) {
	t.Parallel()
	failure := errors.New("503")
	for name, tc := range map[string]struct {
		reason string
		before lifecycle.Step
		err    error
		step   lifecycle.Step
		failed int32
		want   bool
	}{
		"Again":        {reason: "the same operation, which failed", before: lifecycle.Provision, err: failure, step: lifecycle.Provision, failed: 1, want: true},
		"AfterSuccess": {reason: "what went well is not tried again", before: lifecycle.Provision, step: lifecycle.Provision, failed: 1},
		"Another":      {reason: "a removal after a failed try is an operation of its own", before: lifecycle.Provision, err: failure, step: lifecycle.Deprovision, failed: 1},
		"Edited":       {reason: "an edit counts from the start after a failure for good", before: lifecycle.Provision, err: failure, step: lifecycle.Provision},
		"AfterAPoll":   {reason: "a poll that fails is no try", before: lifecycle.Poll, err: failure, step: lifecycle.Poll, failed: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var m memory
			m.ended(tc.before, tc.err)
			next := &lifecycle.Decision{Step: tc.step}
			next.Record.Retries = tc.failed
			assert.Equal(t, tc.want, m.again(next), tc.reason)
		})
	}
}

// Something is remembered from pass to pass, of this very object, and no longer than there is
// something to remember.
func TestMemory(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t)
	poll := time.Now().Add(time.Minute)
	one := &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{UID: "1"}}
	another := &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{UID: "2"}}
	p := w.turn()
	ctx := queue.NewContext(t.Context(), p)
	assert.Zero(t, recall(ctx, one).poll, "a process that starts polls at once")
	remember(ctx, one, func(m *memory) { m.poll = poll })
	p.End(nil)

	p = w.turn()
	ctx = queue.NewContext(t.Context(), p)
	assert.Equal(t, poll, recall(ctx, one).poll)
	assert.Zero(t, recall(ctx, another).poll, "it has only the name")
	remember(ctx, one, func(m *memory) { m.poll = time.Time{} })
	assert.Nil(t, p.Memory())
	p.End(nil)
	remember(t.Context(), one, func(m *memory) { m.poll = poll }) // outside a pass nothing is remembered
}

// Of an object that is gone, however it went, nothing is remembered.
func TestMemoryOfWhatIsGone(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t)
	w.broker.Async(osbtest.Bind, -1)
	b, _ := w.pass()
	remembered := func() types.UID {
		p := w.turn()
		defer p.End(nil)
		m, _ := p.Memory().(memory)
		return m.uid
	}
	require.Equal(t, b.UID, remembered(), "when it is polled next")
	b.Finalizers = nil
	require.NoError(t, w.cache.Update(t.Context(), b))
	require.NoError(t, w.cache.Delete(t.Context(), b))
	b, _ = w.pass()
	require.Nil(t, b)
	assert.Empty(t, remembered())
}

// An objectOnly is a resource of which nothing but the object is asked for.
type objectOnly struct {
	resource

	stored client.Object
}

func (o objectOnly) object() client.Object { return o.stored }

// A cache that has any of the three versions from before an outcome lags behind it, until it
// has another: then the versions are forgotten.
func TestMemoryOfPastVersions(t *testing.T) {
	t.Parallel()
	version := func(v string) *v1beta1.ServiceBinding {
		return &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{UID: "1", ResourceVersion: v}}
	}
	w := newBindingWorld(t)
	p := w.turn()
	defer p.End(nil)
	ctx := queue.NewContext(t.Context(), p)
	assert.False(t, lags(ctx, version("decided")), "nothing is remembered")
	a := &attempt{stored: version("intent")}
	past := a.past(objectOnly{stored: version("decided")}, "replaced")
	remember(ctx, version("decided"), func(m *memory) { m.past = past })
	for _, before := range []string{"decided", "intent", "replaced"} {
		assert.True(t, lags(ctx, version(before)), before)
	}
	assert.False(t, lags(ctx, version("outcome")))
	assert.False(t, lags(ctx, version("decided")), "the versions are forgotten")
}
