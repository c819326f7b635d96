package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

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
			w := stocked(t, "dev|"+db).world()
			if tc.breaks {
				w.live.fail(func(string) error { return errors.New("down") })
			}
			before := counted(t, tc.rule, tc.outcome)
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
			assert.Greater(t, counted(t, tc.rule, tc.outcome), before, tc.reason)
		})
	}
}

// A judge that panics has failed like one that says so, and so has one whose patch cannot
// be sent: told once, in the log, in the metrics and in its span, and never as allowed.
func TestFailuresOfJudgesAreTold(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	otel.SetTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans)))
	t.Cleanup(func() { otel.SetTracerProvider(noop.NewTracerProvider()) })
	for name, tc := range map[string]struct {
		reason string
		judge  judge
	}{
		"Panics": {reason: "its text is told nowhere", judge: func(context.Context, *admission.Request) (verdict, error) { panic(canary) }},
		"NoJSON": {reason: "a channel has no JSON", judge: func(context.Context, *admission.Request) (verdict, error) {
			decided := verdict{rule: ruleNone}
			decided.patch.add(make(chan int), "spec")
			return decided, nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var logged strings.Builder
			ctx := log.IntoContext(t.Context(), funcr.New(func(_, args string) { logged.WriteString(args + "\n") }, funcr.Options{}))
			spans.Reset()
			before, took := counted(t, ruleNone, outcomeFailed), measured(t)
			req := &admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
				Operation: admissionv1.Create, Kind: metav1.GroupVersionKind{Group: v1beta1.GroupName, Kind: "ServiceInstance"},
			}}
			_, err := serve(mutating, "ServiceInstance", tc.judge)(ctx, req)
			require.Error(t, err, tc.reason)
			assert.NotContains(t, err.Error()+logged.String(), canary, tc.reason)
			assert.Equal(t, 1, strings.Count(logged.String(), `"msg"="admission"`))
			assert.Contains(t, logged.String(), `"outcome"="failed"`)
			assert.Equal(t, strings.Count(logged.String(), `"msg"`), strings.Count(logged.String(), `"client"="unverified"`))
			assert.InDelta(t, before+1, counted(t, ruleNone, outcomeFailed), 0)
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

// A warning is never longer than what the API server passes on, whatever it is about.
func TestWarningsAreBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ключ", 60)
	w := stocked(t, db, planDefaults("db-small", `{"`+long+`1":1,"`+long+`2":2}`)).world()
	o := w.create(byType)
	o.admitted()
	require.Len(t, o.mutate.Warnings, 2)
	assert.True(t, strings.HasSuffix(o.mutate.Warnings[1], "…"))
	// The world holds each warning against the limit.
	w.options.Unresolved = UnresolvedWait
	w.create(`{"clusterServiceClassExternalName":"` + strings.Repeat("x", 5000) + `","clusterServicePlanName":"p"}`).admitted()
}
