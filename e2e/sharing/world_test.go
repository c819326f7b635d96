package sharing_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A world is a broker, the namespace of an owner with the instance mydb that is Ready,
// and the namespace of a consumer. Its methods fail the test.
type world struct {
	*testing.T
	*stack.Stack

	suffix          string
	owner, consumer string
	client          client.Client
	broker          *osbtest.Broker
	instance        *api.ServiceInstance
}

// newWorld makes one whose instance is shared as sharing says. At the end of the test
// the broker's duties must have been kept.
func newWorld(t *testing.T, sharing *api.Sharing, options ...func(*osbtest.Options)) *world {
	t.Helper()
	w := &world{T: t, Stack: shared, suffix: strings.ToLower(rand.Text()[:8]), client: shared.Client()}
	w.owner, w.consumer = w.name("owner"), w.name("consumer")
	for _, name := range []string{w.owner, w.consumer} {
		w.create(namespace(name))
	}
	w.offer(options)
	w.instance = w.database("mydb", sharing)
	w.create(w.instance)
	w.becomes(w.instance, api.ConditionReady, api.ConditionTrue)
	return w
}

// offer registers a broker with a class of one plan.
func (w *world) offer(options []func(*osbtest.Options)) {
	w.Helper()
	catalog := fmt.Sprintf(`{"services":[{"id":"%[1]s-id","name":%[1]q,"description":"d","bindable":true,"plans":[{"id":"%[1]s-small","name":"small","description":"s"}]}]}`, w.name("db"))
	settings := osbtest.Options{Catalog: []byte(catalog)}
	for _, option := range options {
		option(&settings)
	}
	w.broker = osbtest.Start(w.T, settings)
	w.Cleanup(func() { w.broker.AssertDuties(w.T) })
	registered := &api.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: w.name("broker")}}
	registered.Spec.URL = w.broker.URL
	w.create(registered)
	w.becomes(registered, api.ConditionReady, api.ConditionTrue)
}

// name makes a name unique: for what is cluster-scoped.
func (w *world) name(base string) string { return base + "-" + w.suffix }

// database is an instance of the owner, not yet created.
func (w *world) database(name string, sharing *api.Sharing) *api.ServiceInstance {
	i := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: w.owner, Name: name}}
	i.Spec.ClusterServiceClassExternalName, i.Spec.ClusterServicePlanExternalName = w.name("db"), "small"
	i.Spec.Sharing = sharing
	return i
}

// binding is one of the consumer to an instance of the owner, not yet created.
func (w *world) binding(name, instance string) *api.ServiceBinding {
	b := &api.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: w.consumer, Name: name}}
	b.Spec.InstanceRef = &api.InstanceReference{Name: instance, Namespace: w.owner}
	return b
}

// bound is a binding to mydb that is Ready, made by the administrator.
func (w *world) bound(name string) *api.ServiceBinding {
	w.Helper()
	b := w.binding(name, "mydb")
	w.create(b)
	w.becomes(b, api.ConditionReady, api.ConditionTrue)
	return b
}

// with is consent for namespaces.
func with(namespaces ...string) *api.Sharing { return &api.Sharing{Namespaces: namespaces} }

// thenUnbind says what becomes of those to whom it is consent no more.
func thenUnbind(sharing *api.Sharing) *api.Sharing {
	sharing.WhenWithdrawn = api.WithdrawnUnbind
	return sharing
}

// share makes the sharing of mydb another, in as many words.
func (w *world) share(sharing *api.Sharing) {
	w.Helper()
	w.change(w.instance, func() { w.instance.Spec.Sharing = sharing })
}

func (w *world) create(objects ...client.Object) {
	w.Helper()
	for _, object := range objects {
		require.NoError(w, w.client.Create(w.Context(), object), "create %T %s", object, object.GetName())
	}
}

// get reads object anew.
func (w *world) get(object client.Object) {
	w.Helper()
	require.NoError(w, w.client.Get(w.Context(), client.ObjectKeyFromObject(object), object))
}

