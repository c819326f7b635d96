package svcat_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// Who applies a field from elsewhere will put it back, and svcat says who.
func TestSetWarnsOfTools(t *testing.T) {
	t.Parallel()
	s := newEnv(t).newStall(false, "basic50", "premium-p1")
	applies := func(manager, name, fields string) {
		s.kubectl(fmt.Sprintf(`{"apiVersion": "servicecatalog.k8s.io/v1beta1", "kind": "ClusterServicePlan", "metadata": {"name": %q%s`, s.Name(name), fields),
			"apply", "--server-side", "--field-manager="+manager, "--force-conflicts", "-f", "-")
	}
	applies("argocd-controller", "basic50", `}, "spec": {"weight": 5, "defaultProvisionParameters": {"size": 1}}}`)
	got := s.set("plan", s.Name("basic50"), "--provision-params", "size: 2", "--bind-params", "a: 1")
	assert.Equal(t, "warning: argocd-controller applies the default provision parameters of plan azure-mysql/basic50 and will put its own back; change it there\n", got.err)
	assert.Empty(t, s.set("plan", s.Name("basic50"), "--provision-params", "size: 3").err, "it is svcat's now")
	assert.Contains(t, s.set("plan", s.Name("basic50"), "--weight", "6").err, "argocd-controller applies the weight")

	// A person at kubectl is no tool.
	applies("kubectl", "premium-p1", `}, "spec": {"weight": 5}}`)
	assert.Empty(t, s.set("plan", s.Name("premium-p1"), "--weight", "6").err)

	// The annotation of the old default, which the tool could not apply any more.
	applies("helm", "basic50", `, "annotations": {"servicecatalog.kubernetes.io/is-default-plan": "true"}}}`)
	s.comesTo("record basic50, annotated basic50")
	got = s.set("plan", s.Name("premium-p1"), "--default")
	assert.Equal(t, "warning: helm applies the default annotation of azure-mysql/basic50, which is refused from now on; take it out there\n", got.err)

	// And the record itself.
	s.kubectl(fmt.Sprintf(`{"apiVersion": "servicecatalog.k8s.io/v1beta1", "kind": "ClusterServiceType", "metadata": {"name": %q}, "spec": {"defaultPlanRef": {"name": %q}}}`,
		s.kind, s.Name("premium-p1")), "apply", "--server-side", "--field-manager=flux", "--force-conflicts", "-f", "-")
	got = s.set("plan", s.Name("basic50"), "--default")
	assert.Equal(t, "warning: flux applies the default of type mysql and will put its own back; change it there\n", got.err)
}

// What a broker suggests is the operator's as soon as he sets it, and comes back when
// he clears it. A relist after each says whether the warning was true.
func TestSetWarnsOfTheBroker(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	offers := e.register()
	s := &stall{testEnv: e}
	plan := offers.plan("small")
	const suggested = `{"size":1}`
	require.Equal(t, suggested, s.spec(plan, "defaultProvisionParameters"))

	// The same value: it stays the broker's.
	title := "plan " + offers.name + "/small"
	got := s.set("plan", plan.GetName(), "--provision-params", suggested, "--cluster")
	assert.Contains(t, got.out, "default provision parameters set (as before)")
	assert.Equal(t, "warning: the broker of "+s.normal(title)+" suggests just this as its default provision parameters; it stays the broker's, and later suggestions are taken\n", got.err)
	offers.relist(2)
	assert.Equal(t, `{"size":2}`, s.spec(plan, "defaultProvisionParameters"))

	got = s.set("plan", plan.GetName(), "--provision-params", "size: 7", "--cluster")
	assert.Equal(t, "warning: the broker of "+s.normal(title)+" suggested its default provision parameters; from now on it is yours, and later suggestions are not taken\n", got.err)
	offers.relist(3)
	assert.Equal(t, `{"size":7}`, s.spec(plan, "defaultProvisionParameters"))
	got = s.set("plan", plan.GetName(), "--provision-params", "null", "--cluster")
	assert.Equal(t, "warning: if the broker of "+s.normal(title)+" suggests its default provision parameters, the next relist brings that back; to have none, give --provision-params {}\n", got.err)
	offers.relist(4)
	assert.Equal(t, `{"size":4}`, s.spec(plan, "defaultProvisionParameters"), "released, it returns")

	got = s.set("plan", plan.GetName(), "--provision-params", "null", "--cluster")
	assert.Contains(t, got.err, "the next relist puts that back; to have none, give --provision-params {}")
	offers.relist(5)
	assert.Equal(t, `{"size":5}`, s.spec(plan, "defaultProvisionParameters"))
	s.set("plan", plan.GetName(), "--provision-params", "{}", "--cluster")
	offers.relist(6)
	assert.Equal(t, `{}`, s.spec(plan, "defaultProvisionParameters"))
}

