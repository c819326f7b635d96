package osb_test

import (
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// An object is one of JSON.
type object = map[string]any

// A setting is what the broker of an environment is like.
type setting struct {
	osbtest.Options

	// service is the one that the catalog has, and small and large are its plans.
	service, small, large object
	// register edits the broker's registration; may be nil.
	register func(*api.ClusterServiceBroker)
	// except are the duties that are broken on purpose.
	except []string
}

// A brokerEnv is an environment with a broker of its own, which offers one class of two
// plans.
type brokerEnv struct {
	*testEnv

	setting    setting
	broker     *osbtest.Broker
	registered *api.ClusterServiceBroker
}

// newBrokerEnv registers a broker. At the end of the test its duties must have been kept.
func newBrokerEnv(t *testing.T, edits ...func(*setting)) *brokerEnv {
	t.Helper()
	e := newEnv(t)
	s := &brokerEnv{testEnv: e, setting: setting{
		service: e.Service(), small: e.Plan("small").With("free", true), large: e.Plan("large").With("free", false),
	}}
	for _, edit := range edits {
		edit(&s.setting)
	}
	s.setting.Catalog = s.catalog()
	s.broker = e.StartBroker(s.setting.Options)
	t.Cleanup(func() { s.broker.AssertDuties(t, s.setting.except...) })
	if s.setting.register == nil {
		s.setting.register = func(*api.ClusterServiceBroker) {}
	}
	s.registered = e.Register(s.broker, s.setting.register)
	return s
}

// catalog is the broker's, as its setting is now.
func (s *brokerEnv) catalog() []byte {
	s.Helper()
	s.setting.service["plans"] = []object{s.setting.small, s.setting.large}
	text, err := json.Marshal(object{"services": []object{s.setting.service}})
	require.NoError(s, err)
	return text
}

// relist has the broker offer what the setting says by now, and waits until that is
// known.
func (s *brokerEnv) relist() {
	s.Helper()
	require.NoError(s, s.broker.SetCatalog(s.catalog()))
	s.Change(s.registered, func() { s.registered.Spec.RelistRequests++ })
	s.Ready(s.registered)
}

// db is an instance of the small plan, not yet created.
func (s *brokerEnv) db(edits ...func(*api.ServiceInstance)) *api.ServiceInstance {
	i := s.Instance("mydb", env.OfPlan(s.Name("db"), "small"))
	for _, edit := range edits {
		edit(i)
	}
	return i
}

// provisioned is an instance that is Ready.
func (s *brokerEnv) provisioned(edits ...func(*api.ServiceInstance)) *api.ServiceInstance {
	s.Helper()
	i := s.db(edits...)
	s.Create(i)
	s.Ready(i)
	return i
}

// having gives an instance parameters.
func having(parameters string) func(*api.ServiceInstance) {
	return func(i *api.ServiceInstance) { i.Spec.Parameters = env.RawJSON(parameters) }
}

// from gives an instance parameters of a Secret's key "parameters".
func from(secret string) func(*api.ServiceInstance) {
	return func(i *api.ServiceInstance) {
		ref := &api.SecretKeyReference{Name: secret, Key: "parameters"}
		i.Spec.ParametersFrom = append(i.Spec.ParametersFrom, api.ParametersFromSource{SecretKeyRef: ref})
	}
}

// called waits until a broker has had so many calls of a verb.
func (s *brokerEnv) called(verb osbtest.Verb, times int) []osbtest.Call {
	s.Helper()
	var calls []osbtest.Call
	s.Eventually(func() (bool, error) {
		calls = s.broker.Calls(osbtest.Of(verb))
		return len(calls) >= times, nil
	})
	return calls
}

// stalled waits until an instance is Failed for a reason, and says so to kstatus.
func (s *brokerEnv) stalled(i *api.ServiceInstance, reason string) {
	s.Helper()
	s.HasCondition(i, api.ConditionFailed, api.ConditionTrue, reason)
	s.HasCondition(i, api.ConditionStalled, api.ConditionTrue, reason)
	s.HasCondition(i, api.ConditionReady, api.ConditionFalse, reason)
	_, reconciling := api.FindCondition(i.Status.Conditions, api.ConditionReconciling)
	assert.False(s, reconciling, "nothing more is tried")
}

// end deletes an instance, of which nothing stays at the broker.
func (s *brokerEnv) end(i *api.ServiceInstance) {
	s.Helper()
	s.Delete(i)
	s.Gone(i)
	assert.Empty(s, s.broker.Instances())
}

// only is the one instance that the broker has.
func (s *brokerEnv) only() osbtest.Instance {
	s.Helper()
	instances := s.broker.Instances()
	require.Len(s, instances, 1)
	for _, instance := range instances {
		return instance
	}
	return osbtest.Instance{}
}

// spaced is the time between consecutive calls.
func spaced(calls []osbtest.Call) []time.Duration {
	var between []time.Duration
	for i := 1; i < len(calls); i++ {
		between = append(between, calls[i].Began.Sub(calls[i-1].Began))
	}
	return between
}

// A recording is every version of one instance that the API server stored.
type recording struct {
	mutex    sync.Mutex
	versions []api.ServiceInstance
}

// record watches an instance of the environment until the test ends.
func (e *testEnv) record(name string) *recording {
	e.Helper()
	watcher, err := e.Client().Watch(e.Context(), &api.ServiceInstanceList{}, client.InNamespace(e.Namespace), client.MatchingFields{"metadata.name": name})
	require.NoError(e, err)
	r := &recording{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range watcher.ResultChan() {
			if i, ok := event.Object.(*api.ServiceInstance); ok {
				r.mutex.Lock()
				r.versions = append(r.versions, *i)
				r.mutex.Unlock()
			}
		}
	}()
	e.Cleanup(func() {
		watcher.Stop()
		<-done
	})
	return r
}

// until are the versions up to the one of an instance, which it waits for.
func (r *recording) until(e *testEnv, i *api.ServiceInstance) []api.ServiceInstance {
	e.Helper()
	var found []api.ServiceInstance
	e.Eventually(func() (bool, error) {
		r.mutex.Lock()
		defer r.mutex.Unlock()
		at := slices.IndexFunc(r.versions, func(v api.ServiceInstance) bool { return v.ResourceVersion == i.ResourceVersion })
		found = withoutDelays(r.versions[:at+1])
		return at >= 0, nil
	})
	return found
}

// told is what the condition Ready said, up to a version, without repetitions: "False
// ProvisionCallFailed".
func (r *recording) told(e *testEnv, i *api.ServiceInstance) []string {
	e.Helper()
	var all []string
	for _, version := range r.until(e, i) {
		if c, ok := api.FindCondition(version.Status.Conditions, api.ConditionReady); ok {
			all = append(all, string(c.Status)+" "+c.Reason)
		}
	}
	return slices.Compact(all)
}
