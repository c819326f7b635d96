package controller

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// Calls are counted by broker, operation and outcome, and orphans by kind.
func TestMetrics(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t)
	registry := prometheus.NewRegistry()
	counted, err := newMetrics(registry)
	require.NoError(t, err)
	w.reconciler.metrics = counted
	w.broker.Next(osbtest.Bind, osbtest.Status(500, `{}`))
	w.pass() // fails
	w.pass() // is mitigated: there is nothing
	assert.InDelta(t, 0, testutil.ToFloat64(counted.running.WithLabelValues("broker")), 0)
	require.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
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
