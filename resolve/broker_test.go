package resolve_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/resolvetest"
)

// In a namespace's class that names a cluster's broker, only plans count that name it too: their writer was asked for
// the right to use it.
func TestPlanNamesTheBrokerOfItsClass(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason      string
		class, plan string
		want        string
	}{
		"Neither": {reason: "a namespace's own broker, or none yet", want: "small"},
		"Same":    {reason: "a copy, whose writer was asked", class: "azure", plan: "azure", want: "small"},
		"Class":   {reason: "the plan was written while its class named no broker", class: "azure"},
		"Plan":    {reason: "the class went to another", plan: "azure"},
		"Other":   {reason: "two brokers", class: "azure", plan: "aws"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cat := resolvetest.Catalog(t, "dev|mysql/db: small*")
			cat.Classes[0].ClusterBroker, cat.Plans[0].ClusterBroker = tc.class, tc.plan
			for _, request := range []string{"dev: type=mysql", "dev: class=db namespaced", "dev: class=db plan=small namespaced"} {
				choice, err := resolve.Plan(resolvetest.Request(t, request), cat)
				assert.Equal(t, tc.want, choice.Plan.ExternalName, "%s: %s", request, tc.reason)
				if tc.want == "" {
					require.ErrorContains(t, err, "of another clusterServiceBrokerName than its class", request)
				}
			}
		})
	}
}