func (w *world) delete(object client.Object) {
	w.Helper()
	require.NoError(w, w.client.Delete(w.Context(), object))
}

// change edits an object as it is stored.
func (w *world) change(object client.Object, edit func()) {
	w.Helper()
	require.NoError(w, retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if err := w.client.Get(w.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		edit()
		return w.client.Update(w.Context(), object)
	}))
}

// edited tries to edit an object, as it is stored.
func (w *world) edited(object client.Object, edit func()) error {
	w.Helper()
	w.get(object)
	edit()
	return w.client.Update(w.Context(), object)
}

// label gives the consumer's namespace a team.
func (w *world) label(team string) {
	w.Helper()
	ns := namespace(w.consumer)
	w.change(ns, func() { ns.Labels["team"] = team })
}

// eventually polls until the condition is true; an error says why not yet.
func (w *world) eventually(is func() (bool, error)) {
	w.Helper()
	require.NoError(w, stack.Eventually(w.Context(), is))
}

// becomes waits until an object has a condition, and returns it.
func (w *world) becomes(object client.Object, typ string, status api.ConditionStatus) api.Condition {
	w.Helper()
	var found api.Condition
	w.eventually(func() (bool, error) {
		if err := w.client.Get(w.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			return true, err
		}
		found, _ = api.FindCondition(conditionsOf(object), typ)
		if found.Status == status && found.ObservedGeneration == object.GetGeneration() {
			return true, nil
		}
		return false, fmt.Errorf("%T %s is not %s=%s: %s", object, object.GetName(), typ, status, statusOf(object))
	})
	return found
}

// unsaid waits until a binding has the condition Shared no more.
func (w *world) unsaid(b *api.ServiceBinding) {
	w.Helper()
	w.eventually(func() (bool, error) {
		if err := w.client.Get(w.Context(), client.ObjectKeyFromObject(b), b); err != nil {
			return true, err
		}
		if _, has := api.FindCondition(b.Status.Conditions, api.ConditionShared); has {
			return false, fmt.Errorf("it says still: %s", statusOf(b))
		}
		return true, nil
	})
}

// toldOf waits for an event on a binding of the consumer.
func (w *world) toldOf(binding, reason string) {
	w.Helper()
	w.eventually(func() (bool, error) {
		var events eventsv1.EventList
		err := w.client.List(w.Context(), &events, client.InNamespace(w.consumer))
		for i := range events.Items {
			if events.Items[i].Reason == reason && events.Items[i].Regarding.Name == binding {
				return true, err
			}
		}
		return false, err
	})
}

// gone waits until an object is there no more.
func (w *world) gone(object client.Object) {
	w.Helper()
	w.eventually(func() (bool, error) {
		err := w.client.Get(w.Context(), client.ObjectKeyFromObject(object), object)
		if err != nil {
			return true, client.IgnoreNotFound(err)
		}
		return false, fmt.Errorf("%T %s is still there: %s", object, object.GetName(), statusOf(object))
	})
}

// there says that a binding is there, and not being deleted.
func (w *world) there(b *api.ServiceBinding) {
	w.Helper()
	w.get(b)
	assert.Nil(w, b.DeletionTimestamp)
}

// secret is one of the consumer, as it is.
func (w *world) secret(name string) *corev1.Secret {
	w.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.consumer, Name: name}}
	w.get(secret)
	return secret
}

func conditionsOf(object client.Object) []api.Condition {
	switch o := object.(type) {
	case *api.ServiceInstance:
		return o.Status.Conditions
	case *api.ServiceBinding:
		return o.Status.Conditions
	case *api.ClusterServiceBroker:
		return o.Status.Conditions
	case *api.ServiceBroker:
		return o.Status.Conditions
	}
	return nil
}

func statusOf(object client.Object) string {
	text, err := json.Marshal(conditionsOf(object))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}
