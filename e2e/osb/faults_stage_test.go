package osb_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

const (
	// faultyInstances is how many instances, and as many bindings, there are, unless the
	// environment variable FAULT_INSTANCES says otherwise. The seed is of FAULT_SEED, or
	// any.
	faultyInstances = 100
	// faultyShare is the part of the calls that goes wrong.
	faultyShare = 0.3
	// changedShare is one of so many instances that is changed while it is being made.
	changedShare = 4
	// stuckAfter is how long the broker works on what nobody polls.
	stuckAfter = 2 * time.Second
)

// faultFlags are those of a controller whose broker keeps many of its calls waiting.
var faultFlags = []string{"--workers=64", "--secret-interval=1s", "--osb-api-request-timeout=3s", "--maximum-retry-interval=4s"}

// newOwnStack starts a stack that the test shares with nobody: its controller is busy, or
// its types and names are those of well-known catalogs.
func newOwnStack(t *testing.T, flags ...string) *stack.Stack {
	t.Helper()
	dir, err := os.MkdirTemp("", "defaultplan-own-")
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
	c, err := s.StartController(t.Context(), stack.ControllerOptions{Args: flags})
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, c.Stop(context.WithoutCancel(t.Context()), syscall.SIGTERM))
		log, err := os.ReadFile(c.Log())
		assert.NoError(t, err)
		assert.NotContains(t, string(log), "DATA RACE")
		assert.NotContains(t, string(log), "panic:")
	})
	return s
}

// A shakyWorld is a world whose broker fails at random.
type shakyWorld struct {
	*world

	seed, count uint64
	broker      *osbtest.Broker
	registered  *api.ClusterServiceBroker
	instances   []*api.ServiceInstance
	bindings    []*api.ServiceBinding
}

func newShakyWorld(t *testing.T, s *stack.Stack) *shakyWorld {
	t.Helper()
	w := &shakyWorld{
		world: newWorldOn(t, s),
		count: fromEnvironment(t, "FAULT_INSTANCES", faultyInstances), seed: fromEnvironment(t, "FAULT_SEED", rand.Uint64()),
	}
	t.Logf("FAULT_INSTANCES=%d FAULT_SEED=%d", w.count, w.seed)
	slowly := map[osbtest.Verb]int{osbtest.Provision: 1, osbtest.Update: 1, osbtest.Deprovision: 1, osbtest.Bind: 1, osbtest.Unbind: 1}
	w.broker = osbtest.Start(t, osbtest.Options{
		Catalog: catalogFor(w.suffix),
		Pace:    map[string]map[osbtest.Verb]int{openClass + "-large-" + w.suffix: slowly, shutClass + "-large-" + w.suffix: slowly},
	})
	t.Cleanup(w.tell)
	w.registered = w.register(w.broker)
	w.broker.On(osbtest.Random(w.seed, faultyShare, shakyFaults))
	return w
}

// tooMuch is more than a platform reads of an answer, and not as much as keeps this
// machine from answering others.
const tooMuch = 6 << 20

// shakyFaults are all that can befall a call, and that it is refused for good.
func shakyFaults(verb osbtest.Verb) []osbtest.Fault {
	list := slices.DeleteFunc(osbtest.Faults(verb), func(f osbtest.Fault) bool { return f.String() == osbtest.Oversized(0).String() })
	list = append(list, osbtest.Oversized(tooMuch))
	switch verb {
	case osbtest.Provision, osbtest.Update, osbtest.Bind:
		return append(list, osbtest.Status(http.StatusBadRequest, `{"description": "not like this"}`))
	default:
		return list
	}
}

// ask makes the instances and bindings, of all kinds of plans in turn, and changes some.
func (w *shakyWorld) ask() {
	w.Helper()
	for n := range int(w.count) {
		name := fmt.Sprintf("db-%03d", n)
		class, plan := []string{openClass, shutClass}[n%2], []string{"small", "large"}[n/2%2]
		i, b := w.instance(name, class+"-"+w.suffix, plan), w.binding(name, name)
		i.Spec.Parameters = stack.RawJSON(fmt.Sprintf(`{"size": %d}`, n))
		w.Create(i, b)
		w.instances, w.bindings = append(w.instances, i), append(w.bindings, b)
	}
	for n, i := range w.instances {
		if n%changedShare == 0 {
			patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec": {"parameters": {"size": %d, "changed": true}}}`, n))
			require.NoError(w, w.client.Patch(w.Context(), i, patch))
		}
	}
}

// until polls for minutes if need be. Meanwhile the broker ends what nobody polls, as
// brokers do.
func (w *shakyWorld) until(is func() (bool, error)) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), 5*time.Minute+time.Duration(w.count)*time.Second)
	defer cancel()
	running, looked := map[string]bool{}, time.Now()
	require.NoError(w, stack.Eventually(ctx, func() (bool, error) {
		if time.Since(looked) > stuckAfter {
			running, looked = w.endStuck(running), time.Now()
		}
		return is()
	}))
}

// endStuck ends what the broker worked on before, and still does.
func (w *shakyWorld) endStuck(before map[string]bool) map[string]bool {
	running := map[string]bool{}
	for _, id := range w.broker.Running() {
		if before[id] {
			w.broker.Finish(id)
			continue
		}
		running[id] = true
	}
	return running
}

// tell logs the calls about what is not at rest, without what they held.
func (w *shakyWorld) tell() {
	if !w.Failed() {
		return
	}
	file, err := os.CreateTemp("", "defaultplan-calls-")
	if !assert.NoError(w, err) {
		return
	}
	defer func() { assert.NoError(w, file.Close()) }()
	w.Logf("FAULT_SEED=%d; the broker's calls: %s", w.seed, file.Name())
	for _, call := range w.broker.Calls() {
		call.Header, call.Body, call.Raw = nil, nil, nil
		assert.NoError(w, json.NewEncoder(file).Encode(call))
	}
}
