package review

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace/noop"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// canary is a text that no log line and no error may repeat.
const canary = "canary-5up3r"

// A handler that panics has failed like one that says so, and so has one whose patch cannot
// be sent: told once, in the log, in the metrics and in its span, and never as allowed.
func TestFailuresOfHandlersAreTold(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	otel.SetTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans)))
	t.Cleanup(func() { otel.SetTracerProvider(noop.NewTracerProvider()) })
	for name, tc := range map[string]struct {
		reason  string
		handler Handler
	}{
		"Panics": {reason: "its text is told nowhere", handler: func(context.Context, *admission.Request) (Result, error) { panic(canary) }},
		"NoJSON": {reason: "a channel has no JSON", handler: func(context.Context, *admission.Request) (Result, error) {
			decided := Result{Rule: RuleNone}
			decided.Patch.Add(make(chan int), "spec")
			return decided, nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var logged strings.Builder
			ctx := log.IntoContext(t.Context(), funcr.New(func(_, args string) { logged.WriteString(args + "\n") }, funcr.Options{}))
			spans.Reset()
			before, took := counted(t, RuleNone, outcomeFailed), measured(t)
			req := &admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
				Operation: admissionv1.Create, Kind: metav1.GroupVersionKind{Group: v1beta1.GroupName, Kind: "ServiceInstance"},
			}}
			_, err := decide(Mutating, "ServiceInstance", tc.handler)(ctx, req)
			require.Error(t, err, tc.reason)
			assert.NotContains(t, err.Error()+logged.String(), canary, tc.reason)
			assert.Equal(t, 1, strings.Count(logged.String(), `"msg"="admission"`))
			assert.Contains(t, logged.String(), `"outcome"="failed"`)
			assert.Equal(t, strings.Count(logged.String(), `"msg"`), strings.Count(logged.String(), `"client"="unverified"`))
			assert.InDelta(t, before+1, counted(t, RuleNone, outcomeFailed), 0)
			assert.Equal(t, took+1, measured(t))
			require.Len(t, spans.GetSpans(), 1)
			assert.Equal(t, codes.Error, spans.GetSpans()[0].Status.Code)
		})
	}
}

// measured is how many decisions took some time.
func measured(t *testing.T) uint64 {
	t.Helper()
	var metric dto.Metric
	require.NoError(t, durations.WithLabelValues("mutate", "ServiceInstance").(prometheus.Metric).Write(&metric))
	return metric.GetHistogram().GetSampleCount()
}

func counted(t *testing.T, rule, outcome string) float64 {
	t.Helper()
	var metric dto.Metric
	require.NoError(t, decisions.WithLabelValues("mutate", "ServiceInstance", "CREATE", rule, outcome).Write(&metric))
	return metric.GetCounter().GetValue()
}

// Names that do not fit into one warning are in the next ones, up to what the API server passes on.
func TestWarnedNamesAreWhole(t *testing.T) {
	t.Parallel()
	const text = "dropped: "
	names := make([]string, 20)
	for i := range names {
		names[i] = fmt.Sprintf("a-rather-long-parameter-%02d (plan)", i)
	}
	var few, many Result
	few.WarnNames(text, names)
	require.Len(t, few.Warnings, 4)
	assert.Equal(t, text+strings.Join(names[:6], ", "), few.Warnings[0])
	assert.Equal(t, "and also: "+strings.Join(names[6:12], ", "), few.Warnings[1])
	assert.Equal(t, "and also: "+strings.Join(names[12:18], ", "), few.Warnings[2])
	assert.Equal(t, "and also: "+strings.Join(names[18:], ", "), few.Warnings[3])

	many.WarnNames(text, slices.Repeat(names, 100))
	assert.Len(t, many.Warnings, 9)
	assert.Regexp(t, "^and 19[0-9]{2} more$", many.Warnings[8])
	total := 0
	for _, warning := range many.Warnings {
		total += utf8.RuneCountInString(warning)
	}
	assert.LessOrEqual(t, total, 4096)
}
