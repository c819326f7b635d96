package env

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Events are those of a namespace; of all with an empty one.
func (o *Objects) Events(namespace string) []eventsv1.Event {
	o.Helper()
	var list eventsv1.EventList
	require.NoError(o, o.Client().List(o.Context(), &list, client.InNamespace(namespace)))
	return list.Items
}

// HasEvent waits for an event about an object with a reason. Of objects of the cluster
// events are in the namespace default.
func (o *Objects) HasEvent(object client.Object, reason string) eventsv1.Event {
	o.Helper()
	namespace := object.GetNamespace()
	if namespace == "" {
		namespace = "default"
	}
	var found eventsv1.Event
	o.Eventually(func() (bool, error) {
		var reasons []string
		for _, event := range o.Events(namespace) {
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

// ToldUndecided waits for the keeper's event about an instance.
func (o *Observations) ToldUndecided(name string) eventsv1.Event {
	o.Helper()
	return o.told(name, "")
}

// ToldOf waits for an event of the keeper's about an object that says so.
func (o *Observations) ToldOf(name, says string) {
	o.Helper()
	o.told(name, says)
}

// told waits for an event of the keeper's about an object with a text in its note.
func (o *Observations) told(name, text string) eventsv1.Event {
	o.Helper()
	var found eventsv1.Event
	o.Eventually(func() (bool, error) {
		events := &eventsv1.EventList{}
		if err := o.Client().List(o.Context(), events, client.InNamespace(o.Namespace)); err != nil {
			return false, err
		}
		at := slices.IndexFunc(events.Items, func(event eventsv1.Event) bool {
			return event.Regarding.Name == name && event.Reason == "Undecided" && strings.Contains(event.Note, text)
		})
		if at >= 0 {
			found = events.Items[at]
		}
		return at >= 0, nil
	})
	return found
}
