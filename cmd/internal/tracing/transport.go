package tracing

import (
	"net/http"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// tracerName is the name of the tracer of requests.
const tracerName = "github.com/defaultplan/defaultplan/cmd"

// ToAPIServer creates a span for every request to the API server that belongs
// to a trace, and propagates it. Other requests, such as watches, are
// unchanged.
func ToAPIServer(next http.RoundTripper) http.RoundTripper {
	return &transport{next: next, name: func(r *http.Request) string { return r.Method + " " + r.URL.Path }}
}

// ToBroker is ToAPIServer for brokers. Spans have only the host of the URL,
// because a path may be confidential.
func ToBroker(next http.RoundTripper) http.RoundTripper {
	return &transport{next: next, name: func(r *http.Request) string { return r.Method + " broker" }}
}

// A transport creates spans for requests. Without a trace in a request's
// context it only costs a lookup.
type transport struct {
	next http.RoundTripper
	name func(*http.Request) string
}

// RoundTrip sends a request. The span ends with the header of the response.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if !trace.SpanFromContext(r.Context()).IsRecording() {
		return t.next.RoundTrip(r)
	}
	ctx, span := otel.Tracer(tracerName).Start(r.Context(), t.name(r), trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("http.request.method", r.Method), attribute.String("server.address", r.URL.Host)))
	defer span.End()
	// A round tripper must not change its request.
	r = r.Clone(ctx)
	propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(r.Header))
	response, err := t.next.RoundTrip(r)
	if err != nil {
		// Its text may contain more of the URL than spans may.
		span.SetStatus(codes.Error, "no answer")
		return response, err
	}
	span.SetAttributes(attribute.Int("http.response.status_code", response.StatusCode))
	if response.StatusCode >= http.StatusBadRequest {
		span.SetStatus(codes.Error, "")
	}
	return response, nil
}

// CloseIdleConnections closes those of the transport below.
func (t *transport) CloseIdleConnections() {
	if below, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		below.CloseIdleConnections()
	}
}

// WrappedRoundTripper is the transport below, for client-go, which looks for it.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.next }
