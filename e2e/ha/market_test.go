package ha_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// callTimeout is that of one call to a broker: what a controller left is waited for no
// longer than it has to be.
const callTimeout = 4 * time.Second

// A market is a broker with one type of service, whose plan is the type's default, and
// instances with a binding each, all of which take their time.
type market struct {
	*testEnv

	broker            *osbtest.Broker
	serviceType, plan string
	pairs             int
}

// newMarket registers the broker; the pairs are asked for later.
func (e *testEnv) newMarket(pairs int) *market {
	e.Helper()
	m := &market{testEnv: e, serviceType: e.Name("mysql"), pairs: pairs}
	id := e.Name("small")
	m.broker = e.StartBroker(osbtest.Options{Crashes: true, Catalog: fmt.Appendf(nil, `{"services": [
		{"id": %[1]q, "name": %[1]q, "description": "d", "bindable": true, "instances_retrievable": true, "bindings_retrievable": true,
		"tags": ["ServiceType=%[1]s"], "plans": [{"id": %[2]q, "name": "small", "description": "d"}]}]}`, m.serviceType, id)})
	m.broker.Async(osbtest.Provision, 1)
	m.broker.Async(osbtest.Bind, 1)
	e.Register(m.broker)
	e.eventually(func() (bool, error) { return m.offered(id) })
	choice{testEnv: e, serviceType: m.serviceType, plans: [2]string{m.plan, m.plan}}.recordedAlone()
	return m
}

// in is the same market as seen by a subtest.
func (m *market) in(t *testing.T) *market {
	t.Helper()
	same := *m
	same.testEnv = &testEnv{m.In(t)}
	return &same
}

// offered annotates the plan as the default once the catalog was read.
func (m *market) offered(id string) (bool, error) {
	var plans api.ClusterServicePlanList
	if err := m.Client().List(m.Context(), &plans); err != nil {
		return false, err
	}
	at := slices.IndexFunc(plans.Items, func(p api.ClusterServicePlan) bool { return p.Spec.ExternalID == id })
	if at < 0 {
		return false, fmt.Errorf("plan %s is not offered yet", id)
	}
	m.plan = plans.Items[at].Name
	patch := fmt.Appendf(nil, `{"metadata": {"annotations": {%q: "true"}}}`, api.AnnotationDefaultPlan)
	return true, m.Client().Patch(m.Context(), &plans.Items[at], client.RawPatch(types.MergePatchType, patch))
}

// recordedAlone waits until the record names the only plan.
func (c choice) recordedAlone() {
	c.Helper()
	c.eventually(func() (bool, error) {
		record := &api.ClusterServiceType{ObjectMeta: metav1.ObjectMeta{Name: c.serviceType}}
		if err := c.Client().Get(c.Context(), client.ObjectKeyFromObject(record), record); err != nil {
			return false, err
		}
		if ref := record.Spec.DefaultPlanRef; ref == nil || ref.Name != c.plans[0] {
			return false, fmt.Errorf("type %s records %v", c.serviceType, ref)
		}
		return true, nil
	})
}

// asks creates the pairs.
func (m *market) asks() {
	m.Helper()
	for n := range m.pairs {
		i := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: fmt.Sprintf("db-%d", n)}}
		i.Spec.ServiceType = m.serviceType
		b := &api.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: i.Name}}
		b.Spec.InstanceRef = &api.InstanceReference{Name: i.Name}
		m.Create(i, b)
	}
}

// called waits until the broker was asked to provision so many.
func (m *market) called(times int) {
	m.Helper()
	m.eventually(func() (bool, error) { return len(m.broker.Calls(osbtest.Of(osbtest.Provision))) >= times, nil })
}

func (m *market) objects() ([]api.ServiceInstance, []api.ServiceBinding) {
	m.Helper()
	var instances api.ServiceInstanceList
	var bindings api.ServiceBindingList
	require.NoError(m, m.Client().List(m.Context(), &instances, client.InNamespace(m.Namespace)))
	require.NoError(m, m.Client().List(m.Context(), &bindings, client.InNamespace(m.Namespace)))
	return instances.Items, bindings.Items
}

