package claims_test

import (
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/apiproxy"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A crashStack is a stack whose controller is killed: it reaches the API server through a
// proxy, and has no other beside it.
type crashStack struct {
	*stack.Stack

	proxy      *apiproxy.Proxy
	controller *stack.Controller
}

func newCrashStack(t *testing.T) *crashStack {
	t.Helper()
	g := &crashStack{Stack: suite.New(t, stack.Options{Webhooks: 1})}
	kubeconfig, err := g.ControllerKubeconfig(t.Context())
	require.NoError(t, err)
	g.proxy, err = g.StartAPIProxy(t.Context(), "proxied", kubeconfig)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, g.proxy.Close()) })
	g.controller, err = g.StartController(t.Context(), stack.ControllerOptions{Kubeconfig: g.proxy.Kubeconfig(), Args: crashFlags})
	require.NoError(t, err)
	return g
}

// killed ends the controller as a power cut does, and starts another one.
func (g *crashStack) killed(t *testing.T) {
	t.Helper()
	require.NoError(t, g.controller.Stop(t.Context(), syscall.SIGKILL))
	require.NoError(t, g.controller.Start(t.Context()))
}

// longest bounds what happens at once, or not at all.
const longest = 30 * time.Second

func arrivesAt(t *testing.T, channel <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-channel:
	case <-time.After(wait.Patience(longest)):
		require.FailNow(t, what)
	}
}

// TestCrashes kills the controller at every write and call of a claim's life, and at
// random. In the end there is what was asked for: one instance and one binding at the
// broker, or none; never two instances, and none that is not recorded.
func TestCrashes(t *testing.T) {
	t.Parallel()
	g := newCrashStack(t)
	if !suite.Long() { // The points have only one form.
		g.play(t, crashScenes())
	}
	g.atRandom(t)
}

// crashing has the broker's duties be those of a platform that may crash.
func crashing(o *osbtest.Options) { o.Crashes = true }

// play brings every scene to its point, kills the controller once at all of them, and
// sees what becomes of each.
func (g *crashStack) play(t *testing.T, scenes map[string]crashScene) {
	t.Helper()
	var prepared, reached, over sync.WaitGroup
	begin, again := make(chan struct{}), make(chan struct{})
	prepared.Add(len(scenes))
	reached.Add(len(scenes))
	for name, c := range scenes {
		over.Go(func() {
			t.Run(name, func(t *testing.T) {
				ready, there := sync.OnceFunc(prepared.Done), sync.OnceFunc(reached.Done)
				defer there()
				defer ready() // a failure does not block the others
				s := newShopOn(env.On(t, g.Stack), true, crashing)
				b := s.claim()
				if c.goes {
					s.Create(b)
					s.Ready(b)
				}
				ready()
				<-begin // a call that is held must not time out before the others are there
				late := c.reach(t, g, s, b)
				there()
				<-again
				late()
				s.survives(c, b)
			})
		})
	}
	prepared.Wait()
	close(begin)
	reached.Wait()
	g.killed(t)
	close(again)
	over.Wait()
}

// survives is what becomes of a claim after the crash.
func (s *shop) survives(c crashScene, b *api.ServiceBinding) {
	s.Helper()
	if !c.goes {
		s.Ready(b)
		made, bound := s.only()
		own := s.own(b)
		s.Get(own)
		assert.Equal(s, own.Status.ExternalID, made.ID)
		assert.Equal(s, b.Status.ExternalID, bound.ID)
		secret := s.Secret(b.Name)
		s.Get(secret)
		assert.Equal(s, bound.Credentials["password"], string(secret.Data["password"]))
		s.Delete(b)
	}
	s.nothingIsLeft(b)
	instances := 0
	for _, call := range s.broker.Calls(osbtest.Of(osbtest.Provision)) {
		if call.Status == 201 {
			instances++
		}
	}
	assert.LessOrEqual(s, instances, 1, "one claim, one instance")
}
