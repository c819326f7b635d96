package tracing_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/defaultplan/defaultplan/cmd/internal/tracing"
)

// A below is a transport that remembers what it was given.
type below struct {
	header http.Header
	err    error
	closed bool
}

// RoundTrip answers with 403, or not at all.
func (b *below) RoundTrip(r *http.Request) (*http.Response, error) {
	b.header = r.Header
	if b.err != nil {
		return nil, b.err
	}
	return &http.Response{StatusCode: http.StatusForbidden, Body: http.NoBody}, nil
}

// CloseIdleConnections is what a transport has to pass on.
func (b *below) CloseIdleConnections() { b.closed = true }

// A request in a trace has a span and tells of it; others are left as they are. Neither
// a span nor its status holds a URL's secrets or an error's text.
func TestTransport(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	otel.SetTracerProvider(provider)
	ctx, parent := provider.Tracer("test").Start(t.Context(), "parent")
	cases := map[string]struct {
		reason string
		wrap   func(http.RoundTripper) http.RoundTripper
		ctx    context.Context
		err    error
		want   string
	}{
		"APIServer": {reason: "The path says what was asked.", wrap: tracing.ToAPIServer, ctx: ctx, want: "PUT /canary"},
		"Broker":    {reason: "The path is the broker's own matter.", wrap: tracing.ToBroker, ctx: ctx, want: "PUT broker"},
		"NoAnswer":  {reason: "An error's text stays within.", wrap: tracing.ToBroker, ctx: ctx, err: errors.New("canary"), want: "PUT broker"},
		"Untraced":  {reason: "Watches and all that no request asked for have no span.", wrap: tracing.ToAPIServer, ctx: t.Context()},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			spans.Reset()
			next := &below{err: tc.err}
			request, err := http.NewRequestWithContext(tc.ctx, http.MethodPut, "https://host/canary?canary=1", http.NoBody)
			require.NoError(t, err)
			wrapped := tc.wrap(next)
			response, err := wrapped.RoundTrip(request)
			require.ErrorIs(t, err, tc.err)
			if response != nil {
				require.NoError(t, response.Body.Close())
			}
			assert.Empty(t, request.Header, "what was given is not changed")
			wrapped.(interface{ CloseIdleConnections() }).CloseIdleConnections()
			assert.True(t, next.closed)
			ended := spans.GetSpans().Snapshots()
			if tc.want == "" {
				assert.Empty(t, ended, tc.reason)
				assert.Empty(t, next.header, tc.reason)
				return
			}
			require.Len(t, ended, 1)
			assert.Equal(t, tc.want, ended[0].Name(), tc.reason)
			assert.Equal(t, parent.SpanContext().TraceID(), ended[0].SpanContext().TraceID())
			assert.Contains(t, next.header.Get("Traceparent"), ended[0].SpanContext().SpanID().String())
			assert.NotContains(t, ended[0].Status().Description, "canary", tc.reason)
			for _, attribute := range ended[0].Attributes() {
				assert.NotContains(t, attribute.Value.String(), "canary", tc.reason)
			}
		})
	}
}
