package resolve_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/resolvetest"
)

// A plan and its class name one broker. In a namespace's class that names a cluster's broker, only plans count that
// name it themselves: their writer was asked for the right to use it.
func TestPlanNamesTheBrokerOfItsClass(t *testing.T) {
	t.Parallel()
	azure, own := resolve.Ref{Name: "azure"}, resolve.Ref{Namespace: "dev", Name: "mine"}
	for name, tc := range map[string]struct {
		reason      string
		class, plan resolve.Ref
		cluster     bool
		refused     string
	}{
		"Neither":      {reason: "none yet"},
		"Same":         {reason: "a copy, whose writer was asked", class: azure, plan: azure},
		"Class":        {reason: "attack: no right was asked", class: azure, refused: "without the clusterServiceBrokerName of its class"},
		"Plan":         {reason: "no relist of the broker comes to the class", plan: azure, refused: "of a clusterServiceBrokerName that its class does not name"},
		"PlanOwn":      {reason: "its relist will say so of the class", plan: own},
		"Other":        {reason: "two brokers", class: azure, plan: resolve.Ref{Name: "aws"}, refused: "of another broker than its class"},
		"OtherScope":   {reason: "one name, two brokers", class: azure, plan: resolve.Ref{Namespace: "dev", Name: "azure"}, refused: "of another broker than its class"},
		"Own":          {reason: "the namespace's own", class: own, plan: own},
		"OwnOfClass":   {reason: "the namespace's own takes no right", class: own},
		"Cluster":      {reason: "the cluster's", class: azure, plan: azure, cluster: true},
		"ClusterClass": {reason: "who writes the cluster's catalog decides", class: azure, cluster: true},
		"ClusterPlan":  {reason: "as in the proposals: a relist fills the class in", plan: azure, cluster: true},
		"ClusterOther": {reason: "two brokers", class: azure, plan: resolve.Ref{Name: "aws"}, cluster: true, refused: "of another broker than its class"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			catalog, requests := "dev|mysql/db: small*", []string{"dev: type=mysql", "dev: class=db namespaced", "dev: class=db plan=small namespaced"}
			if tc.cluster {
				catalog, requests = "mysql/db: small*", []string{"dev: type=mysql", "dev: class=db", "dev: class=db plan=small"}
			}
			cat := resolvetest.Catalog(t, catalog)
			cat.Classes[0].Broker, cat.Plans[0].Broker = tc.class, tc.plan
			for _, request := range requests {
				choice, err := resolve.Plan(resolvetest.Request(t, request), cat)
				if tc.refused != "" {
					require.ErrorContains(t, err, tc.refused, "%s: %s", request, tc.reason)
					continue
				}
				require.NoError(t, err, "%s: %s", request, tc.reason)
				assert.Equal(t, "small", choice.Plan.ExternalName, "%s: %s", request, tc.reason)
			}
		})
	}
}