// allReady waits until every instance and binding is Ready.
func (m *market) allReady() {
	m.Helper()
	m.eventually(func() (bool, error) {
		instances, bindings := m.objects()
		for i := range instances {
			if err := notReady(&instances[i], instances[i].Status.Conditions); err != nil {
				return false, err
			}
		}
		for i := range bindings {
			if err := notReady(&bindings[i], bindings[i].Status.Conditions); err != nil {
				return false, err
			}
		}
		return true, nil
	})
}

func notReady(o client.Object, conditions []api.Condition) error {
	if found, _ := api.FindCondition(conditions, api.ConditionReady); found.Status == api.ConditionTrue {
		return nil
	}
	text, err := json.Marshal(conditions)
	if err != nil {
		return fmt.Errorf("cannot encode conditions: %w", err)
	}
	return fmt.Errorf("%T %s is not Ready: %s", o, o.GetName(), text)
}

// booksAgree says that the broker has what the cluster knows of, and no more, and made
// nothing twice.
func (m *market) booksAgree() {
	m.Helper()
	instances, bindings := m.objects()
	known, bound := []string{}, []string{}
	for i := range instances {
		known = append(known, instances[i].Status.ExternalID)
	}
	for i := range bindings {
		bound = append(bound, bindings[i].Status.ExternalID)
	}
	assert.ElementsMatch(m, known, slices.Collect(maps.Keys(m.broker.Instances())), "instances in the cluster and at the broker")
	assert.ElementsMatch(m, bound, slices.Collect(maps.Keys(m.broker.Bindings())), "bindings in the cluster and at the broker")
	for id, history := range m.broker.Histories() {
		assert.Equal(m, osbtest.History{Made: 1, Changed: history.Changed}, history, "ID %s", id)
	}
	m.broker.AssertDuties(m)
}

// controllerKilled while a broker provisions fifty instances and their bindings.
func controllerKilled(m *market, c *company) {
	e := m.testEnv
	last := e.leads(c.lease, "")
	m.asks()
	m.called(m.pairs / 2)
	require.NoError(e, c.leader.stop(syscall.SIGKILL))
	killed := time.Now()
	now := e.leads(c.lease, last.holder)
	m.allReady()
	m.booksAgree()
	e.succession(c, killed, now)
	e.Logf("%d instances and bindings were Ready %s after the kill", m.pairs, time.Since(killed).Round(100*time.Millisecond))
	require.NoError(e, c.leader.start())
	c.succeeded()
}

// controllerCutOff lives, and reaches brokers but not the API server, with a call of its
// own under way: it has stopped before the other one begins.
func controllerCutOff(m *market, c *company) {
	e := m.testEnv
	last := e.leads(c.lease, "")
	m.asks()
	m.called(m.pairs / 2)
	_, back := c.leader.proxy.Away(1 << 30)
	cut := time.Now()
	now := e.leads(c.lease, last.holder)
	// It can reach the API server again, and has nothing to say any more.
	back()
	m.allReady()
	m.booksAgree()
	e.succession(c, cut, now)
	stopped := cut.Add(longest)
	for _, call := range m.broker.Calls() {
		assert.False(e, call.Began.After(stopped) && call.Began.Before(now.since), "%s was called at %s: there was no leader", call.Verb, call.Began)
	}
	pid, err := e.Pid(c.leader.name)
	require.NoError(e, err)
	e.ends(pid)
	require.NoError(e, c.leader.start())
	c.succeeded()
	e.resigns(c)
}

// ends waits until a process that lost its Lease has ended.
func (e *testEnv) ends(pid int) {
	e.Helper()
	e.eventually(func() (bool, error) {
		if syscall.Kill(pid, 0) == nil {
			return false, fmt.Errorf("process %d still runs", pid)
		}
		return true, nil
	})
}

// resigns: a leader that is told to end is not waited for.
func (e *testEnv) resigns(c *company) {
	e.Helper()
	before := e.leads(c.lease, "")
	require.NoError(e, c.leader.stop(syscall.SIGTERM))
	ended := time.Now()
	now := e.leads(c.lease, before.holder)
	assert.Less(e, now.since.Sub(ended), leaseTime-retryTime)
	require.NoError(e, c.leader.start())
	c.succeeded()
}
