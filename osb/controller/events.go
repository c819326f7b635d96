package controller

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	clientevents "k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// maxNote is what the API server takes of an event's text, in bytes.
const maxNote = 1024

// events tells users what happened, after it was stored.
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

// tell makes an event of what happened; nil: of nothing.
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
