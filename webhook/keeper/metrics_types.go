package keeper

import (
	"context"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// The scopes of types, and what a type resolves to, as the metrics' labels say it.
const (
	scopeCluster   = "cluster"
	scopeNamespace = "namespace"

	stateResolvable = "resolvable"
	stateAmbiguous  = "ambiguous"
	stateNoDefault  = "no_default"
	stateNoPlans    = "no_plans"
)

// collectTypes counts service types by what their status says, which the recorder
// keeps.
func collectTypes(ctx context.Context, s scope, samples chan<- prometheus.Metric) error {
	var cluster v1beta1.ClusterServiceTypeList
	if err := s.listAll(ctx, &cluster); err != nil {
		return err
	}
	var local v1beta1.ServiceTypeList
	if err := s.listAll(ctx, &local); err != nil {
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
			samples <- gauge(defaultPlans, 1, cluster.Items[i].Name, status.DefaultPlan)
		}
	}
	for i := range local.Items {
		below.add(&local.Items[i].Status)
	}
	above.tell(scopeCluster, samples)
	below.tell(scopeNamespace, samples)
	return nil
}

// A typeTally counts the types of a scope. What there is none of is told too: an
// alert may compare it.
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

// stateOf is what an instance that names only the type finds, as noDefault says it.
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
		samples <- gauge(serviceTypes, float64(count), scope, state)
	}
	for reason, count := range t.conflicts {
		samples <- gauge(defaultConflicts, float64(count), scope, reason)
	}
}
