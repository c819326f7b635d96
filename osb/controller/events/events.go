// Package events makes the Events of brokers, instances and bindings.
package events

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	eventsclient "k8s.io/client-go/kubernetes/typed/events/v1"
	clientevents "k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/reference"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// Source is the reporting component of events.
const Source = "defaultplan-controller"

// MaxNote is the API server's limit for an event's note, in bytes.
const MaxNote = 1024

// Events tell users what happened, after it was stored.
type Events struct {
	Recorder clientevents.EventRecorder
}

// Tell makes an event of what happened; nil: of nothing.
func (e *Events) Tell(o client.Object, event *lifecycle.Event) {
	if event == nil {
		return
	}
	kind := corev1.EventTypeNormal
	if event.Warning {
		kind = corev1.EventTypeWarning
	}
	Record(e.Recorder, o, kind, event.Reason, "Reconcile", event.Message)
}

// Record makes an event of an object with as much of a text as fits.
func Record(recorder clientevents.EventRecorder, o client.Object, kind, reason, action, note string) {
	if len(note) > MaxNote {
		note = strings.ToValidUTF8(note[:MaxNote], "")
	}
	// The note may hold a per cent sign that a broker wrote.
	recorder.Eventf(o, nil, kind, reason, action, "%s", note)
}

// NewRecorder makes the recorder of a manager's controllers, which names a source. It is not
// the manager's, which sends events into namespaces that are being deleted too. It goes on
// for a while after the manager stops.
func NewRecorder(ctx context.Context, mgr manager.Manager, source string, while time.Duration) (clientevents.EventRecorder, error) {
	made, err := eventsclient.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("cannot make a client of events: %w", err)
	}
	sink := newSink(&clientevents.EventSinkImpl{Interface: made}, mgr.GetClient())
	ctx = log.IntoContext(context.WithoutCancel(ctx), mgr.GetLogger().WithName("events"))
	recorder, stop, err := recordTo(ctx, sink, mgr.GetScheme(), source)
	if err != nil {
		return nil, err
	}
	err = mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		<-ctx.Done()
		// A call that was started is completed, and may emit an event.
		time.AfterFunc(while, stop)
		return nil
	}))
	if err != nil {
		return nil, fmt.Errorf("cannot set up the recorder of events: %w", err)
	}
	return recorder, nil
}

// recordTo makes a recorder of what goes to a sink until it is stopped.
func recordTo(ctx context.Context, sink clientevents.EventSink, scheme *runtime.Scheme, source string) (recorder clientevents.EventRecorder, stop func(), err error) {
	broadcaster := clientevents.NewBroadcaster(sink)
	ctx, cancel := context.WithCancel(ctx)
	stop = func() {
		cancel()
		broadcaster.Shutdown()
	}
	if err := broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
		stop()
		return nil, nil, fmt.Errorf("cannot record events: %w", err)
	}
	return seriesRecorder{broadcaster.NewRecorder(scheme, source), scheme}, stop, nil
}

// A seriesRecorder makes a series of events that only differ in time and note.
// client-go also compares the resource version, which the status write before
// each event changes, so each failure of one object would be a separate Event.
type seriesRecorder struct {
	clientevents.EventRecorder

	scheme *runtime.Scheme
}

// Eventf emits an event for an object, independent of its version.
func (r seriesRecorder) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) { //nolint:revive // the interface has these
	if ref, err := reference.GetReference(r.scheme, regarding); err == nil {
		ref.ResourceVersion = ""
		regarding = ref
	}
	r.EventRecorder.Eventf(regarding, related, kind, reason, action, note, args...)
}

// An eventSink drops events for a namespace that is being deleted: the API
// server denies them, and client-go would log each one in full.
type eventSink struct {
	clientevents.EventSink

	namespaces client.Reader
	begun      *begun
}

func newSink(sink clientevents.EventSink, namespaces client.Reader) eventSink {
	return eventSink{EventSink: sink, namespaces: namespaces, begun: &begun{series: map[client.ObjectKey]bool{}}}
}

// Create sends an event, unless its namespace is being deleted. If the
// namespace cannot be read, the event is sent.
func (s eventSink) Create(ctx context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	var namespace corev1.Namespace
	err := s.namespaces.Get(ctx, client.ObjectKey{Name: event.Namespace}, &namespace)
	if err == nil && namespace.DeletionTimestamp != nil {
		return event, nil
	}
	created, err := s.EventSink.Create(ctx, event)
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) || apierrors.IsNotFound(err) {
		log.FromContext(ctx).V(1).Info("no event was made: its namespace is being deleted", "namespace", event.Namespace, "reason", event.Reason)
		return event, nil // it began to be deleted, or was, since the cache heard of it
	}
	return created, err //nolint:wrapcheck // client-go tells by its type whether to try again
}

// firstCount is the count of a series that begins. client-go writes the series again once it ended, which
// it looks for every few minutes, as soon as six are over since the last event.
const (
	firstCount  = 2
	seriesEnded = 5 * time.Minute
)

// begun are the series that were written, and whose end was not: as many as client-go holds. Its key is
// an event's namespace and name.
type begun struct {
	mutex  sync.Mutex
	series map[client.ObjectKey]bool
}

// Patch sends what a series of events has become, unless it ended as it began and that was written: of
// thousands of objects that failed twice each that would be thousands of requests in one moment, for nothing.
func (s eventSink) Patch(ctx context.Context, event *eventsv1.Event, data []byte) (*eventsv1.Event, error) {
	at := client.ObjectKeyFromObject(event)
	if s.begun.take(at) && event.Series != nil && event.Series.Count == firstCount {
		return event, nil
	}
	patched, err := s.EventSink.Patch(ctx, event, data)
	// A beginning that took so long to be written may follow its end, after which nothing is taken out.
	if err == nil && event.Series != nil && time.Since(event.Series.LastObservedTime.Time) < seriesEnded {
		s.begun.add(at)
	}
	return patched, err //nolint:wrapcheck // client-go tells by its type whether to try again
}

func (b *begun) add(at client.ObjectKey) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.series[at] = true
}

// take says whether a series is among them, and takes it out.
func (b *begun) take(at client.ObjectKey) bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	is := b.series[at]
	delete(b.series, at)
	return is
}