// The relist writes the type on each plan, so that they do not follow their class.
func TestSetWarnsOfPlansWithATypeOfTheirOwn(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	offers := e.register()
	s := &stall{testEnv: e}
	got := s.set("class", offers.name, "--type", e.Name("storage"), "--cluster")
	assert.Equal(t, "class store: type storage\n", got.out)
	assert.Contains(t, got.err, "warning: the broker of class store suggested its type; from now on it is yours")
	assert.Contains(t, got.err, "Warning: plans of class store that have a type of their own keep it: ")
}

// A market is a broker of a test's own, with one service of two plans, of which small
// is suggested for the type.
type market struct {
	*testEnv

	broker     *osbtest.Broker
	registered *api.ClusterServiceBroker
	// name is the service's, and kind its type.
	name, kind string
}

func (e *testEnv) register() *market {
	e.Helper()
	m := &market{testEnv: e, name: e.Name("store"), kind: e.Name("disk")}
	m.broker = osbtest.Start(e.T, osbtest.Options{Catalog: m.catalog(1)})
	m.registered = &api.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: e.Name("market")}}
	m.registered.Spec.URL = m.broker.URL
	require.NoError(e, e.Client().Create(e.Context(), m.registered))
	m.ready()
	return m
}

// catalog suggests a size.
func (m *market) catalog(size int) []byte {
	type object = map[string]any
	plan := func(name string, metadata object) object {
		return object{"id": m.Name(name), "name": name, "description": name, "free": true, "metadata": metadata}
	}
	text, err := json.Marshal(object{"services": []object{{
		"id": m.Name("store"), "name": m.name, "description": "disks", "bindable": true, "plan_updateable": true,
		"tags": []string{"ServiceType=" + m.kind},
		"plans": []object{
			plan("small", object{"tags": []string{"SuggestedPlan=true", "Cores=4"}, "defaultProvisionParameters": object{"size": size}}),
			plan("large", object{}),
		},
	}}})
	require.NoError(m, err)
	return text
}

// relist has the broker suggest another size, and waits until that was taken over.
func (m *market) relist(size int) {
	m.Helper()
	require.NoError(m, m.broker.SetCatalog(m.catalog(size)))
	m.Get(m.registered)
	m.registered.Spec.RelistRequests++
	require.NoError(m, m.Client().Update(m.Context(), m.registered))
	m.ready()
}

func (m *market) ready() {
	m.Helper()
	require.NoError(m, wait.Eventually(m.Context(), func() (bool, error) {
		if err := m.Client().Get(m.Context(), client.ObjectKeyFromObject(m.registered), m.registered); err != nil {
			return true, err
		}
		ready, _ := api.FindCondition(m.registered.Status.Conditions, api.ConditionReady)
		if ready.Status == api.ConditionTrue && ready.ObservedGeneration == m.registered.Generation {
			return true, nil
		}
		return false, fmt.Errorf("it is %+v", ready)
	}))
}

// plan is a plan of the market.
func (m *market) plan(name string) client.Object {
	m.Helper()
	plans := api.ClusterServicePlanList{}
	require.NoError(m, m.Client().List(m.Context(), &plans, client.MatchingFields{api.FieldExternalID: m.Name(name)}))
	require.Len(m, plans.Items, 1)
	return &plans.Items[0]
}
