package review

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// tracerName is the name of the spans' tracer.
const tracerName = "github.com/defaultplan/defaultplan/webhook"

// fromCaller is the context of a request, in the API server's trace if the
// request has one. Baggage is dropped, because nothing here reads it.
func fromCaller(ctx context.Context, header http.Header) context.Context {
	return propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(header))
}

// startSpan begins the span of a decision. Where nothing is traced, it costs a
// context.
func startSpan(ctx context.Context, phase Phase, kind string) (context.Context, trace.Span) {
	return otel.Tracer(tracerName).Start(ctx, string(phase)+" "+kind, trace.WithSpanKind(trace.SpanKindServer)) //nolint:spancheck // endSpan ends it
}

// endSpan says in a span what was decided: names and words of ours, never a text,
// which may quote what others wrote.
func endSpan(span trace.Span, req *admission.Request, decided *Result, outcome string) {
	defer span.End()
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(
		attribute.String("defaultplan.operation", string(req.Operation)),
		attribute.String("defaultplan.namespace", req.Namespace),
		attribute.String("defaultplan.name", req.Name),
		attribute.String("defaultplan.uid", string(req.UID)),
		attribute.String("defaultplan.rule", decided.Rule),
		attribute.String("defaultplan.plan", planText(decided.Chosen)),
		attribute.String("defaultplan.outcome", outcome),
	)
	if outcome == outcomeFailed {
		span.SetStatus(codes.Error, "the webhook could not decide")
	}
}
