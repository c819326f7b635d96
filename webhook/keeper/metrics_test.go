package keeper_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// At each scrape the keeper reports what waits, and what types resolve to;
// other replicas report nothing.
func TestTheKeeperTellsHowThingsStand(t *testing.T) {
	old := ofMySQL("old")
	old.CreationTimestamp = metav1.NewTime(time.Unix(1000, 0))
	young := ofMySQL("young")
	young.CreationTimestamp = metav1.NewTime(time.Unix(2000, 0))
	classless := instance("a", "classless", func(s *v1beta1.ServiceInstanceSpec) { s.ClusterServicePlanExternalName = "small" })
	asked := with(binding("a", "asked", "old"), func(b *v1beta1.ServiceBinding) { b.Status.CurrentOperation = v1beta1.BindingBind })
	objects := []client.Object{old, young, deleting(ofMySQL("leaving")), whole("decided"), classless, asked, binding("a", "waiting", "old")}
	for name, status := range map[string]v1beta1.ServiceTypeStatus{
		"good":    {DefaultPlan: "azure/small", Resolvable: true, Conditions: []v1beta1.Condition{v1beta1.Ambiguous(false, "Unambiguous", "")}},
		"beside":  {DefaultPlan: "azure/large", Resolvable: true, Conditions: []v1beta1.Condition{v1beta1.Ambiguous(true, "AnnotatedBesideRecord", "")}},
		"several": {Conditions: []v1beta1.Condition{v1beta1.Ambiguous(true, "Several", ""), v1beta1.NoDefault(false, "Several", "")}},
		"empty":   {Conditions: []v1beta1.Condition{v1beta1.NoDefault(false, "NoPlans", "")}},
		"none":    {Conditions: []v1beta1.Condition{v1beta1.NoDefault(true, "None", "")}},
	} {
		objects = append(objects, &v1beta1.ClusterServiceType{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: status})
	}
	for _, object := range []client.Object{classless, asked, objects[6]} {
		object.SetCreationTimestamp(metav1.NewTime(time.Unix(3000, 0)))
	}
	inHouse(t, objects, func(ctx context.Context, h *house) {
		options := h.options()
		// The default recorder would correct what is told of types here.
		options.ServiceTypes = true
		options.Client = frozen{h}
		stop := h.keep(ctx, options)
		names := []string{
			"defaultplan_undecided_objects", "defaultplan_undecided_oldest_created_timestamp_seconds",
			"defaultplan_service_types", "defaultplan_default_conflicts", "defaultplan_default_plan_info",
		}
		h.pass(time.Second)
		want := `
# HELP defaultplan_default_conflicts Service types for which several plans claim to be the default, by scope and reason: Several, AwaitsChoice or AnnotatedBesideRecord.
# TYPE defaultplan_default_conflicts gauge
defaultplan_default_conflicts{reason="AnnotatedBesideRecord",scope="cluster"} 1
defaultplan_default_conflicts{reason="AnnotatedBesideRecord",scope="namespace"} 0
defaultplan_default_conflicts{reason="AwaitsChoice",scope="cluster"} 0
defaultplan_default_conflicts{reason="AwaitsChoice",scope="namespace"} 0
defaultplan_default_conflicts{reason="Several",scope="cluster"} 1
defaultplan_default_conflicts{reason="Several",scope="namespace"} 0
# HELP defaultplan_default_plan_info 1 for each service type of the cluster that has a default plan, with its name; at most 500 types.
# TYPE defaultplan_default_plan_info gauge
defaultplan_default_plan_info{plan="azure/large",type="beside"} 1
defaultplan_default_plan_info{plan="azure/small",type="good"} 1
# HELP defaultplan_service_types Service types by scope (cluster, namespace) and by what an instance that names only the type finds: resolvable, ambiguous, no_default or no_plans.
# TYPE defaultplan_service_types gauge
defaultplan_service_types{scope="cluster",state="ambiguous"} 1
defaultplan_service_types{scope="cluster",state="no_default"} 1
defaultplan_service_types{scope="cluster",state="no_plans"} 1
defaultplan_service_types{scope="cluster",state="resolvable"} 2
defaultplan_service_types{scope="namespace",state="ambiguous"} 0
defaultplan_service_types{scope="namespace",state="no_default"} 0
defaultplan_service_types{scope="namespace",state="no_plans"} 0
defaultplan_service_types{scope="namespace",state="resolvable"} 0
# HELP defaultplan_undecided_objects Instances and bindings that admission has not decided on, by kind.
# TYPE defaultplan_undecided_objects gauge
defaultplan_undecided_objects{kind="binding"} 2
defaultplan_undecided_objects{kind="instance"} 3
# HELP defaultplan_undecided_oldest_created_timestamp_seconds When the oldest instance or binding that waits for a decision was created, by kind, in seconds since 1970.
# TYPE defaultplan_undecided_oldest_created_timestamp_seconds gauge
defaultplan_undecided_oldest_created_timestamp_seconds{kind="binding"} 3000
defaultplan_undecided_oldest_created_timestamp_seconds{kind="instance"} 1000
`
		require.NoError(t, testutil.GatherAndCompare(h.registry, strings.NewReader(want), names...))
		stop()
		count, err := testutil.GatherAndCount(h.registry, names...)
		require.NoError(t, err)
		assert.Zero(t, count, "the next keeper tells")
	})
}

// A frozen client writes no status.
type frozen struct{ *house }

// Status takes whatever is written, and drops it.
func (f frozen) Status() client.SubResourceWriter { return idle{f.house.Status()} }

type idle struct{ client.SubResourceWriter }

// Patch changes nothing.
func (idle) Patch(context.Context, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
	return nil
}
