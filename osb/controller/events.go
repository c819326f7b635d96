package controller

import (
	"context"
	"fmt"
	"strings"
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

// maxNote is the API server's limit for an event's note, in bytes.
const maxNote = 1024

// events emits events about what happened, after it was stored.
type events struct {
	recorder clientevents.EventRecorder
}

// settle stores where a decision leaves a subject that rests, then tells of it.
func (e *engine) settle(ctx context.Context, s subject, decision *lifecycle.Decision) error {
	err := e.store.ifChanged(ctx, s, &decision.Record)
	if err == nil {
		e.events.tell(s.object(), decision.Event)
	}
	return err
}

// tell emits an event; nil: none.
func (e *events) tell(o client.Object, event *lifecycle.Event) {
	if event == nil {
		return
	}
	kind := corev1.EventTypeNormal
	if event.Warning {
		kind = corev1.EventTypeWarning
	}
	note := event.Message
	if len(note) > maxNote {
		note = strings.ToValidUTF8(note[:maxNote], "")
	}
	// The note may hold a per cent sign that a broker wrote.
	e.recorder.Eventf(o, nil, kind, event.Reason, "Reconcile", "%s", note)
}

// newRecorder creates the event recorder of a manager's controllers. The
// manager's own also sends events into namespaces that are being deleted.
func newRecorder(ctx context.Context, mgr manager.Manager, o *Options) (clientevents.EventRecorder, error) {
	made, err := eventsclient.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("cannot make a client of events: %w", err)
	}
	sink := eventSink{EventSink: &clientevents.EventSinkImpl{Interface: made}, namespaces: mgr.GetClient()}
	ctx = log.IntoContext(context.WithoutCancel(ctx), mgr.GetLogger().WithName("events"))
	recorder, stop, err := recordTo(ctx, sink, mgr.GetScheme(), o.scope().Named(eventSource))
	if err != nil {
		return nil, err
	}
	err = mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		<-ctx.Done()
		// A call that was started is completed, and may emit an event.
		time.AfterFunc(o.CallTimeout+requestTimeout, stop)
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
