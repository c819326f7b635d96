package observe_test

import (
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// TestObserve: on one stack on which everything is told, the metrics are those that are
// documented and that alerts and dashboard ask for, traces lead from the API server to
// the webhook and from the controller to the broker, and of what was planted nothing is
// told anywhere.
func TestObserve(t *testing.T) { //nolint:tparallel // its parts look at one stack, one after the other
	t.Parallel()
	s, planted := newStage(t), canaries{}
	s.outage()
	s.storeURLs(planted)
	s.open(planted)
	traced := s.plant(planted)
	s.plantBrokers(planted)
	s.plantSecrets(planted)
	// Last is what looks at all that the others had to wait for.
	for _, part := range []struct {
		name string
		test func(*stage)
	}{
		{"MetricsAreDocumented", (*stage).metricsAreDocumented},
		{"QueriesAskForWhatIsThere", (*stage).queriesAskForWhatIsThere},
		{"Admission", func(s *stage) { s.admissionIsOneTrace(traced) }},
		{"Calls", (*stage).callsAreTraced},
		{"NothingPlantedIsTold", func(s *stage) { s.nothingIsTold(planted) }},
	} {
		t.Run(part.name, func(t *testing.T) {
			in := *s
			in.Env = s.In(t)
			part.test(&in)
		})
	}
}

// A tracedTransport sends requests as parts of a trace.
type tracedTransport struct {
	next   http.RoundTripper
	parent string
}

// RoundTrip sends a request.
func (t *tracedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Traceparent", t.parent)
	return t.next.RoundTrip(r)
}

// theTrace is that of the creation that is traced.
const theTrace = "4bf92f3577b34da6a3ce929d0e0e4736"

// createTraced creates an object as a part of a trace that is sampled.
func (s *stage) createTraced(object client.Object) {
	s.Helper()
	config := s.RESTConfig()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &tracedTransport{next, "00-" + theTrace + "-00f067aa0ba902b7-01"}
	})
	s.WithConfig(config).Create(object)
}

// admissionIsOneTrace: what the API server and the webhook did for creations is in the
// trace that they came with, one below the other, down to what the webhook asked.
func (s *stage) admissionIsOneTrace(instance *api.ServiceInstance) {
	s.Helper()
	trace := map[string]*span{}
	var decided, asked, reviewed *span
	s.Eventually(func() (bool, error) {
		for _, one := range s.collector.all() {
			if hex.EncodeToString(one.GetTraceId()) == theTrace {
				trace[hex.EncodeToString(one.GetSpanId())] = one
			}
		}
		for _, one := range trace {
			switch {
			case one.service == "defaultplan-webhook" && one.GetName() == "mutate ServiceInstance":
				decided = one
			case one.service == "defaultplan-webhook" && strings.HasPrefix(one.GetName(), "GET /apis/"):
				asked = one
			case one.service == "defaultplan-webhook" && one.GetName() == "POST /apis/authorization.k8s.io/v1/subjectaccessreviews":
				reviewed = one
			}
		}
		return is(decided != nil && asked != nil && reviewed != nil && trace[hex.EncodeToString(decided.GetParentSpanId())] != nil,
			"the trace has not yet the spans of the webhook: %v", names(trace))
	})
	assert.Equal(s, decided.GetSpanId(), asked.GetParentSpanId(), "what is asked for a decision is below it")
	assert.Equal(s, "validate ClusterServiceBroker", trace[hex.EncodeToString(reviewed.GetParentSpanId())].GetName(), "who may use the Secret is asked for the broker")
	assert.Equal(s, "apiserver", trace[hex.EncodeToString(decided.GetParentSpanId())].service)
	assert.Equal(s, instance.Name, decided.attribute("defaultplan.name"))
	assert.Equal(s, instance.Namespace, decided.attribute("defaultplan.namespace"))
	assert.Equal(s, "allowed", decided.attribute("defaultplan.outcome"))
	assert.NotEmpty(s, decided.attribute("defaultplan.rule"))
	assert.NotEmpty(s, decided.attribute("defaultplan.plan"))
	for _, one := range s.collector.find("defaultplan-webhook", "mutate ServiceInstance") {
		assert.Equal(s, theTrace, hex.EncodeToString(one.GetTraceId()), "nothing else is traced")
	}
}

// names are those of spans, with whose they are.
func names(spans map[string]*span) []string {
	var all []string
	for _, one := range spans {
		all = append(all, one.service+": "+one.GetName())
	}
	slices.Sort(all)
	return all
}

// callsAreTraced: a call to the broker is below the pass that makes it, and the broker
// is told of it.
func (s *stage) callsAreTraced() {
	s.Helper()
	var call, request, pass *span
	s.Eventually(func() (bool, error) {
		byID := map[string]*span{}
		for _, one := range s.collector.all() {
			byID[hex.EncodeToString(one.GetSpanId())] = one
		}
		for _, one := range s.collector.find("defaultplan-controller", "PUT broker") {
			above := byID[hex.EncodeToString(one.GetParentSpanId())]
			if above == nil || above.GetName() != "provision" || above.attribute("defaultplan.broker") != s.Name("broker") {
				continue
			}
			request, call, pass = one, above, byID[hex.EncodeToString(above.GetParentSpanId())]
		}
		return is(pass != nil, "of %d spans none is of a call", len(byID))
	})
	assert.Equal(s, "reconcile instance", pass.GetName())
	assert.Empty(s, pass.GetParentSpanId())
	assert.Equal(s, s.Name("broker"), call.attribute("defaultplan.broker"))
	told, requests := map[string]bool{}, map[string]bool{}
	for _, one := range s.broker.Calls(osbtest.Of(osbtest.Provision)) {
		parent := one.Header.Get("Traceparent")
		assert.Empty(s, one.Header.Get("Baggage"))
		told[parent], requests[one.RequestID] = true, true
	}
	assert.True(s, requests[call.attribute("defaultplan.request_id")], "the broker knows the call by its ID: %v", requests)
	assert.True(s, told["00-"+hex.EncodeToString(request.GetTraceId())+"-"+hex.EncodeToString(request.GetSpanId())+"-01"], "the broker is sent the span of its request: %v", told)
	assert.NotEmpty(s, s.collector.find("defaultplan-controller", "relist"))
	assert.NotEmpty(s, s.collector.find("defaultplan-controller", "catalog"))
}

// ready waits until an instance or binding is.
func (s *stage) ready(objects ...any) {
	s.Helper()
	for _, object := range objects {
		switch o := object.(type) {
		case *api.ServiceInstance:
			s.hasCondition(o, func() []api.Condition { return o.Status.Conditions }, api.ConditionReady)
		case *api.ServiceBinding:
			s.hasCondition(o, func() []api.Condition { return o.Status.Conditions }, api.ConditionReady)
		}
	}
}

// bindingTo is a binding to an instance, not yet created.
func (s *stage) bindingTo(name, instance string) *api.ServiceBinding {
	b := &api.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name}}
	b.Spec.InstanceRef = &api.InstanceReference{Name: instance}
	return b
}
