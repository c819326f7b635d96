package endpoints_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/apiproxy"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// heldAtOnce is how many bindings are at their write when the controller is killed. Each
// has one of the broker's places, of which those of one namespace have at most 18.
const heldAtOnce = 10

// Killed at any write on the way from credentials to a Service, another controller ends
// with all of it, once; and a binding that is deleted then leaves nothing.
func TestKilledBetweenTheWrites(t *testing.T) {
	t.Parallel()
	e, proxy, controller := newHeldEnv(t, "crash")
	for moments := range slices.Chunk(e.moments(), heldAtOnce) {
		for _, m := range moments {
			m.held = proxy.Hold(m.matches)
			e.Create(m.binding)
		}
		for _, m := range moments {
			arrives(t, m.held.Arrived, m.binding.Name)
			if m.applied {
				m.held.Apply()
				arrives(t, m.held.Applied, m.binding.Name)
			}
		}
		require.NoError(t, controller.Stop(t.Context(), syscall.SIGKILL))
		for _, m := range moments {
			if m.deleted { // what status does not name yet is found all the same
				e.Delete(m.binding)
			}
		}
		require.NoError(t, controller.Start(t.Context()))
		for _, m := range moments {
			e.ends(m)
		}
		for _, m := range moments {
			e.withdrawn(m.binding)
		}
	}
	assert.Empty(t, e.broker.Bindings())
}

// A controller that looked at a binding before its deletion may write an EndpointSlice when the
// binding is gone. The garbage collector removes it.
func TestASliceAfterItsBinding(t *testing.T) {
	t.Parallel()
	e, proxy, _ := newHeldEnv(t, "late")
	b := e.binding("reader", object{"region": "west"}, endpoint("10.1.2.3", "443"))
	late := proxy.Hold(func(write *apiproxy.Write) bool { return e.isOf(write, "endpointslices", b.Name) })
	e.Create(b)
	arrives(t, late.Arrived, b.Name)
	e.Delete(b)
	e.Gone(b)
	late.Apply()
	arrives(t, late.Applied, b.Name)
	require.Equal(t, http.StatusCreated, late.Write().Code)
	e.withdrawn(b)
	late.Answer() // until then the controller does nothing about this Service
	assert.Empty(t, e.broker.Bindings())
}

// newHeldEnv makes an environment with a controller of its own, whose writes can be held.
func newHeldEnv(t *testing.T, name string) (*testEnv, *apiproxy.Proxy, *stack.Controller) {
	t.Helper()
	s := suite.Shared(t)
	kubeconfig, err := s.ControllerKubeconfig(t.Context())
	require.NoError(t, err)
	proxy, err := s.StartAPIProxy(t.Context(), "endpoints-"+name, kubeconfig)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, proxy.Close()) })
	controller, err := s.StartController(t.Context(), stack.ControllerOptions{
		Name: "controller-" + name, Kubeconfig: proxy.Kubeconfig(),
		// After a crash the next controller waits until no call of the killed one can be on its way. These tests
		// hold no call, so the timeout is short; TestCrashes of e2e/osb shows that it waits.
		Args: append(slices.Clone(controllerFlags), "--controller-name="+name, "--workers=64", stack.CallTimeout(time.Second)),
	})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, controller.Stop(context.WithoutCancel(t.Context()), syscall.SIGKILL)) })
	return newEnv(t, func(b *api.ClusterServiceBroker) { b.Spec.ControllerName = name }), proxy, controller
}

// A moment is a write of one binding at which the controller is killed: before the API
// server has it, or applied, and the controller does not know.
type moment struct {
	binding *api.ServiceBinding
	matches func(*apiproxy.Write) bool
	applied bool
	// deleted says that the binding is deleted before another controller comes.
	deleted bool
	held    *apiproxy.HeldWrite
}

// moments are those on the way from credentials to a Service.
func (e *testEnv) moments() []*moment {
	e.Helper()
	var all []*moment
	for _, resource := range []string{"configmaps", "secrets", "services", "endpointslices", "servicebindings"} {
		for _, applied := range []bool{false, true} {
			for _, deleted := range []bool{false, true} {
				name := fmt.Sprintf("at-%s-%t-%t", resource, applied, deleted)
				all = append(all, &moment{
					binding: e.binding(name, object{"region": "west", "password": "hunter2"}, endpoint("10.1.2.3", "443")), applied: applied, deleted: deleted,
					matches: func(write *apiproxy.Write) bool { return e.isOf(write, resource, name) },
				})
			}
		}
	}
	return all
}

// isOf says that a write makes an object of a binding, or stores its endpoints.
func (e *testEnv) isOf(write *apiproxy.Write, resource, binding string) bool {
	if write.Resource != resource || write.Namespace != e.Namespace {
		return false
	}
	if resource == "servicebindings" {
		return write.Name == binding && write.Status()["endpoints"] != nil
	}
	return write.Method == http.MethodPost && bytes.Contains(write.Body, []byte(binding))
}

// ends sees a binding to its end.
func (e *testEnv) ends(m *moment) {
	e.Helper()
	b := m.binding
	if !m.deleted {
		e.HasCondition(b, api.ConditionEndpoints, api.ConditionTrue, "")
		e.HasCondition(b, api.ConditionReady, api.ConditionTrue, "")
		assert.Equal(e, []string{"10.1.2.3"}, e.leads(b.Name), b.Name)
		assert.Equal(e, []string{b.Name}, b.Status.ConfigMaps, b.Name)
		e.Delete(b)
	}
	e.Gone(b)
}

func arrives(t *testing.T, channel <-chan struct{}, moment string) {
	t.Helper()
	const longest = 20 * time.Second
	select {
	case <-channel:
	case <-time.After(wait.Patience(longest)):
		require.FailNow(t, "the controller never came to "+moment+", or left before it was applied")
	}
}
