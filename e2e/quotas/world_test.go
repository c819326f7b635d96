package quotas_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// object is one of JSON.
type object = map[string]any

// A world is a corner of the stack that belongs to one test: a namespace, and a broker
// with one class of two plans, small and large. Its methods fail the test.
type world struct {
	stack.Objects

	namespace, suffix string
	client            client.Client
	broker            *osbtest.Broker
}

func newWorld(t *testing.T, edits ...func(*osbtest.Options)) *world {
	t.Helper()
	w := &world{Objects: stack.Objects{T: t, Stack: shared}, suffix: strings.ToLower(rand.Text()[:8]), client: shared.Client()}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "quota-"}}
	w.Create(namespace)
	w.namespace = namespace.Name
	catalog, err := json.Marshal(object{"services": []object{{
		"id": w.name("db-id"), "name": w.name("db"), "description": "databases", "bindable": true, "plan_updateable": true,
		"plans": []object{
			{"id": w.id("small"), "name": "small", "description": "a small one", "free": true},
			{"id": w.id("large"), "name": "large", "description": "a large one", "free": false},
		},
	}}})
	require.NoError(t, err)
	options := osbtest.Options{Catalog: catalog, Crashes: true}
	for _, edit := range edits {
		edit(&options)
	}
	w.broker = osbtest.Start(t, options)
	registered := &api.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: w.name("broker")}}
	registered.Spec.URL = w.broker.URL
	w.Create(registered)
	w.ready(registered)
	return w
}

// name makes a name unique, and id is that of a plan at the broker.
func (w *world) name(base string) string { return base + "-" + w.suffix }
func (w *world) id(plan string) string   { return w.name(plan + "-id") }

func (w *world) delete(o client.Object) {
	w.Helper()
	require.NoError(w, client.IgnoreNotFound(w.client.Delete(w.Context(), o)))
}

// gone waits until objects are there no more.
func (w *world) gone(objects ...client.Object) {
	w.Helper()
	for _, o := range objects {
		w.eventually(func() (bool, error) {
			err := w.client.Get(w.Context(), client.ObjectKeyFromObject(o), o)
			return err != nil && client.IgnoreNotFound(err) == nil, err
		})
	}
}

// eventually polls until the condition is true; an error says why not yet, and is
// nothing beside true.
func (w *world) eventually(is func() (bool, error)) {
	w.Helper()
	require.NoError(w, stack.Eventually(w.Context(), func() (bool, error) {
		done, why := is()
		if done {
			return true, nil
		}
		return false, why
	}))
}

// ready waits until objects are Ready as their specs are now.
func (w *world) ready(objects ...client.Object) {
	w.Helper()
	for _, o := range objects {
		w.says(o, api.ConditionTrue, "")
	}
}

// waits waits until objects wait for slots, and returns what the last says of it.
func (w *world) waits(objects ...client.Object) string {
	w.Helper()
	message := ""
	for _, o := range objects {
		message = w.says(o, api.ConditionUnknown, "WaitingForSlot").Message
	}
	return message
}

func (w *world) says(o client.Object, status api.ConditionStatus, reason string) api.Condition {
	w.Helper()
	var ready api.Condition
	w.eventually(func() (bool, error) {
		if err := w.client.Get(w.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			return false, err
		}
		ready = readyOf(o)
		is := ready.Status == status && (reason == "" || ready.Reason == reason) && ready.ObservedGeneration == o.GetGeneration()
		return is, fmt.Errorf("%T %s is %+v", o, o.GetName(), ready)
	})
	return ready
}

func readyOf(o client.Object) api.Condition {
	ready, _ := api.FindCondition(stack.ConditionsOf(o), api.ConditionReady)
	return ready
}

// db is an instance, not yet created.
func (w *world) db(name, plan string) *api.ServiceInstance {
	i := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}}
	i.Spec.ClusterServiceClassExternalName, i.Spec.ClusterServicePlanExternalName = w.name("db"), plan
	return i
}

// dbs are several of a plan, not yet created.
func (w *world) dbs(plan string, names ...string) []*api.ServiceInstance {
	all := make([]*api.ServiceInstance, len(names))
	for i, name := range names {
		all[i] = w.db(name, plan)
	}
	return all
}

// binding is one to an instance, not yet created.
func (w *world) binding(name, instance string) *api.ServiceBinding {
	b := &api.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}}
	b.Spec.InstanceRef = &api.InstanceReference{Name: instance}
	return b
}

// limit is a policy for plans of the world's class, in its namespace; removed at the end.
func (w *world) limit(name string, edit func(*api.ProvisioningPolicySpec), plans ...string) *api.ProvisioningPolicy {
	w.Helper()
	p := &api.ProvisioningPolicy{ObjectMeta: metav1.ObjectMeta{Name: w.name(name)}}
	p.Spec.Action, p.Spec.Message = api.PolicyLimit, "ask Ann for more"
	p.Spec.Namespaces = &api.PolicyNamespaces{Names: []string{w.namespace}}
	for _, plan := range plans {
		p.Spec.Subjects = append(p.Spec.Subjects, api.PolicySubject{PlanSubject: api.PlanSubject{ClassName: w.name("db"), PlanName: plan}})
	}
	edit(&p.Spec)
	w.Create(p)
	w.Cleanup(func() {
		assert.NoError(w, client.IgnoreNotFound(w.client.Delete(context.WithoutCancel(w.Context()), p)))
	})
	return p
}

func instances(n int32) func(*api.ProvisioningPolicySpec) {
	return func(s *api.ProvisioningPolicySpec) { s.MaxInstances = &n }
}

func bindings(n int32) func(*api.ProvisioningPolicySpec) {
	return func(s *api.ProvisioningPolicySpec) { s.MaxBindings = &n }
}

// slots are how many slots a policy granted in the namespace.
func (w *world) slots(p *api.ProvisioningPolicy) (instances, bindings int) {
	w.Helper()
	require.NoError(w, w.client.Get(w.Context(), client.ObjectKeyFromObject(p), p))
	for _, s := range p.Status.Slots {
		if s.Namespace == w.namespace {
			return len(s.Instances), len(s.Bindings)
		}
	}
	return 0, 0
}

// granted waits until a policy granted so many slots to instances.
func (w *world) granted(p *api.ProvisioningPolicy, want int) {
	w.Helper()
	w.eventually(func() (bool, error) {
		got, _ := w.slots(p)
		return got == want, fmt.Errorf("%s granted %d slots, not %d", p.Name, got, want)
	})
}

// there are how many the broker has of plans.
func (w *world) there(plans ...string) int {
	n := 0
	for _, i := range w.broker.Instances() {
		for _, plan := range plans {
			if i.PlanID == w.id(plan) {
				n++
			}
		}
	}
	return n
}

// unkept has nobody keep; the function has both keep again.
func (w *world) unkept() (again func()) {
	w.Helper()
	for _, k := range keepers {
		require.NoError(w, k.Stop(w.Context(), syscall.SIGKILL))
	}
	return func() {
		w.Helper()
		require.NoError(w, keepers[0].Bury(w.Context()))
		for _, k := range keepers {
			require.NoError(w, k.Start(w.Context()))
		}
	}
}

func metaOf(at client.ObjectKey) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: at.Namespace, Name: at.Name}
}
