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
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
)

// Killed at any write on the way from credentials to a Service, another controller ends
// with all of it, once; and a binding that is deleted then leaves nothing.
func TestKilledBetweenTheWrites(t *testing.T) {
	t.Parallel()
	kubeconfig, err := shared.ControllerKubeconfig(t.Context())
	require.NoError(t, err)
	proxy, err := shared.StartAPIProxy(t.Context(), "endpoints-crash", kubeconfig)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, proxy.Close()) })
	controller, err := shared.StartController(t.Context(), stack.ControllerOptions{
		Name: "controller-crash", Kubeconfig: proxy.Kubeconfig(), Args: append(slices.Clone(briskly), "--controller-name=crash", "--workers=64"),
	})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, controller.Stop(context.WithoutCancel(t.Context()), syscall.SIGKILL)) })
	w := newWorld(t, func(b *api.ClusterServiceBroker) { b.Spec.ControllerName = "crash" })
	moments := w.moments()
	for _, m := range moments {
		m.held = proxy.Hold(m.matches)
		w.Create(m.binding)
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
			w.Delete(m.binding)
		}
	}
	require.NoError(t, controller.Start(t.Context()))
	for _, m := range moments {
		w.ends(m)
	}
	assert.Empty(t, w.broker.Bindings())
}

// A moment is a write of one binding at which the controller is killed: before the API
// server has it, or applied, and the controller does not know.
type moment struct {
	binding *api.ServiceBinding
	matches func(*stack.APIWrite) bool
	applied bool
	// deleted says that the binding is deleted before another controller comes.
	deleted bool
	held    *stack.HeldWrite
}

// moments are those on the way from credentials to a Service.
func (w *world) moments() []*moment {
	w.Helper()
	var all []*moment
	for _, resource := range []string{"configmaps", "secrets", "services", "endpointslices", "servicebindings"} {
		for _, applied := range []bool{false, true} {
			for _, deleted := range []bool{false, true} {
				name := fmt.Sprintf("at-%s-%t-%t", resource, applied, deleted)
				all = append(all, &moment{
					binding: w.binding(name, object{"region": "west", "password": "hunter2"}, endpoint("10.1.2.3", "443")), applied: applied, deleted: deleted,
					matches: func(write *stack.APIWrite) bool { return w.isOf(write, resource, name) },
				})
			}
		}
	}
	return all
}

// isOf says that a write makes an object of a binding, or stores its endpoints.
func (w *world) isOf(write *stack.APIWrite, resource, binding string) bool {
	if write.Resource != resource || write.Namespace != w.namespace {
		return false
	}
	if resource == "servicebindings" {
		return write.Name == binding && write.Status()["endpoints"] != nil
	}
	return write.Method == http.MethodPost && bytes.Contains(write.Body, []byte(binding))
}

// ends sees a binding to its end, of which nothing stays.
func (w *world) ends(m *moment) {
	w.Helper()
	b := m.binding
	if !m.deleted {
		w.Says(b, api.ConditionEndpoints, api.ConditionTrue, "")
		w.Says(b, api.ConditionReady, api.ConditionTrue, "")
		assert.Equal(w, []string{"10.1.2.3"}, w.leads(b.Name), b.Name)
		assert.Equal(w, []string{b.Name}, b.Status.ConfigMaps, b.Name)
		w.Delete(b)
	}
	w.Gone(b)
	for _, o := range []client.Object{w.service(b.Name), w.configMap(b.Name), w.secret(b.Name)} {
		assert.True(w, w.Absent(o), "%s: %T", b.Name, o)
	}
	assert.Empty(w, w.leads(b.Name), b.Name)
}

func arrives(t *testing.T, channel <-chan struct{}, moment string) {
	t.Helper()
	const longest = 20 * time.Second
	select {
	case <-channel:
	case <-time.After(longest):
		require.FailNow(t, "the controller never came to "+moment)
	}
}
