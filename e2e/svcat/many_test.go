package svcat_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// manyPlans are more than two pages of a list hold.
const manyPlans = 1_100

// TestGetManyPlans: a list that takes several pages is shown whole, every plan once,
// sorted, in every layout.
func TestGetManyPlans(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.Apply(`
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ServiceClass
metadata: {name: many}
spec: {serviceBrokerName: none, externalID: many, externalName: many, serviceType: many, description: Many, bindable: true}
`)
	var creating errgroup.Group
	creating.SetLimit(16)
	want := make([]string, manyPlans)
	for i := range want {
		want[i] = fmt.Sprintf("plan-%04d", i)
		creating.Go(func() error {
			plan := &v1beta1.ServicePlan{ObjectMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: want[i]}}
			plan.Spec.ExternalID, plan.Spec.ExternalName = want[i], want[i]
			plan.Spec.ServiceBrokerName, plan.Spec.ServiceClassRef.Name = "none", "many"
			return e.Put(plan)
		})
	}
	require.NoError(t, creating.Wait())

	column := func(printed string, i int) (cells []string) {
		for line := range strings.Lines(printed) {
			if words := strings.Fields(line); len(words) > i && strings.HasPrefix(words[i], "plan-") {
				cells = append(cells, words[i])
			}
		}
		return cells
	}
	assert.Equal(t, want, column(e.Svcat("get", "plans"), 1), "table")
	assert.Equal(t, want, column(e.Svcat("get", "plans", "--type", "many", "-o", "wide"), 1), "wide")
	assert.Equal(t, want, column(e.Svcat("get", "plans", "--class", "many", "-o", "legacy"), 0), "legacy")
	assert.Equal(t, want, strings.Fields(e.Svcat("get", "plans", "-o", "jsonpath={.items[*].metadata.name}")), "jsonpath")
	assert.Len(t, parsed(t, e.Svcat("get", "plans", "-o", "json"))["items"], manyPlans)
	assert.Len(t, parsed(t, e.Svcat("get", "plans", "-o", "yaml"))["items"], manyPlans)
	names := e.Svcat("get", "plans", "--class", "many", "-o", "name")
	assert.Equal(t, manyPlans, strings.Count(names, "serviceplan.servicecatalog.k8s.io/plan-"))
}
