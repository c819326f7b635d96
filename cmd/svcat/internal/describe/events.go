package describe

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/printer"
)

// shownEvents is how many events of an object are shown: the last ones.
const shownEvents = 5

// writeEvents writes the last events of an object, the newest first. Who may not read events is
// told so, and no more: the object itself was shown.
func writeEvents(ctx context.Context, reader client.Reader, w io.Writer, object client.Object) error {
	namespace := object.GetNamespace()
	if len(namespace) == 0 {
		namespace = metav1.NamespaceDefault // where events of the cluster's objects are
	}
	var events []*corev1.Event
	err := catalog.Pages(ctx, reader, &corev1.EventList{}, func(item runtime.Object) error {
		if event, is := item.(*corev1.Event); is {
			events = append(events, event)
		}
		return nil
	}, client.InNamespace(namespace), client.MatchingFields{"involvedObject.uid": string(object.GetUID())})
	if apierrors.IsForbidden(err) {
		return writeText(w, fmt.Sprintf("\nEvents:\nnot shown: you may not list events in %s\n", cli.ScopeOf(namespace)))
	}
	if err != nil {
		return err
	}
	slices.SortStableFunc(events, func(a, b *corev1.Event) int { return lastSeen(b).Compare(lastSeen(a)) })
	t := printer.New("last seen", "type", "reason", "message")
	for _, event := range events[:min(len(events), shownEvents)] {
		seen := duration.HumanDuration(time.Since(lastSeen(event)))
		if n := times(event); n > 1 {
			seen += fmt.Sprintf(" (x%d)", n)
		}
		t.Add(seen, event.Type, event.Reason, event.Message)
	}
	return writeTable(w, "Events", t, "No events")
}

// lastSeen is when an event last happened, by whichever of its fields its reporter fills in.
func lastSeen(event *corev1.Event) time.Time {
	switch {
	case event.Series != nil && !event.Series.LastObservedTime.IsZero():
		return event.Series.LastObservedTime.Time
	case !event.LastTimestamp.IsZero():
		return event.LastTimestamp.Time
	case !event.EventTime.IsZero():
		return event.EventTime.Time
	}
	return event.CreationTimestamp.Time
}

// times is how often an event happened.
func times(event *corev1.Event) int32 {
	if event.Series != nil {
		return event.Series.Count
	}
	return event.Count
}
