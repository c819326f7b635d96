package webhook

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace/noop"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// A decision is a span in the trace that the API server names, with what was decided in
// words of ours; what no sampled trace comes with is not traced.
func TestDecisionsAreTraced(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	otel.SetTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans), sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.NeverSample()))))
	t.Cleanup(func() { otel.SetTracerProvider(noop.NewTracerProvider()) })
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-"
	cases := map[string]struct {
		reason, spec, parent string
		breaks               bool
		outcome              string
		status               codes.Code
	}{
		"Decided":    {reason: "It tells the rule and the plan.", spec: `{"serviceType":"mysql","parameters":{"a":"` + canary + `"}}`, parent: parent + "01", outcome: "allowed"},
		"Refused":    {reason: "A refusal is no error.", spec: `{"serviceType":"absent","parameters":{"a":"` + canary + `"}}`, parent: parent + "01", outcome: "NoDefault"},
		"Failed":     {reason: "A failure of ours is one.", spec: byType, parent: parent + "01", breaks: true, outcome: "failed", status: codes.Error},
		"NotSampled": {reason: "The API server decides what is traced.", spec: byType, parent: parent + "00"},
		"NoParent":   {reason: "Nothing is, by default.", spec: byType},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := stocked(t, db).world()
			if tc.breaks {
				w.live.fail(func(string) error { return errors.New(canary) })
			}
			body, err := json.Marshal(w.review(instanceOf(tc.spec), nil))
			require.NoError(t, err)
			spans.Reset()
			request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, MutateInstances, bytes.NewReader(body))
			request.Header.Set("Content-Type", "application/json")
			request.Header.Set("Traceparent", tc.parent)
			w.serve(httptest.NewRecorder(), request)
			ended := spans.GetSpans().Snapshots()
			if tc.outcome == "" {
				assert.Empty(t, ended, tc.reason)
				return
			}
			require.Len(t, ended, 1)
			assert.Equal(t, "mutate ServiceInstance", ended[0].Name())
			assert.Equal(t, "00f067aa0ba902b7", ended[0].Parent().SpanID().String())
			assert.Equal(t, tc.status, ended[0].Status().Code, tc.reason)
			said := map[string]string{}
			for _, attribute := range ended[0].Attributes() {
				said[string(attribute.Key)] = attribute.Value.String()
				assert.NotContains(t, attribute.Value.String(), canary)
			}
			assert.NotContains(t, ended[0].Status().Description, canary)
			assert.Equal(t, tc.outcome, said["defaultplan.outcome"], tc.reason)
			assert.Equal(t, "dev", said["defaultplan.namespace"])
		})
	}
}

// What tracing costs where it is off is a context and a span that is none: beside some
// eight hundred allocations of a decision.
func TestTracingOffCostsLittle(t *testing.T) {
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, MutateInstances, http.NoBody)
	decided := &verdict{}
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() {
		_, span := startSpan(fromCaller(request.Context(), request.Header), mutating, "ServiceInstance")
		endSpan(span, &admission.Request{}, decided, outcomeAllowed)
	}), 10.0)
}

// BenchmarkMutate is one review through the handler, with no trace: what tracing costs
// where it is off is in it.
func BenchmarkMutate(b *testing.B) {
	w := stocked(b, db).world()
	body, err := json.Marshal(w.review(instanceOf(byType), nil))
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		request := httptest.NewRequestWithContext(b.Context(), http.MethodPost, MutateInstances, bytes.NewReader(body))
		request.Header.Set("Content-Type", "application/json")
		w.mux.ServeHTTP(httptest.NewRecorder(), request)
	}
}

// BenchmarkTracingOff is the part of it that tracing is, where it is off.
func BenchmarkTracingOff(b *testing.B) {
	request := httptest.NewRequestWithContext(b.Context(), http.MethodPost, MutateInstances, http.NoBody)
	decided := &verdict{}
	b.ReportAllocs()
	for b.Loop() {
		_, span := startSpan(fromCaller(request.Context(), request.Header), mutating, "ServiceInstance")
		endSpan(span, &admission.Request{}, decided, outcomeAllowed)
	}
}
