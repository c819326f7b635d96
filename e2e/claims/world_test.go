package claims_test

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

// A world is a corner of a stack that belongs to one test: a namespace, and names that
// no other test has. Its methods fail the test.
type world struct {
	stack.Objects

	namespace, suffix string
	client            client.WithWatch
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldOn(t, shared)
}

func newWorldOn(t *testing.T, s *stack.Stack) *world {
	t.Helper()
	w := &world{Objects: stack.Objects{T: t, Stack: s}, suffix: strings.ToLower(rand.Text()[:8]), client: s.Client()}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "claims-"}}
	w.Create(namespace)
	w.namespace = namespace.Name
	return w
}

// name makes a name unique: for what is cluster-scoped.
func (w *world) name(base string) string { return base + "-" + w.suffix }

// told waits for an event of the world with a reason, about an object.
func (w *world) told(reason, about string) eventsv1.Event {
	w.Helper()
	var found eventsv1.Event
	w.Eventually(func() (bool, error) {
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
