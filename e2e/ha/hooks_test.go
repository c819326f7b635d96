package ha_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

const (
	// drainTime is what a webhook that was told to end goes on serving. The Deployment
	// says more; here everything is near.
	drainTime = 2 * time.Second
	// removal is how long the API server's side of a Service takes to hear that an
	// endpoint is gone: until then it is sent new connections. In a cluster the clock
	// begins when the pod is deleted, and preStop and drain are there to outlast it.
	removal = time.Second

	writers = 6
	pause   = 15 * time.Millisecond
	// enough are creates of a load that show that it goes on.
	enough = 50
)

// TestTheHooksStayUp: creates by type go on while parts of the installation go.
//
//nolint:tparallel // Each subtest ends what the others need.
func TestTheHooksStayUp(t *testing.T) {
	t.Parallel()
	s := suite.New(t, stack.Options{Whole: true, Apart: true, Webhooks: 2, WebhookArgs: []string{"--drain-time=" + drainTime.String()}})
	s.Balancer().Blind()
	t.Run("RollingRestart", func(t *testing.T) { rollingRestart(newEnv(t, s)) })
	t.Run("OneIsKilled", func(t *testing.T) { oneIsKilled(newEnv(t, s)) })
	t.Run("TheAPIServerRestarts", func(t *testing.T) { theAPIServerRestarts(newEnv(t, s)) })
}

// rollingRestart: every webhook is replaced, and no client notices.
func rollingRestart(e *testEnv) {
	c := e.newChoice("mysql")
	l := e.startLoad(e.as(e.Name("alice")), c.serviceType, writers, pause)
	l.since(enough)
	for i := range 2 {
		ended := make(chan error, 1)
		go func() { ended <- e.StopWebhook(e.Context(), i, syscall.SIGTERM) }()
		removed := time.After(removal)
		e.eventually(func() (bool, error) { return e.WebhookReady(e.Context(), i) != nil, nil })
		assert.Empty(e, removed, "it says that it is not ready as soon as it is told to end")
		<-removed
		e.Balancer().Withdraw(i)
		assert.Empty(e, ended, "it still serves")
		require.NoError(e, <-ended)
		require.NoError(e, e.StartWebhook(e.Context(), i))
		e.Balancer().Offer(i)
		l.since(enough)
	}
	answers := l.end()
	e.Logf("%d creates, slowest %s", len(answers), slowest(answers))
	for _, a := range failed(answers) {
		assert.Fail(e, "a request failed", a.String())
	}
	l.stored(answers, c.plans[0])
	c.switchTo(1)
	c.recorded(1)
}

// oneIsKilled: what was under way at the one that is killed fails, and is told so. New
// connections fail until its endpoint is removed; those to the other one go on.
func oneIsKilled(e *testEnv) {
	c := e.newChoice("mysql")
	l := e.startLoad(e.as(e.Name("alice")), c.serviceType, writers, pause)
	l.since(enough)
	killed := time.Now()
	require.NoError(e, e.StopWebhook(e.Context(), 0, syscall.SIGKILL))
	<-time.After(removal)
	e.Balancer().Withdraw(0)
	withdrawn := time.Now()
	l.since(enough)
	require.NoError(e, e.StartWebhook(e.Context(), 0))
	e.Balancer().Offer(0)
	l.since(enough)
	answers := l.end()
	wrong := failed(answers)
	var last time.Duration
	for _, a := range wrong {
		assert.True(e, apierrors.IsInternalError(a.err), "%s", &a)
		assert.ErrorContains(e, a.err, "servicecatalog.k8s.io", "the hook is named")
		assert.False(e, a.ended.Before(killed), "%s", &a)
		assert.False(e, a.began.After(withdrawn), "%s", &a)
		last = max(last, a.ended.Sub(killed))
	}
	e.Logf("%d creates, %d failed, the last %s after the kill", len(answers), len(wrong), last)
	assert.LessOrEqual(e, len(wrong), 20*writers, "one pool of connections, and those of a second")
	assert.Less(e, last, 10*time.Second, "longer than a hook may take")
	l.stored(answers, c.plans[0])
}

// theAPIServerRestarts: it is killed and comes back to webhooks that know nothing of it.
// What was switched meanwhile is what is chosen, at once.
func theAPIServerRestarts(e *testEnv) {
	c := e.newChoice("mysql")
	l := e.startLoad(e.as(e.Name("alice")), c.serviceType, writers, pause)
	l.since(enough)
	down := time.Now()
	require.NoError(e, e.StopAPIServer(e.Context(), syscall.SIGKILL))
	require.NoError(e, e.StartAPIServer(e.Context()))
	up := time.Now()
	c.switchTo(1)
	switched := time.Now()
	l.since(enough)
	c.recorded(1)
	answers := l.end()
	wrong := failed(answers)
	var last time.Duration
	for _, a := range wrong {
		e.saysWhy(&a)
		last = max(last, a.ended.Sub(up))
	}
	e.Logf("%d creates, %d failed while it was away for %s, the last %s after it was ready", len(answers), len(wrong), up.Sub(down), last)
	assert.Less(e, last, 10*time.Second, "it is ready, and the hooks are not")
	for i := range answers {
		switch a := &answers[i]; {
		case a.err != nil:
			assert.False(e, a.ended.Before(down), "%s", a)
		case a.ended.Before(up):
			assert.Equal(e, c.plans[0], a.plan, "%s", a)
		case a.began.After(switched):
			assert.Equal(e, c.plans[1], a.plan, "a decision of before the switch: %s", a)
		}
	}
	l.stored(answers, c.plans[:]...)
	fresh := e.newChoice("redis")
	probe := e.startLoad(e.Client(), fresh.serviceType, 1, pause)
	probe.since(1)
	assert.Empty(e, failed(probe.end()))
}
