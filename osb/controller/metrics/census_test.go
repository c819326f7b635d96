package metrics

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/queue"
)

// An object is counted in the first state that holds.
func TestStates(t *testing.T) {
	t.Parallel()
	ready, failed := []v1beta1.Condition{v1beta1.Ready("", "")}, []v1beta1.Condition{v1beta1.Failed("", "")}
	for want, tc := range map[string]struct {
		reason string
		is     condition
	}{
		stateDeleting:   {reason: "What goes is not asked whether it is ready.", is: condition{object: &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: new(metav1.Now())}}, decided: true, operation: "deprovision"}},
		stateMitigating: {reason: "An orphan is more than an operation.", is: condition{mitigating: true, decided: true, operation: "provision"}},
		stateUndecided:  {reason: "Admission has the next word.", is: condition{}},
		stateInProgress: {reason: "An update of what is ready still runs.", is: condition{decided: true, operation: "update", conditions: ready}},
		stateReady:      {reason: "Ready.", is: condition{decided: true, conditions: ready}},
		stateFailed:     {reason: "Nothing more is tried.", is: condition{decided: true, conditions: failed}},
		stateWaiting:    {reason: "For all else.", is: condition{decided: true}},
	} {
		if tc.is.object == nil {
			tc.is.object = &v1beta1.ServiceInstance{}
		}
		assert.Equal(t, want, tc.is.state(), tc.reason)
	}
}

// The controller that works tells of operations by age, of brokers, and of what they
// list, also by the names of the retired catalog; one that waits to be elected does not.
func TestCensus(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	running := func(name string, age time.Duration) *v1beta1.ServiceInstance {
		i := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name}}
		i.Spec.ClusterServicePlanRef, i.Spec.ClusterServiceClassRef = &v1beta1.ClusterObjectReference{Name: "p"}, &v1beta1.ClusterObjectReference{Name: "c"}
		i.Status.CurrentOperation, i.Status.OperationStartTime = v1beta1.InstanceProvision, new(metav1.NewTime(now.Add(-age)))
		return i
	}
	own, foreign := &v1beta1.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: "own"}}, &v1beta1.ServiceBroker{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "foreign"}}
	own.Status.Conditions = []v1beta1.Condition{v1beta1.Ready("", ""), v1beta1.CatalogComplete(true, "", "")}
	foreign.Spec.ControllerName = "other"
	listed, removed := &v1beta1.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: "p"}}, &v1beta1.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: "q"}}
	listed.Spec.ClusterServiceBrokerName, removed.Spec.ClusterServiceBrokerName = "own", "own"
	removed.Status.RemovedFromBrokerCatalog = true
	scheme := runtime.NewScheme()
	require.NoError(t, v1beta1.AddToScheme(scheme))
	objects := []client.Object{running("young", 30*time.Second), running("old", 2*time.Hour), running("ancient", 48*time.Hour), own, foreign, listed, removed}
	const most = 8
	queues, at := queue.New(queue.Limits{Calls: 32, PerBroker: most, PerNamespace: most, Namespaced: 32}), queue.Broker{Name: "own"}
	waits, _ := queues.Begin(queue.Item{Kind: "ServiceInstance", NamespacedName: types.NamespacedName{Namespace: "n", Name: "young"}}, func(*queue.Pass) {})
	for i := range most * 3 / 4 {
		holds, _ := queues.Begin(queue.Item{Kind: fmt.Sprint(i), NamespacedName: types.NamespacedName{Namespace: "n"}}, nil)
		require.True(t, holds.Enter(at))
	}
	require.False(t, waits.Enter(at))
	waits.End(&at)
	elected := make(chan struct{})
	registry := prometheus.NewRegistry()
	registry.MustRegister(&Census{
		Reader: fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build(), Queues: queues, Clock: testclock.NewFakePassiveClock(now), Elected: elected,
	})
	count, err := testutil.GatherAndCount(registry)
	require.NoError(t, err)
	assert.Equal(t, 1, count, "only that it is not the leader")
	close(elected)
	require.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP defaultplan_broker_ready 1 for a broker whose catalog was taken over as it is, 0 for one that has another condition Ready than True.
# TYPE defaultplan_broker_ready gauge
defaultplan_broker_ready{broker="own"} 1
# HELP defaultplan_broker_waiting_objects Instances and bindings that wait for their turn to call a broker.
# TYPE defaultplan_broker_waiting_objects gauge
defaultplan_broker_waiting_objects{broker="own"} 1
# HELP defaultplan_catalog_complete 1 for a broker of whose catalog nothing was left out, else 0.
# TYPE defaultplan_catalog_complete gauge
defaultplan_catalog_complete{broker="own"} 1
# HELP defaultplan_catalog_plans Plans of a broker that it still lists.
# TYPE defaultplan_catalog_plans gauge
defaultplan_catalog_plans{broker="own"} 1
# HELP defaultplan_controller_leader 1 while this process is the controller that works, else 0.
# TYPE defaultplan_controller_leader gauge
defaultplan_controller_leader 1
# HELP defaultplan_operations_oldest_start_timestamp_seconds When the oldest operation whose outcome is not known yet began, by kind and operation, in seconds since 1970.
# TYPE defaultplan_operations_oldest_start_timestamp_seconds gauge
defaultplan_operations_oldest_start_timestamp_seconds{kind="instance",operation="provision"} 1.7774640e+09
# HELP servicecatalog_broker_service_class_count Classes of a broker, as the retired catalog counted them.
# TYPE servicecatalog_broker_service_class_count gauge
servicecatalog_broker_service_class_count{broker="own",namespace=""} 0
# HELP servicecatalog_broker_service_plan_count Plans of a broker, as the retired catalog counted them.
# TYPE servicecatalog_broker_service_plan_count gauge
servicecatalog_broker_service_plan_count{broker="own",namespace=""} 1
`), "defaultplan_broker_ready", "defaultplan_broker_waiting_objects", "defaultplan_catalog_complete", "defaultplan_catalog_plans", "defaultplan_controller_leader",
		"defaultplan_operations_oldest_start_timestamp_seconds", "servicecatalog_broker_service_class_count", "servicecatalog_broker_service_plan_count"))
	families, err := registry.Gather()
	require.NoError(t, err)
	var told []string
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if name := family.GetName(); m.GetGauge().GetValue() > 0 && (name == "defaultplan_operations_in_progress" || name == "defaultplan_objects") {
				var labels []string
				for _, label := range m.GetLabel() {
					labels = append(labels, label.GetValue())
				}
				told = append(told, strings.Join(labels, " "))
			}
		}
	}
	assert.Equal(t, []string{"instance in_progress", "1d instance provision", "1m instance provision", "older instance provision"}, told)
}
