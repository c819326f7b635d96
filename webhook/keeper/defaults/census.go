package defaults

import (
	"context"
	"slices"
	"strings"

	"github.com/defaultplan/defaultplan/webhook/catalog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/keeper/controller"
)

// The scopes of types, and what a type resolves to, as label values.
const (
	scopeCluster   = "cluster"
	scopeNamespace = "namespace"

	stateResolvable = "resolvable"
	stateAmbiguous  = "ambiguous"
	stateNoDefault  = "no_default"
	stateNoPlans    = "no_plans"
)

// maxNamedTypes bounds how many types are named in labels, because operators
// and brokers may create any number of them; the rest are only counted.
const maxNamedTypes = 500

var (
	serviceTypes = prometheus.NewDesc("defaultplan_service_types",
		"Service types by scope (cluster, namespace) and by what an instance that names only the type finds: resolvable, ambiguous, no_default or no_plans.",
		[]string{"scope", "state"}, nil)
	defaultConflicts = prometheus.NewDesc("defaultplan_default_conflicts",
		"Service types for which several plans claim to be the default, by scope and reason: Several, AwaitsChoice or AnnotatedBesideRecord.",
		[]string{"scope", "reason"}, nil)
	defaultPlans = prometheus.NewDesc("defaultplan_default_plan_info",
		"1 for each service type of the cluster that has a default plan, with its name; at most 500 types.", []string{"type", "plan"}, nil)
)

// DescribeTypes sends what CollectTypes may tell.
func DescribeTypes(descriptions chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{serviceTypes, defaultConflicts, defaultPlans} {
		descriptions <- d
	}
}

// CollectTypes counts service types by what their status says, which the default recorder
// keeps.
func CollectTypes(ctx context.Context, s catalog.Scope, samples chan<- prometheus.Metric) error {
	var cluster v1beta1.ClusterServiceTypeList
	if err := s.List(ctx, &cluster, nil); err != nil {
		return err
	}
	var local v1beta1.ServiceTypeList
	if err := s.List(ctx, &local, nil); err != nil {
		return err
	}
	// The same types are named each time.
	slices.SortFunc(cluster.Items, func(a, b v1beta1.ClusterServiceType) int { return strings.Compare(a.Name, b.Name) })
	above, below := newTypeTally(), newTypeTally()
	for i := range cluster.Items {
		status := &cluster.Items[i].Status
		above.add(status)
		if status.DefaultPlan != "" && above.named < maxNamedTypes {
			above.named++
			samples <- controller.Gauge(defaultPlans, 1, cluster.Items[i].Name, status.DefaultPlan)
		}
	}
	for i := range local.Items {
		below.add(&local.Items[i].Status)
	}
	above.tell(scopeCluster, samples)
	below.tell(scopeNamespace, samples)
	return nil
}

// A typeTally counts the types of a scope. Zeros are exported too, because
// alerts may compare them.
type typeTally struct {
	states, conflicts map[string]int
	// named is how many of them were named in labels.
	named int
}

func newTypeTally() *typeTally {
	return &typeTally{
		states:    map[string]int{stateResolvable: 0, stateAmbiguous: 0, stateNoDefault: 0, stateNoPlans: 0},
		conflicts: map[string]int{reasonSeveral: 0, reasonAwaitsChoice: 0, reasonBesideRecord: 0},
	}
}

func (t *typeTally) add(status *v1beta1.ServiceTypeStatus) {
	t.states[stateOf(status)]++
	if c, _ := v1beta1.FindCondition(status.Conditions, v1beta1.ConditionAmbiguous); c.Status == v1beta1.ConditionTrue {
		t.conflicts[c.Reason]++
	}
}

// stateOf is the label value for what an instance that names only the type
// gets.
func stateOf(status *v1beta1.ServiceTypeStatus) string {
	if status.Resolvable {
		return stateResolvable
	}
	c, _ := v1beta1.FindCondition(status.Conditions, v1beta1.ConditionNoDefault)
	switch c.Reason {
	case reasonSeveral:
		return stateAmbiguous
	case reasonNoPlans:
		return stateNoPlans
	}
	return stateNoDefault
}

func (t *typeTally) tell(scope string, samples chan<- prometheus.Metric) {
	for state, count := range t.states {
		samples <- controller.Gauge(serviceTypes, float64(count), scope, state)
	}
	for reason, count := range t.conflicts {
		samples <- controller.Gauge(defaultConflicts, float64(count), scope, reason)
	}
}
