package ha_test

import (
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/apiproxy"
)

// A member is one of two processes that elect a leader. It reaches the API server through
// a proxy, which sees what it tries to write and can cut it off.
type member struct {
	name  string
	proxy *apiproxy.Proxy
	// start and stop are those of its process.
	start func() error
	stop  func(syscall.Signal) error
	// metrics is the URL of its metrics.
	metrics string

	mu     sync.Mutex
	writes []tried
}

// A tried write is what a member tried to write, and when. It may have been cut off.
type tried struct {
	*apiproxy.Write

	at time.Time
}

// work says that a write is not about who leads, or what is told of that.
func (t *tried) work() bool { return t.Resource != "leases" && t.Resource != "events" }

// newMember is a member without a process, that is the named user to the API server.
func newMember(t *testing.T, s *stack.Stack, name, user string) *member {
	t.Helper()
	kubeconfig, err := s.KubeconfigFor(t.Context(), "system:serviceaccount:defaultplan-system:"+user)
	require.NoError(t, err)
	m := &member{name: name}
	m.proxy, err = s.StartAPIProxy(t.Context(), name, kubeconfig)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, m.proxy.Close()) })
	m.proxy.Spy(func(w *apiproxy.Write) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.writes = append(m.writes, tried{w, time.Now()})
	})
	return m
}

// worked is when it tried to write anything that a leader writes, in order.
func (m *member) worked() []tried {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(m.writes), func(t tried) bool { return !t.work() })
}

// workedSince is worked after a moment.
func (m *member) workedSince(moment time.Time) []tried {
	return slices.DeleteFunc(m.worked(), func(t tried) bool { return t.at.Before(moment) })
}

// touches waits until it has tried so many writes of a resource since a moment.
func (m *member) touches(e *testEnv, resource string, times int, since time.Time) {
	e.Helper()
	e.eventually(func() (bool, error) {
		found := 0
		for _, one := range m.workedSince(since) {
			if one.Resource == resource {
				found++
			}
		}
		return found >= times, nil
	})
}

// A company is two members that elect a leader by a Lease.
type company struct {
	lease string
	// leader is who leads, and heir the other one.
	leader, heir *member
}

// follow makes the one who wrote the Lease last the leader: on an overloaded machine a leader
// loses it by itself.
func (c *company) follow() {
	if c.heir.renewed().After(c.leader.renewed()) {
		c.succeeded()
	}
}

// renewed is when it tried last to write its Lease.
func (m *member) renewed() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, write := range slices.Backward(m.writes) {
		if write.Resource == "leases" {
			return write.at
		}
	}
	return time.Time{}
}

// succeeded is told when the heir leads.
func (c *company) succeeded() { c.leader, c.heir = c.heir, c.leader }

// startKeepers starts two keepers; the first leads.
func startKeepers(t *testing.T, s *stack.Stack) *company {
	t.Helper()
	c := &company{lease: "defaultplan-keeper"}
	for _, name := range []string{"keeper-a", "keeper-b"} {
		m := newMember(t, s, name, "defaultplan-keeper")
		k, err := s.StartKeeperWith(t.Context(), stack.KeeperOptions{Name: name, Kubeconfig: m.proxy.Kubeconfig()})
		require.NoError(t, err)
		m.start = func() error { return k.Start(t.Context()) }
		m.stop = func(signal syscall.Signal) error { return k.Stop(t.Context(), signal) }
		m.metrics = k.Metrics()
		c.joins(t, s, m)
	}
	return c
}

// startControllers starts two controllers; the first leads.
func startControllers(t *testing.T, s *stack.Stack) *company {
	t.Helper()
	c := &company{lease: "defaultplan-controller"}
	for _, name := range []string{"controller-a", "controller-b"} {
		m := newMember(t, s, name, "defaultplan-controller")
		p, err := s.StartController(t.Context(), stack.ControllerOptions{Name: name, Kubeconfig: m.proxy.Kubeconfig(), Args: []string{
			"--leader-elect=true", stack.CallTimeout(callTimeout), "--secret-interval=5s",
			"--cluster-id=cluster-of-the-scenarios", "--allow-broker-addresses=127.0.0.0/8",
		}})
		require.NoError(t, err)
		m.start = func() error { return p.Start(t.Context()) }
		m.stop = func(signal syscall.Signal) error { return p.Stop(t.Context(), signal) }
		m.metrics = p.Metrics()
		c.joins(t, s, m)
	}
	return c
}

// joins has a member join, which leads if it is the first, and which ends with the test.
func (c *company) joins(t *testing.T, s *stack.Stack, m *member) {
	t.Helper()
	end := m.stop
	t.Cleanup(func() { _ = end(syscall.SIGKILL) })
	if c.leader != nil {
		c.heir = m
		return
	}
	c.leader = m
	newEnv(t, s).leads(c.lease, "")
}
