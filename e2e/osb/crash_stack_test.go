package osb_test

import (
	"context"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/apiproxy"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

// A crashStack is a stack whose controller is killed: it reaches the API server through a
// proxy, and has no other beside it.
type crashStack struct {
	*stack.Stack

	proxy      *apiproxy.Proxy
	controller *stack.Controller
}

// crashFlags are the flags of a controller that is killed: a call that it left is waited
// for no longer than it has to be, and many calls are held at once.
var crashFlags = append(slices.Clone(controllerFlags), "--workers=64", stack.CallTimeout(4*time.Second))

func newCrashStack(t *testing.T) *crashStack {
	t.Helper()
	g := &crashStack{Stack: suite.New(t, stack.Options{Webhooks: 1})}
	g.proxy = g.newProxy(t, "proxied")
	g.controller = g.newController(t, stack.ControllerOptions{Kubeconfig: g.proxy.Kubeconfig(), Args: crashFlags})
	return g
}

func (g *crashStack) newProxy(t *testing.T, name string) *apiproxy.Proxy {
	t.Helper()
	kubeconfig, err := g.ControllerKubeconfig(t.Context())
	require.NoError(t, err)
	proxy, err := g.StartAPIProxy(t.Context(), name, kubeconfig)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, proxy.Close()) })
	return proxy
}

// newController starts a controller that ends with the test, and did not panic.
func (g *crashStack) newController(t *testing.T, options stack.ControllerOptions) *stack.Controller {
	t.Helper()
	controller, err := g.StartController(t.Context(), options)
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, controller.Stop(context.WithoutCancel(t.Context()), syscall.SIGTERM))
		log, err := os.ReadFile(controller.Log())
		assert.NoError(t, err)
		assert.NotContains(t, string(log), "panic:")
	})
	return controller
}

// killed ends the controller as a power cut does, and launches another one.
func (g *crashStack) killed(t *testing.T) (ready func()) {
	t.Helper()
	assert.NoError(t, g.controller.Stop(t.Context(), syscall.SIGKILL))
	assert.NoError(t, g.controller.Launch(t.Context()))
	return func() { assert.NoError(t, g.controller.Ready(t.Context())) }
}

// A crashScene is one point at which the controller is killed, of one operation.
type crashScene struct {
	operation crashOperation
	moment    crashMoment
}

// play brings every scene to its point, kills the controller once at all of them, and
// sees what becomes of each. Where the machine is so slow that a call times out before
// the last scene is at its point, its scene is played again with fewer beside it. The
// function kills, and sees to another controller: it is soon at work, at the latest when
// what the function returns has returned.
func (g *crashStack) play(t *testing.T, scenes map[string]crashScene, kill func(t *testing.T) (ready func())) {
	t.Helper()
	for len(scenes) > 0 {
		missed := g.playOnce(t, scenes, kill)
		require.Less(t, len(missed), len(scenes), "each call timed out before the controller was killed")
		scenes = missed
	}
}

// playOnce is one round of play. It returns the scenes whose call timed out before the
// controller was killed.
func (g *crashStack) playOnce(t *testing.T, scenes map[string]crashScene, kill func(t *testing.T) (ready func())) map[string]crashScene {
	t.Helper()
	var prepared, reached, over sync.WaitGroup
	begin, again := make(chan struct{}), make(chan struct{})
	var mu sync.Mutex
	gates, missed := map[string]*crashGate{}, map[string]crashScene{}
	prepared.Add(len(scenes))
	reached.Add(len(scenes))
	for name, one := range scenes {
		over.Go(func() {
			t.Run(name, func(t *testing.T) {
				ready, there := sync.OnceFunc(prepared.Done), sync.OnceFunc(reached.Done)
				defer there()
				defer ready() // a scene that fails does not keep the others waiting
				c := newCrash(t, g, one.operation)
				ready()
				<-begin
				gate := one.moment(c)
				one.operation.begin(c)
				gate.reach(t)
				mu.Lock()
				gates[name] = gate
				mu.Unlock()
				there()
				<-again
				if _, is := missed[name]; is {
					t.Log("its call timed out before the controller was killed: it is played again")
					return
				}
				if meanwhile := one.operation.meanwhile; meanwhile != nil {
					meanwhile(c)
				}
				gate.over(t)
				c.ends()
			})
		})
	}
	prepared.Wait()
	close(begin)
	reached.Wait()
	for name, gate := range gates {
		if gate.gaveUp() {
			missed[name] = scenes[name]
		}
	}
	ready := kill(t)
	close(again)
	ready()
	over.Wait()
	return missed
}
