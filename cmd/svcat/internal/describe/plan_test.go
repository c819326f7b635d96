package describe

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
)

// What a plan costs is told, and why that cannot be read.
func TestDescribePlanPrice(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	require.NoError(t, v1beta1.AddToScheme(scheme))
	reader := fake.NewClientBuilder().WithScheme(scheme).Build()
	plan := &v1beta1.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: "small"}}
	described := func() string {
		view, _ := catalog.PlanOf(plan)
		var out strings.Builder
		require.NoError(t, describePlan(t.Context(), reader, &out, view))
		return strings.Join(strings.Fields(out.String()), " ")
	}
	assert.NotContains(t, described(), "Costs:", "nothing is known")
	plan.Status.Costs = []v1beta1.PlanCost{{Currency: "usd", Amount: "99.95", Unit: "MONTHLY"}}
	assert.Contains(t, described(), "Free: false Costs: 99.95 usd / MONTHLY")
	plan.Status.Costs, plan.Status.MalformedCosts = nil, "costs is not a list"
	assert.Contains(t, described(), "Costs: ? Malformed Costs: costs is not a list")
}

// A plan that is never chosen says why, whichever of plan and class is the reason.
func TestDescribePlanNeverChosen(t *testing.T) {
	t.Parallel()
	leaving := metav1.ObjectMeta{Name: "db", DeletionTimestamp: &metav1.Time{Time: time.Unix(1, 0)}, Finalizers: []string{"example.com/held"}}
	class := func(meta metav1.ObjectMeta, broker string) []client.Object {
		c := &v1beta1.ClusterServiceClass{ObjectMeta: meta}
		c.Spec.ClusterServiceBrokerName = broker
		return []client.Object{c}
	}
	cases := map[string]struct {
		reason  string
		objects []client.Object
		removed bool
		want    string
	}{
		"Live":         {reason: "nothing to say", objects: class(metav1.ObjectMeta{Name: "db"}, "azure")},
		"Removed":      {reason: "the plan itself", objects: class(metav1.ObjectMeta{Name: "db"}, "azure"), removed: true, want: "it is removed from its broker's catalog"},
		"NoClass":      {reason: "its defaults would be missed", want: "it is of a class that does not exist"},
		"ClassLeaves":  {reason: "the class goes", objects: class(leaving, "azure"), want: "it is of a class that is being deleted"},
		"OtherBrokers": {reason: "no error shows it anywhere else", objects: class(metav1.ObjectMeta{Name: "db"}, "other"), want: "it is of another broker than its class"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scheme := runtime.NewScheme()
			require.NoError(t, v1beta1.AddToScheme(scheme))
			reader := fake.NewClientBuilder().WithScheme(scheme).WithObjects(tc.objects...).Build()
			plan := &v1beta1.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: "small"}}
			plan.Spec.ClusterServiceBrokerName, plan.Spec.ClusterServiceClassRef.Name = "azure", "db"
			plan.Status.RemovedFromBrokerCatalog = tc.removed
			view, ok := catalog.PlanOf(plan)
			require.True(t, ok)
			var out strings.Builder
			require.NoError(t, describePlan(t.Context(), reader, &out, view))
			said := ""
			for line := range strings.Lines(out.String()) {
				if rest, found := strings.CutPrefix(strings.TrimSpace(line), "Never Chosen:"); found {
					said = strings.TrimSpace(rest)
				}
			}
			assert.Equal(t, tc.want, said, "%s: %s", tc.reason, out.String())
		})
	}
}
