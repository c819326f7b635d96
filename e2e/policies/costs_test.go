package policies_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
)

// priced writes what a plan costs a month into its status, as a relist does.
func priced(e *env.Env, plan client.Object, amount string) {
	e.Helper()
	patch := `{"status":{"costs":[{"currency":"usd","amount":"` + amount + `","unit":"MONTHLY"}]}}`
	require.NoError(e, e.Client().Status().Patch(e.Context(), plan, client.RawPatch(types.MergePatchType, []byte(patch))))
}

// addCopy adds class "own" with the plan "mine", copies of class "c" and of one of its plans.
func addCopy(e *env.Env, original string) client.Object {
	e.Helper()
	class, ok := env.Class{Namespace: e.Namespace, Name: e.Name("own"), ExternalID: e.Name("c")}.Object().(*api.ServiceClass)
	require.True(e, ok)
	plan, ok := env.Plan{Namespace: e.Namespace, Name: e.Name("mine"), Class: e.Name("own"), ExternalID: e.Name(original)}.Object().(*api.ServicePlan)
	require.True(e, ok)
	class.Spec.ServiceBrokerName, class.Spec.ClusterServiceBrokerName = "", "broker"
	plan.Spec.ServiceBrokerName, plan.Spec.ClusterServiceBrokerName, plan.Spec.Free = "", "broker", true
	e.Create(class, plan)
	return plan
}

// TestNothingDearIsAdmitted: nothing over 100 a month in a namespace, whichever way it is asked for, and no copy that claims
// to be cheap; what waits for one is decided when its original becomes cheaper.
func TestNothingDearIsAdmitted(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	e.AddPlans(env.Class{Name: e.Name("c"), ServiceType: e.Name("db")},
		env.Plan{Name: e.Name("basic"), Weight: 1, Labels: map[string]string{"test": e.Suffix}},
		env.Plan{Name: e.Name("premium"), Default: true, Weight: 9, Labels: map[string]string{"test": e.Suffix}},
		env.Plan{Name: e.Name("silent")})
	premium := env.Plan{Name: e.Name("premium")}.Object()
	priced(e, env.Plan{Name: e.Name("basic")}.Object(), "99.95")
	priced(e, premium, "100.01")
	frugal := denial(e, api.PlanSubject{Costs: &api.PolicyCosts{Currency: "USD", Unit: "Monthly", Above: "100"}})
	frugal.Spec.Message = "ask the platform team"
	denies(e, frugal)
	of := func(plan string) env.InstanceEdit { return env.OfPlan(e.Name("c"), e.Name(plan)) }
	admittedSoon(e, of("basic"))
	const dear = "(it costs 100.01 USD / Monthly, and the limit is 100): ask the platform team"
	e.Eventually(func() (bool, error) { // the webhook learns of each status by a watch
		err := tries(e, of("premium"))
		return err != nil && strings.Contains(env.Said(err), dear), nil
	})
	deniedBy(e, tries(e, env.OfType(e.Name("db"))), frugal, dear, "the default of its type")
	deniedBy(e, tries(e, of("silent")), frugal, "(what it costs in USD / Monthly is unknown, and the limit is 100)", "nothing is silently cheap")
	require.NoError(t, tries(elsewhere(e), of("premium")), "another namespace")

	local := func(i *api.ServiceInstance) {
		i.Spec.ServiceClassExternalName, i.Spec.ServicePlanExternalName = e.Name("own"), e.Name("mine")
	}
	e.Create(e.Instance("mydb", local)) // its class is yet to come, so it is admitted
	copied := addCopy(e, "premium")
	priced(e, copied, "1")
	e.DeniedSoon(local)
	e.Eventually(func() (bool, error) {
		err := tries(e, local)
		return err != nil && strings.Contains(env.Said(err), dear), nil
	})
	e.ToldUndecided("mydb")
	assert.Empty(t, env.PlanOf(e.Stored("mydb")), "its plan is as dear as the original")

	priced(e, premium, "100")
	assert.Equal(t, e.Name("mine"), env.PlanOf(e.InstanceDecided("mydb")))
	admittedSoon(e, of("premium"))
}
