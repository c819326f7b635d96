package claims_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
)

// A world is a corner of a stack that belongs to one test: a namespace, and names that
// no other test has. Its methods fail the test.
type world struct {
	*testing.T
	*stack.Stack

	namespace, suffix string
	client            client.WithWatch
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldOn(t, shared)
}

func newWorldOn(t *testing.T, s *stack.Stack) *world {
	t.Helper()
	w := &world{T: t, Stack: s, suffix: strings.ToLower(rand.Text()[:8]), client: s.Client()}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "claims-"}}
	w.create(namespace)
	w.namespace = namespace.Name
	return w
}

// name makes a name unique: for what is cluster-scoped.
func (w *world) name(base string) string { return base + "-" + w.suffix }

func (w *world) create(objects ...client.Object) {
	w.Helper()
	for _, object := range objects {
		require.NoError(w, w.client.Create(w.Context(), object), "create %T %s", object, object.GetName())
	}
}

// get reads object anew from the API server.
func (w *world) get(object client.Object) {
	w.Helper()
	require.NoError(w, w.client.Get(w.Context(), client.ObjectKeyFromObject(object), object))
}

// delete asks for an object's deletion, and does not wait for it.
func (w *world) delete(object client.Object, options ...client.DeleteOption) {
	w.Helper()
	require.NoError(w, w.client.Delete(w.Context(), object, options...))
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

// absent says that an object is not there now.
func (w *world) absent(o client.Object) bool {
	w.Helper()
	err := w.client.Get(w.Context(), client.ObjectKeyFromObject(o), o)
	require.NoError(w, client.IgnoreNotFound(err))
	return apierrors.IsNotFound(err)
}

// eventually polls until the condition is true; an error says why not yet.
func (w *world) eventually(is func() (bool, error)) {
	w.Helper()
	require.NoError(w, stack.Eventually(w.Context(), is))
}

// ready waits until an object is Ready as its spec is now.
func (w *world) ready(objects ...client.Object) {
	w.Helper()
	for _, object := range objects {
		w.hasCondition(object, api.ConditionReady, api.ConditionTrue, "")
	}
}

// hasCondition waits until an object has a condition, observed at its generation; an
// empty reason is any.
func (w *world) hasCondition(object client.Object, typ string, status api.ConditionStatus, reason string) api.Condition {
	w.Helper()
	var found api.Condition
	w.eventually(func() (bool, error) {
		if err := w.client.Get(w.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			return true, err
		}
		found, _ = api.FindCondition(conditionsOf(object), typ)
		is := found.Status == status && (reason == "" || found.Reason == reason) && found.ObservedGeneration == object.GetGeneration()
		if is {
			return true, nil
		}
		return false, fmt.Errorf("%T %s is not %s=%s (%s): %s", object, object.GetName(), typ, status, reason, statusOf(object))
	})
	return found
}

func conditionsOf(object client.Object) []api.Condition {
	switch o := object.(type) {
	case *api.ServiceInstance:
		return o.Status.Conditions
	case *api.ServiceBinding:
		return o.Status.Conditions
	case *api.ClusterServiceBroker:
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

// change edits an object as it is stored.
func (w *world) change(object client.Object, edit func()) {
	w.Helper()
	w.eventually(func() (bool, error) {
		if err := w.client.Get(w.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			return true, err
		}
		edit()
		err := w.client.Update(w.Context(), object)
		return !apierrors.IsConflict(err), err
	})
}

// told waits for an event of the world with a reason, about an object.
func (w *world) told(reason, about string) eventsv1.Event {
	w.Helper()
	var found eventsv1.Event
	w.eventually(func() (bool, error) {
		var events eventsv1.EventList
		if err := w.client.List(w.Context(), &events, client.InNamespace(w.namespace)); err != nil {
			return true, err
		}
		for _, event := range events.Items {
			if event.Reason == reason && event.Regarding.Name == about {
				found = event
				return true, nil
			}
		}
		return false, fmt.Errorf("no event %s about %s", reason, about)
	})
	return found
}

func (w *world) secret(name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}}
}

// rawJSON is parameters; nil for an empty text.
func rawJSON(text string) *runtime.RawExtension {
	if text == "" {
		return nil
	}
	return &runtime.RawExtension{Raw: json.RawMessage(text)}
}
