package ha_test

import (
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

const (
	// leaseTime is how long a Lease lasts without renewal, renewTime how long its
	// holder tries to renew it before it stops, and retryTime how often an heir looks.
	leaseTime = 15 * time.Second
	renewTime = 10 * time.Second
	retryTime = 2 * time.Second
	// longest is how long one that cannot renew it goes on: it tries for renewTime, and
	// began retryTime after the last time.
	longest = renewTime + retryTime + time.Second
	// takeover bounds the time without a leader.
	takeover = leaseTime + 2*retryTime + 15*time.Second
	// outage is shorter than renewTime: who leads goes on.
	outage = 6 * time.Second
)

// TestLeadersFail: nothing is lost, and nothing done twice, whatever becomes of a leader.
//
//nolint:tparallel // The groups end what the next ones need.
func TestLeadersFail(t *testing.T) {
	t.Parallel()
	s := suite.New(t, stack.Options{Whole: true, Apart: true, Webhooks: 2, WebhookArgs: []string{"--keeper=off"}})
	var keepers, controllers *company
	var both sync.WaitGroup
	both.Go(func() { keepers = startKeepers(t, s) })
	both.Go(func() { controllers = startControllers(t, s) })
	both.Wait()
	require.False(t, t.Failed())
	// Made while a keeper leads, which records what their plans are.
	few, many, some := newEnv(t, s).newMarket(0), newEnv(t, s).newMarket(50), newEnv(t, s).newMarket(20)
	t.Run("EtcdPauses", func(t *testing.T) { etcdPauses(few.in(t), keepers, controllers) })
	t.Run("Killed", func(t *testing.T) {
		t.Run("Keeper", func(t *testing.T) {
			t.Parallel()
			keeperKilled(newEnv(t, s), keepers)
		})
		t.Run("Controller", func(t *testing.T) {
			t.Parallel()
			controllerKilled(many.in(t), controllers)
		})
	})
	t.Run("CutOff", func(t *testing.T) {
		t.Run("Keeper", func(t *testing.T) {
			t.Parallel()
			keeperCutOff(newEnv(t, s), keepers)
		})
		t.Run("Controller", func(t *testing.T) {
			t.Parallel()
			controllerCutOff(some.in(t), controllers)
		})
	})
}

// etcdPauses for less than a Lease lasts: creates wait or are refused with a reason, who
// leads goes on, and afterwards everything is made, once.
func etcdPauses(m *market, keepers, controllers *company) {
	e := m.testEnv
	l := e.startLoad(e.as(e.Name("alice")), m.serviceType, 2, 100*time.Millisecond)
	l.since(10)
	before := map[*company]term{}
	for _, c := range []*company{keepers, controllers} {
		before[c] = e.leads(c.lease, "")
	}
	resume, err := e.PauseEtcd(e.Context())
	require.NoError(e, err)
	paused := time.Now()
	<-time.After(outage)
	require.NoError(e, resume())
	resumed := time.Now()
	l.since(10)
	answers := l.end()
	wrong := failed(answers)
	for _, a := range wrong {
		e.saysWhy(&a)
		assert.False(e, a.ended.Before(paused) || a.began.After(resumed.Add(5*time.Second)), "%s", &a)
	}
	e.Logf("%d creates, %d failed, the slowest took %s", len(answers), len(wrong), slowest(answers))
	assert.Less(e, slowest(answers), 30*time.Second)
	l.stored(answers, m.plan)
	m.allReady()
	m.booksAgree()
	for _, c := range []*company{keepers, controllers} {
		now := e.leads(c.lease, "")
		assert.Equal(e, before[c].transitions, now.transitions, "%s: the outage is shorter than a Lease lasts", c.lease)
		assert.Empty(e, c.heir.worked(), "%s: one that does not lead writes nothing", c.lease)
	}
}

// keeperKilled while types are switched and those who waited are woken.
func keeperKilled(e *testEnv, c *company) {
	t := newTurmoil(e)
	last := e.leads(c.lease, "")
	c.follow()
	begun := time.Now()
	over := t.begin()
	c.leader.touches(e, "serviceinstances", t.waiting/4, begun)
	require.NoError(e, c.leader.stop(syscall.SIGKILL))
	killed := time.Now()
	now := e.leads(c.lease, last.holder)
	over()
	t.settles()
	e.succession(c, killed, now)
	require.NoError(e, c.leader.start())
	c.succeeded()
}

// keeperCutOff lives, and cannot reach the API server: it has stopped before the other
// one begins, and is a candidate again when it can.
func keeperCutOff(e *testEnv, c *company) {
	t := newTurmoil(e)
	last := e.leads(c.lease, "")
	c.follow()
	begun := time.Now()
	over := t.begin()
	c.leader.touches(e, "serviceinstances", t.waiting/4, begun)
	process, err := e.Pid(c.leader.name)
	require.NoError(e, err)
	_, back := c.leader.proxy.Away(1 << 30)
	cut := time.Now()
	now := e.leads(c.lease, last.holder)
	e.ends(process)
	over()
	t.settles()
	e.succession(c, cut, now)
	assert.NotEmpty(e, c.leader.workedSince(cut), "it tried, or this shows nothing")

	back()
	returned := time.Now()
	require.NoError(e, c.heir.stop(syscall.SIGTERM))
	again := e.leads(c.lease, now.holder)
	for _, one := range c.leader.workedSince(returned) {
		assert.False(e, one.at.Before(again.since.Add(-time.Second)), "it wrote %s before it led again", one.Write)
	}
	require.NoError(e, c.heir.start())
	e.resigns(c)
}

// succession says that the leader had stopped when the heir began, within bounds.
func (e *testEnv) succession(c *company, ended time.Time, now term) {
	e.Helper()
	took := now.since.Sub(ended)
	e.Logf("%s: %s led %s after %s had ended", c.lease, c.heir.name, took.Round(100*time.Millisecond), c.leader.name)
	assert.Less(e, took, takeover)
	var last time.Time
	for _, one := range c.leader.worked() {
		if one.at.After(last) {
			last = one.at
		}
	}
	assert.True(e, last.Before(now.since), "%s wrote at %s, and the other led since %s", c.leader.name, last, now.since)
	assert.LessOrEqual(e, last.Sub(ended), longest, "it goes on for no longer than it may")
	heirs := c.heir.workedSince(ended)
	require.NotEmpty(e, heirs, "the heir works")
	// A Lease has microseconds, and the clock of who writes it.
	assert.False(e, heirs[0].at.Before(now.since.Add(-time.Second)), "%s wrote %s before it led", c.heir.name, heirs[0].Write)
}

// A turmoil is work for a keeper: types that are switched, and undecided instances whose
// class and plan come at last.
type turmoil struct {
	*testEnv

	choices []choice
	waiting int
}

func newTurmoil(e *testEnv) *turmoil {
	e.Helper()
	t := &turmoil{testEnv: e, waiting: 20}
	for i := range 4 {
		t.choices = append(t.choices, e.newChoice(fmt.Sprintf("type-%d", i)))
	}
	for i := range t.waiting {
		o := t.instance(i)
		o.Spec.ClusterServiceClassExternalName, o.Spec.ClusterServicePlanExternalName = t.late(i), t.late(i)
		e.Create(o)
		require.Empty(e, planOf(o), "its class is not known yet")
	}
	return t
}

func (t *turmoil) late(i int) string { return t.Name(fmt.Sprintf("late-%d", i)) }

func (t *turmoil) instance(i int) *api.ServiceInstance {
	return &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: t.Namespace, Name: fmt.Sprintf("waits-%d", i)}}
}

// begin has classes and plans come and types be switched, until over has returned.
func (t *turmoil) begin() (over func()) {
	var done sync.WaitGroup
	done.Go(func() {
		for i := range t.waiting {
			// An error is told by what remains.
			_ = t.Client().Create(t.Context(), t.class(t.late(i)))
			_ = t.Client().Create(t.Context(), t.plan(t.late(i), t.late(i), "", false))
		}
	})
	done.Go(func() {
		for _, c := range t.choices {
			c.switchTo(1)
		}
	})
	return done.Wait
}

// settles waits until everyone is woken and every type is switched.
func (t *turmoil) settles() {
	t.Helper()
	for _, c := range t.choices {
		c.recorded(1)
	}
	for i := range t.waiting {
		o := t.instance(i)
		t.eventually(func() (bool, error) {
			if err := t.Client().Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
				return false, err
			}
			if planOf(o) != t.late(i) {
				return false, fmt.Errorf("%s waits", o.Name)
			}
			return true, nil
		})
	}
}
