package controller

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/broker"
	"github.com/defaultplan/defaultplan/osb/controller/metrics/metricstest"
	"github.com/defaultplan/defaultplan/osb/controller/queue"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A call that panics is over, failed, and no sign of life of its broker; and nothing is
// counted where there are no metrics.
func TestMetricsOfAPanic(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t)
	e := w.reconciler.engine
	s := panics{&caller{}}
	made := &attempt{broker: broker.Key{Name: "broker"}, decision: &lifecycle.Decision{Step: lifecycle.Poll, Record: lifecycle.Record{Retries: 1}}}
	assert.Panics(t, func() { e.call(t.Context(), s, nil, made) })
	assert.Zero(t, metricstest.Value(t, w.registry, "defaultplan_broker_calls_in_progress", "broker"))
	assert.InDelta(t, 1, metricstest.Value(t, w.registry, "defaultplan_broker_calls_total", "broker", "poll_instance", "other"), 0)

	fetch := func(context.Context) (*osb.Catalog, error) { panic("out of bounds") }
	assert.Panics(t, func() { _, _ = e.metrics.Fetching(t.Context(), made.broker.At(), clock.RealClock{}, fetch) })
	assert.Zero(t, metricstest.Value(t, w.registry, "defaultplan_broker_calls_in_progress", "broker"))
	assert.InDelta(t, 1, metricstest.Value(t, w.registry, "defaultplan_broker_calls_total", "broker", "catalog", "other"), 0)

	e.metrics = nil
	assert.NotPanics(t, func() {
		e.call(t.Context(), s.caller, nil, made)
		e.metrics.Retried(made.broker.At(), "bind")
		e.metrics.Mitigated("binding")
	})
}

// A panics is a resource whose call does.
type panics struct{ *caller }

func (panics) call(context.Context, *osb.Client, *lifecycle.Decision) lifecycle.CallResult {
	panic("out of bounds")
}

// Calls are counted by broker, operation and outcome, and orphans by kind.
func TestMetrics(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t)
	w.broker.Next(osbtest.Bind, osbtest.Status(500, `{}`))
	w.pass() // fails
	w.pass() // is mitigated: there is nothing
	assert.InDelta(t, 0, metricstest.Value(t, w.registry, "defaultplan_broker_calls_in_progress", "broker"), 0)
	require.NoError(t, testutil.GatherAndCompare(w.registry, strings.NewReader(`
# HELP defaultplan_broker_calls_total Calls to brokers, by broker, operation and outcome: ok, or the kind of error.
# TYPE defaultplan_broker_calls_total counter
defaultplan_broker_calls_total{broker="broker",operation="bind",outcome="BrokerFault"} 1
defaultplan_broker_calls_total{broker="broker",operation="unbind",outcome="Gone"} 1
# HELP defaultplan_orphan_mitigations_total Instances and bindings of unknown outcome that had to be removed at their brokers.
# TYPE defaultplan_orphan_mitigations_total counter
defaultplan_orphan_mitigations_total{kind="binding"} 1
defaultplan_orphan_mitigations_total{kind="instance"} 0
`), "defaultplan_broker_calls_total", "defaultplan_orphan_mitigations_total"))
}

// A retry is a second try of what failed: no poll, no removal of what the first try may
// have left, and no second request for credentials that a broker gives only so.
func TestMetricsOfRetries(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t)
	w.broker.Next(osbtest.Bind, osbtest.Status(503, `{}`))
	w.broker.Next(osbtest.Bind, osbtest.AsyncDone(2))
	w.pass()  // fails
	w.pass()  // is mitigated
	w.retry() // is tried again, and goes on
	for range 3 {
		p := w.turn()
		remember(queue.NewContext(t.Context(), p), w.bindingHere(), func(m *memory) { m.poll = time.Time{} })
		p.End(nil)
		w.pass()
	}
	assert.Len(t, w.broker.Calls(osbtest.Of(osbtest.PollBinding)), 3)
	b, _ := w.pass() // asks for the credentials
	assert.NotNil(t, b.Status.Binding)
	assert.Len(t, w.broker.Calls(osbtest.Of(osbtest.Bind)), 3)
	const retries = "defaultplan_broker_call_retries_total"
	assert.Equal(t, 1, metricstest.Series(t, w.registry, retries), "of one operation")
	assert.InDelta(t, 1, metricstest.Value(t, w.registry, retries, "broker", "bind"), 0)
}

// What is not sent is no call, and no first try of one.
func TestMetricsOfWhatIsWithheld(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t)
	w.fail["get ServiceInstance"] = errors.New("away")
	b, _ := w.pass()
	assert.Empty(t, w.broker.Calls())
	assert.Nil(t, b.Status.ExternalProperties)
	assert.Zero(t, metricstest.Series(t, w.registry, "defaultplan_broker_calls_total"))
	w.retry()
	assert.InDelta(t, 1, metricstest.Value(t, w.registry, "defaultplan_broker_calls_total", "broker", "bind", "ok"), 0)
	assert.Zero(t, metricstest.Series(t, w.registry, "defaultplan_broker_call_retries_total"))
}
