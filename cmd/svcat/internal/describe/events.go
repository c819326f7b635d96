package describe

import (
	"cmp"
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
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/termtext"
)

const (
	// shownEvents is how many events of an object are shown: the last ones.
	shownEvents = 5
	// longestWord and longestMessage bound the cells of an event, in characters. They are the API's
	// limits for a reason and a note, which it does not apply to events of the core group.
	longestWord, longestMessage = 128, 1024
)

// writeEvents writes the last events of an object, the newest first. Who may not read events is
// told so, and no more: the object itself was shown.
//
// Each editor of a namespace can make events, of any time and text: the table says where each
// comes from, as far as the event says so itself.
func writeEvents(ctx context.Context, reader client.Reader, w io.Writer, object client.Object) error {
	namespace := object.GetNamespace()
	if len(namespace) == 0 {
		namespace = metav1.NamespaceDefault // where events of the cluster's objects are
	}
	newest := newestEvents{now: time.Now()}
	err := catalog.Pages(ctx, reader, &corev1.EventList{}, func(item runtime.Object) error {
		if event, is := item.(*corev1.Event); is {
			newest.add(event)
		}
		return nil
	}, client.InNamespace(namespace), client.MatchingFields{"involvedObject.uid": string(object.GetUID())})
	if apierrors.IsForbidden(err) {
		return writeText(w, fmt.Sprintf("\nEvents:\nnot shown: you may not list events in %s\n", cli.ScopeOf(namespace)))
	}
	if err != nil {
		return err
	}
	t := printer.New("last seen", "type", "reason", "from", "message")
	for _, event := range newest.events {
		seen := duration.HumanDuration(newest.now.Sub(newest.seen(event)))
		if n := times(event); n > 1 {
			seen += fmt.Sprintf(" (x%d)", n)
		}
		t.Add(seen, word(event.Type), word(event.Reason), word(reporter(event)), termtext.Short(event.Message, longestMessage))
	}
	return writeTable(w, "Events", t, "No events")
}

func word(text string) string { return termtext.Short(text, longestWord) }

// newestEvents are the last ones of those that were added, the newest first. It holds no others:
// an object may have any number.
type newestEvents struct {
	now    time.Time
	events []*corev1.Event
}

func (n *newestEvents) add(event *corev1.Event) {
	// A copy does not hold the page that the event is of.
	n.events = append(n.events, event.DeepCopy())
	slices.SortStableFunc(n.events, func(a, b *corev1.Event) int { return n.seen(b).Compare(n.seen(a)) })
	n.events = n.events[:min(len(n.events), shownEvents)]
}

// seen is when an event last happened, which is not in the future, whatever it says.
func (n *newestEvents) seen(event *corev1.Event) time.Time {
	if at := lastSeen(event); at.Before(n.now) {
		return at
	}
	return n.now
}

// reporter is what made an event, by its own account.
func reporter(event *corev1.Event) string {
	return cmp.Or(event.ReportingController, event.Source.Component)
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
