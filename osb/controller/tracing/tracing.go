// Package tracing makes the spans of reconciles and of calls to brokers.
package tracing

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// tracerName is the name of the spans' tracer.
const tracerName = "github.com/defaultplan/defaultplan/osb/controller"

// Start starts the span of a pass or of a part of one. Without tracing, it
// costs a context.
func Start(ctx context.Context, name string) (context.Context, trace.Span) {
	return otel.Tracer(tracerName).Start(ctx, name) //nolint:spancheck // the caller ends it
}

// Name adds the object to the span of a pass.
func Name(span trace.Span, o client.Object) {
	if span.IsRecording() {
		span.SetAttributes(attribute.String("defaultplan.namespace", o.GetNamespace()), attribute.String("defaultplan.name", o.GetName()),
			attribute.String("defaultplan.uid", string(o.GetUID())))
	}
}

// Step adds the decided step to the span.
func Step(ctx context.Context, step lifecycle.Step) {
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		span.SetAttributes(attribute.String("defaultplan.step", step.String()))
	}
}

// RequestID is the ID of the request of a call, which the broker's log may have too.
func RequestID(span trace.Span, id string) {
	span.SetAttributes(attribute.String("defaultplan.request_id", id))
}

// EndCall ends the span of a call to a broker, named as metrics name it: with the kind of
// an error, never with its text, which a broker may have written.
func EndCall(span trace.Span, broker string, err error) {
	defer span.End()
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(attribute.String("defaultplan.broker", broker), attribute.String("defaultplan.outcome", Outcome(err)))
	if err == nil {
		return
	}
	span.SetStatus(codes.Error, Outcome(err))
	if failed := (*osb.Error)(nil); errors.As(err, &failed) && failed.RequestID != "" {
		RequestID(span, failed.RequestID)
	}
}

// Outcome is what came of a call, in one word.
func Outcome(err error) string {
	if err == nil {
		return "ok"
	}
	if kind := osb.KindOf(err); kind != "" {
		return string(kind)
	}
	return "other"
}
