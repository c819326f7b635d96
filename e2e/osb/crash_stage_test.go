package osb_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

// A crashStage is a stack whose controller is killed: it reaches the API server through a
// proxy, and has no other beside it.
type crashStage struct {
	*stack.Stack

	proxy      *stack.APIProxy
	controller *stack.Controller
}

// crashFlags are the flags of a controller that is killed: a call that it left is waited
// for no longer than it has to be, and many calls are held at once.
var crashFlags = append(slices.Clone(briskly), "--workers=64", "--osb-api-request-timeout=4s")

func newCrashStage(t *testing.T) *crashStage {
	t.Helper()
	dir, err := os.MkdirTemp("", "defaultplan-crash-")
	require.NoError(t, err)
	s, err := stack.Start(t.Context(), stack.Options{Dir: filepath.Join(dir, "stack"), Bin: binFolder, Webhooks: 1})
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, s.Stop())
		if t.Failed() {
			t.Logf("logs of the stack: %s", dir)
			return
		}
		assert.NoError(t, os.RemoveAll(dir))
	})
	g := &crashStage{Stack: s}
	g.proxy = g.newProxy(t, "proxied")
	g.controller = g.newController(t, stack.ControllerOptions{Kubeconfig: g.proxy.Kubeconfig(), Args: crashFlags})
	return g
}

func (g *crashStage) newProxy(t *testing.T, name string) *stack.APIProxy {
	t.Helper()
	kubeconfig, err := g.ControllerKubeconfig(t.Context())
	require.NoError(t, err)
	proxy, err := g.StartAPIProxy(t.Context(), name, kubeconfig)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, proxy.Close()) })
	return proxy
}

// newController starts a controller that ends with the test, and had no data race.
func (g *crashStage) newController(t *testing.T, options stack.ControllerOptions) *stack.Controller {
	t.Helper()
	controller, err := g.StartController(t.Context(), options)
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, controller.Stop(context.WithoutCancel(t.Context()), syscall.SIGTERM))
		log, err := os.ReadFile(controller.Log())
		assert.NoError(t, err)
		assert.NotContains(t, string(log), "DATA RACE")
		assert.NotContains(t, string(log), "panic:")
	})
	return controller
}

// killed ends the controller as a power cut does, and launches another one.
func (g *crashStage) killed(t *testing.T) (ready func()) {
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
// sees what becomes of each. The function kills, and sees to another one: it is soon at
// work, at the latest when what the function returns has returned.
func (g *crashStage) play(t *testing.T, scenes map[string]crashScene, kill func(t *testing.T) (ready func())) {
	t.Helper()
	var prepared, reached, over sync.WaitGroup
	begin, again := make(chan struct{}), make(chan struct{})
	var mu sync.Mutex
	var gates []*crashGate
	prepared.Add(len(scenes))
	reached.Add(len(scenes))
	for name, one := range scenes {
		over.Go(func() {
			t.Run(name, func(t *testing.T) {
				ready, there := sync.OnceFunc(prepared.Done), sync.OnceFunc(reached.Done)
				defer there()
				defer ready() // whoever fails keeps nobody waiting
				c := newCrash(t, g, one.operation)
				ready()
				<-begin
				gate := one.moment(c)
				one.operation.begin(c)
				gate.reach(t)
				mu.Lock()
				gates = append(gates, gate)
				mu.Unlock()
				there()
				<-again
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
	for _, gate := range gates {
		assert.False(t, gate.gaveUp(), "a call timed out before the controller was killed: the machine is too slow for so many at once")
	}
	ready := kill(t)
	close(again)
	ready()
	over.Wait()
}
