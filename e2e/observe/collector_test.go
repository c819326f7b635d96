package observe_test

import (
	"context"
	"net"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	collectorv1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
)

// A collector is one for OpenTelemetry that keeps the spans that it is sent.
type collector struct {
	collectorv1.UnimplementedTraceServiceServer

	address string

	mu    sync.Mutex
	spans []*span
}

// A span is one as it was sent, with whose it is.
type span struct {
	*tracev1.Span

	service string
}

// startCollector starts one that ends with the test.
func startCollector(t *testing.T) *collector {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c := &collector{address: listener.Addr().String()}
	server := grpc.NewServer()
	collectorv1.RegisterTraceServiceServer(server, c)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return c
}

// Export takes spans in.
func (c *collector) Export(_ context.Context, request *collectorv1.ExportTraceServiceRequest) (*collectorv1.ExportTraceServiceResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range request.GetResourceSpans() {
		service := ""
		for _, attribute := range resource.GetResource().GetAttributes() {
			if attribute.GetKey() == "service.name" {
				service = attribute.GetValue().GetStringValue()
			}
		}
		for _, scope := range resource.GetScopeSpans() {
			for _, s := range scope.GetSpans() {
				c.spans = append(c.spans, &span{s, service})
			}
		}
	}
	return &collectorv1.ExportTraceServiceResponse{}, nil
}

// all are the spans that came so far.
func (c *collector) all() []*span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// find are the spans of a service with a name.
func (c *collector) find(service, name string) []*span {
	return slices.DeleteFunc(c.all(), func(s *span) bool { return s.service != service || s.GetName() != name })
}

// attribute is one of a span's, empty if it has none of that name.
func (s *span) attribute(key string) string {
	for _, attribute := range s.GetAttributes() {
		if attribute.GetKey() == key {
			return attribute.GetValue().GetStringValue()
		}
	}
	return ""
}
