package osb_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

const (
	// faultyInstances is how many instances, and as many bindings, there are, unless the
	// environment variable FAULT_INSTANCES says otherwise. FAULT_SEED sets the seed.
	faultyInstances, faultyInstancesLong = 24, 60
	// faultyShare is the part of the calls that goes wrong.
	faultyShare = 0.3
	// changedShare is one of so many instances that is changed while it is being made.
	changedShare = 4
	// stuckAfter is how long the broker works on what is not polled.
	stuckAfter = 2 * time.Second
)

// faultFlags are those of a controller whose broker keeps many of its calls waiting.
var faultFlags = []string{"--workers=64", "--secret-interval=1s", stack.CallTimeout(3 * time.Second), "--maximum-retry-interval=4s"}

// newOwnStack starts a stack that the test does not share: its controller is
// busy, or its types and names are those of well-known catalogs.
func newOwnStack(t *testing.T, flags ...string) *stack.Stack {
	t.Helper()
	s := suite.New(t, stack.Options{Webhooks: 1})
	c, err := s.StartController(t.Context(), stack.ControllerOptions{Args: flags})
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, c.Stop(context.WithoutCancel(t.Context()), syscall.SIGTERM))
		log, err := os.ReadFile(c.Log())
		assert.NoError(t, err)
		assert.NotContains(t, string(log), "panic:")
	})
	return s
}

// A shakyEnv is an environment whose broker fails at random.
type shakyEnv struct {
	*testEnv

	seed       uint64
	count      int
	broker     *osbtest.Broker
	registered *api.ClusterServiceBroker
	instances  []*api.ServiceInstance
	bindings   []*api.ServiceBinding
}

func newShakyEnv(t *testing.T, s *stack.Stack) *shakyEnv {
	t.Helper()
	e := &shakyEnv{
		testEnv: newEnvOn(t, s),
		count:   suite.Rounds(t, "FAULT_INSTANCES", faultyInstances, faultyInstancesLong), seed: suite.Seed(t, "FAULT_SEED"),
	}
	slowly := map[osbtest.Verb]int{osbtest.Provision: 1, osbtest.Update: 1, osbtest.Deprovision: 1, osbtest.Bind: 1, osbtest.Unbind: 1}
	e.broker = osbtest.Start(t, osbtest.Options{
		Catalog: catalogFor(e.Suffix),
		Pace:    map[string]map[osbtest.Verb]int{openClass + "-large-" + e.Suffix: slowly, shutClass + "-large-" + e.Suffix: slowly},
	})
	t.Cleanup(e.tell)
	e.registered = e.Register(e.broker)
	e.broker.On(osbtest.Random(e.seed, faultyShare, shakyFaults))
	return e
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
func (e *shakyEnv) ask() {
	e.Helper()
	for n := range e.count {
		name := fmt.Sprintf("db-%03d", n)
		class, plan := []string{openClass, shutClass}[n%2], []string{"small", "large"}[n/2%2]
		i, b := e.Instance(name, env.OfPlan(class+"-"+e.Suffix, plan)), e.Binding(name, name)
		i.Spec.Parameters = env.RawJSON(fmt.Sprintf(`{"size": %d}`, n))
		e.Create(i, b)
		e.instances, e.bindings = append(e.instances, i), append(e.bindings, b)
	}
	for n, i := range e.instances {
		if n%changedShare == 0 {
			patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec": {"parameters": {"size": %d, "changed": true}}}`, n))
			require.NoError(e, e.Client().Patch(e.Context(), i, patch))
		}
	}
}

// until polls for minutes if need be. Meanwhile the broker ends what is not
// polled, as brokers do.
func (e *shakyEnv) until(is func() (bool, error)) {
	e.Helper()
	running, looked := map[string]bool{}, time.Now()
	require.NoError(e, wait.EventuallyWithin(e.Context(), 5*time.Minute+time.Duration(e.count)*time.Second, func() (bool, error) {
		if time.Since(looked) > stuckAfter {
			running, looked = e.endStuck(running), time.Now()
		}
		return is()
	}))
}

// endStuck ends what the broker worked on before, and still does.
func (e *shakyEnv) endStuck(before map[string]bool) map[string]bool {
	running := map[string]bool{}
	for _, id := range e.broker.Running() {
		if before[id] {
			e.broker.Finish(id)
			continue
		}
		running[id] = true
	}
	return running
}

// tell logs the calls about what is not at rest, without what they held.
func (e *shakyEnv) tell() {
	if !e.Failed() {
		return
	}
	file, err := os.CreateTemp("", "defaultplan-calls-")
	if !assert.NoError(e, err) {
		return
	}
	defer func() { assert.NoError(e, file.Close()) }()
	e.Logf("FAULT_SEED=%d; the broker's calls: %s", e.seed, file.Name())
	for _, call := range e.broker.Calls() {
		call.Header, call.Body, call.Raw = nil, nil, nil
		assert.NoError(e, json.NewEncoder(file).Encode(call))
	}
}
