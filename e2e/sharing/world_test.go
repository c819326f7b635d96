package sharing_test

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A world is a broker, the namespace of an owner with the instance mydb that is Ready,
// and the namespace of a consumer. Its methods fail the test.
type world struct {
	stack.Objects

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
	w := &world{Objects: stack.Objects{T: t, Stack: shared}, suffix: strings.ToLower(rand.Text()[:8]), client: shared.Client()}
	w.owner, w.consumer = w.name("owner"), w.name("consumer")
	for _, name := range []string{w.owner, w.consumer} {
		w.Create(namespace(name))
	}
	w.offer(options)
	w.instance = w.database("mydb", sharing)
	w.Create(w.instance)
	w.Ready(w.instance)
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
	w.Create(registered)
	w.Ready(registered)
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
	w.Create(b)
	w.Ready(b)
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
	w.Change(w.instance, func() { w.instance.Spec.Sharing = sharing })
}

// edited tries to edit an object, as it is stored.
func (w *world) edited(object client.Object, edit func()) error {
	w.Helper()
	w.Get(object)
	edit()
	return w.client.Update(w.Context(), object)
}

// label gives the consumer's namespace a team.
func (w *world) label(team string) {
	w.Helper()
	ns := namespace(w.consumer)
	w.Change(ns, func() { ns.Labels["team"] = team })
}

// unsaid waits until a binding has the condition Shared no more.
func (w *world) unsaid(b *api.ServiceBinding) {
	w.Helper()
	w.Eventually(func() (bool, error) {
		if err := w.client.Get(w.Context(), client.ObjectKeyFromObject(b), b); err != nil {
			return true, err
		}
		if _, has := api.FindCondition(b.Status.Conditions, api.ConditionShared); has {
			return false, fmt.Errorf("it says still: %s", stack.StatusOf(b))
		}
		return true, nil
	})
}

// toldOf waits for an event on a binding of the consumer.
func (w *world) toldOf(binding, reason string) {
	w.Helper()
	w.Eventually(func() (bool, error) {
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

// there says that a binding is there, and not being deleted.
func (w *world) there(b *api.ServiceBinding) {
	w.Helper()
	w.Get(b)
	assert.Nil(w, b.DeletionTimestamp)
}

// secret is one of the consumer, as it is.
func (w *world) secret(name string) *corev1.Secret {
	w.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.consumer, Name: name}}
	w.Get(secret)
	return secret
}

func namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}
