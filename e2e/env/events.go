package env

import (
	"fmt"
	"slices"

	"github.com/stretchr/testify/require"
	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Events are those of a namespace; of all with an empty one.
func (e *Env) Events(namespace string) []eventsv1.Event {
	e.Helper()
	var list eventsv1.EventList
	require.NoError(e, e.Client().List(e.Context(), &list, client.InNamespace(namespace)))
	return list.Items
}

// HasEvent waits for an event about an object with a reason. Of objects of the cluster
// events are in the namespace default.
func (e *Env) HasEvent(object client.Object, reason string) eventsv1.Event {
	e.Helper()
	namespace := object.GetNamespace()
	if namespace == "" {
		namespace = "default"
	}
	var found eventsv1.Event
	e.Eventually(func() (bool, error) {
		var reasons []string
		for _, event := range e.Events(namespace) {
			if event.Regarding.Name != object.GetName() {
				continue
			}
			if event.Reason == reason {
				found = event
				return true, nil
			}
			reasons = append(reasons, event.Reason)
		}
		slices.Sort(reasons)
		return false, fmt.Errorf("%T %s has events %q, not %s", object, object.GetName(), slices.Compact(reasons), reason)
	})
	return found
}
