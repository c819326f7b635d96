package webhook

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace/noop"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/defaultplan/defaultplan/webhook/options"
)

// Each decision is one log line and one count, in words that do not vary.
func TestDecisionsAreTold(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, spec  string
		breaks        bool
		rule, outcome string
		plan          string
	}{
		"Decided":   {reason: "A choice tells its rule and plan.", spec: `{"serviceType":"mysql","parameters":{"a":"` + canary + `"}}`, rule: "namespace-default", outcome: "allowed", plan: "dev/db-small"},
		"Refused":   {reason: "A refusal its reason.", spec: `{"serviceType":"told","parameters":{"a":"` + canary + `"}}`, rule: "undecided", outcome: "NoDefault"},
		"Undecided": {reason: "What waits says so.", spec: `{"serviceClassName":"told","servicePlanName":"told"}`, rule: "undecided", outcome: "allowed"},
		"Failed":    {reason: "A failure of ours is neither.", spec: byType, breaks: true, rule: "none", outcome: "failed"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := stocked(t, "dev|"+db).env()
			if tc.breaks {
				w.live.fail(func(string) error { return errors.New("down") })
			}
			before := told(t, tc.rule, tc.outcome)
			body, err := json.Marshal(w.review(instanceOf(tc.spec), nil))
			require.NoError(t, err)
			w.post(MutateInstances, body)
			logged := w.log()
			assert.Equal(t, 1, strings.Count(logged, `"msg"="admission"`), logged)
			for _, part := range []string{
				`"phase"="mutate"`, `"operation"="CREATE"`, `"kind"="ServiceInstance"`, `"namespace"="dev"`, `"name"="mydb"`, `"user"="alice"`, `"dryRun"=false`,
				`"rule"="` + tc.rule + `"`, `"outcome"="` + tc.outcome + `"`, `"plan"="` + tc.plan + `"`,
			} {
				assert.Contains(t, logged, part, tc.reason)
			}
			assert.Equal(t, strings.Count(logged, `"msg"`), strings.Count(logged, `"client"="unverified"`), "no line can be taken for the API server's")
			assert.NotContains(t, logged, canary)
			assert.Greater(t, told(t, tc.rule, tc.outcome), before, tc.reason)
		})
	}
}

// told is how many creations of instances the metrics count with this rule and outcome.
func told(t *testing.T, rule, outcome string) float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	require.NoError(t, err)
	want := map[string]string{"phase": "mutate", "kind": "ServiceInstance", "operation": "CREATE", "rule": rule, "outcome": outcome}
	for _, family := range families {
		if family.GetName() != "defaultplan_decisions_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			labels := map[string]string{}
			for _, label := range metric.GetLabel() {
				labels[label.GetName()] = label.GetValue()
			}
			if maps.Equal(labels, want) {
				return metric.GetCounter().GetValue()
			}
		}
	}
	return 0
}

// A warning is never longer than what the API server passes on, whatever it is about.
func TestWarningsAreBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ключ", 60)
	w := stocked(t, db, planDefaults("db-small", `{"`+long+`1":1,"`+long+`2":2}`)).env()
	o := w.create(byType)
	o.admitted()
	require.Len(t, o.mutate.Warnings, 2)
	assert.True(t, strings.HasSuffix(o.mutate.Warnings[1], "…"))
	// The env holds each warning against the limit.
	w.options.Unresolved = options.UnresolvedWait
	w.create(`{"clusterServiceClassExternalName":"` + strings.Repeat("x", 5000) + `","clusterServicePlanName":"p"}`).admitted()
}

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
			w := stocked(t, db).env()
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

// BenchmarkMutate is one review through the handler, with no trace: what tracing costs
// where it is off is in it.
func BenchmarkMutate(b *testing.B) {
	w := stocked(b, db).env()
	body, err := json.Marshal(w.review(instanceOf(byType), nil))
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		request := httptest.NewRequestWithContext(b.Context(), http.MethodPost, MutateInstances, bytes.NewReader(body))
		request.Header.Set("Content-Type", "application/json")
		w.mux.ServeHTTP(httptest.NewRecorder(), request)
	}
}
