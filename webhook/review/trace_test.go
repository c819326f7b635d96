package review

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// What tracing costs where it is off is a context and a span that is none: beside some
// eight hundred allocations of a decision.
func TestTracingOffCostsLittle(t *testing.T) {
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", http.NoBody)
	decided := &Result{}
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() {
		_, span := startSpan(fromCaller(request.Context(), request.Header), Mutating, "ServiceInstance")
		endSpan(span, &admission.Request{}, decided, outcomeAllowed)
	}), 10.0)
}

// BenchmarkTracingOff is the part of it that tracing is, where it is off.
func BenchmarkTracingOff(b *testing.B) {
	request := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/", http.NoBody)
	decided := &Result{}
	b.ReportAllocs()
	for b.Loop() {
		_, span := startSpan(fromCaller(request.Context(), request.Header), Mutating, "ServiceInstance")
		endSpan(span, &admission.Request{}, decided, outcomeAllowed)
	}
}
