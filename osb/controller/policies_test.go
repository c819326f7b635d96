package controller

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/catalog"
	"github.com/defaultplan/defaultplan/osb/controller/catalog/catalogtest"
	"github.com/defaultplan/defaultplan/osb/controller/policies"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// provisioningPolicy is a policy about plans of a name in the namespaces that are named; none is everywhere.
func provisioningPolicy(action v1beta1.PolicyAction, plan string, namespaces ...string) *v1beta1.ProvisioningPolicy {
	p := &v1beta1.ProvisioningPolicy{ObjectMeta: metav1.ObjectMeta{Name: "costs"}}
	p.Spec.Action, p.Spec.Message = action, "ask Ann"
	p.Spec.Subjects = []v1beta1.PolicySubject{{PlanSubject: v1beta1.PlanSubject{PlanName: plan}}}
	if len(namespaces) > 0 {
		p.Spec.Namespaces = &v1beta1.PolicyNamespaces{Names: namespaces}
	}
	return p
}

// bindingPolicy denies bindings to instances of plans of a name.
func bindingPolicy(plan string) *v1beta1.BindingPolicy {
	p := &v1beta1.BindingPolicy{ObjectMeta: metav1.ObjectMeta{Name: "costs"}}
	p.Spec.Action = v1beta1.PolicyDeny
	p.Spec.Subjects = []v1beta1.BindingPolicySubject{{PlanSubject: v1beta1.PlanSubject{PlanName: plan}}}
	return p
}

// TestDeniedInstances: what is new to a broker is judged by the class and the plan that it is made of.
func TestDeniedInstances(t *testing.T) {
	t.Parallel()
	const denies = `ProvisioningPolicy "costs" does not let namespace "n" use plan mysql/small: ask Ann`
	target := func(broker, plan string) v1beta1.BrokerTarget {
		return v1beta1.BrokerTarget{ClusterServiceBrokerName: broker, ClassExternalID: "class-id", PlanExternalID: plan}
	}
	deny := provisioningPolicy(v1beta1.PolicyDeny, "small")
	for name, tc := range map[string]struct {
		reason string
		policy *v1beta1.ProvisioningPolicy
		thing  lifecycle.Resource
		says   string
	}{
		"New":              {reason: "nothing is at its broker", policy: deny, says: denies},
		"NotAllowed":       {reason: "it is for others", policy: provisioningPolicy(v1beta1.PolicyAllow, "small", "m"), says: `plan mysql/small is only for the namespaces that ProvisioningPolicy "costs" names, and "n" is not one of them: ask Ann`},
		"Allowed":          {reason: "it is for this namespace", policy: provisioningPolicy(v1beta1.PolicyAllow, "small", "n")},
		"Elsewhere":        {reason: "the policy is of another namespace", policy: provisioningPolicy(v1beta1.PolicyDeny, "small", "m")},
		"AnotherPlan":      {reason: "the policy is of another plan", policy: provisioningPolicy(v1beta1.PolicyDeny, "large")},
		"NotCompiled":      {reason: "it has no effect", policy: provisioningPolicy("Maybe", "small")},
		"Limit":            {reason: "slots are for that", policy: limited()},
		"ToAdopt":          {reason: "nothing is made", policy: deny, thing: lifecycle.Resource{Kind: lifecycle.Instance, SpecID: "theirs", Adopting: true}},
		"Has":              {reason: "what is there stays", policy: deny, thing: ofRecord(true, target("b", "plan-id"), v1beta1.BrokerTarget{})},
		"HasAtAnother":     {reason: "attack: a broker of the attacker's own has the same IDs", policy: deny, thing: ofRecord(true, target("own", "plan-id"), v1beta1.BrokerTarget{}), says: denies},
		"Changes":          {reason: "the plan is new to it", policy: deny, thing: ofRecord(true, target("b", "old-id"), v1beta1.BrokerTarget{}), says: denies},
		"IsChanged":        {reason: "the broker may have it", policy: deny, thing: underWay(ofRecord(true, target("b", "old-id"), target("b", "plan-id")))},
		"IsChangedAgain":   {reason: "it was answered by 503, and the policy is newer", policy: deny, thing: ofRecord(true, target("b", "old-id"), target("b", "plan-id")), says: denies},
		"Sent":             {reason: "the broker may have made it", policy: deny, thing: ofRecord(false, v1beta1.BrokerTarget{}, target("b", "plan-id"))},
		"SentToAnother":    {reason: "attack: a broker of the attacker's own was sent the same IDs", policy: deny, thing: ofRecord(false, v1beta1.BrokerTarget{}, target("own", "plan-id")), says: denies},
		"AnotherPlanSent":  {reason: "it was asked for before", policy: deny, thing: ofRecord(false, v1beta1.BrokerTarget{}, target("b", "old-id")), says: denies},
		"ChangesBackAgain": {reason: "it has it, unless the change arrived", policy: deny, thing: ofRecord(true, target("b", "plan-id"), target("b", "old-id"))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Cases share a policy, and the client writes to what it stores.
			cache := stored(t, append(catalogtest.Cluster(), tc.policy.DeepCopy())...)
			s := &instanceResource{instances: &instances{policies: &policies.Rules{Cached: cache, Live: cache}}, instance: &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "i"}}}
			reader := catalog.NewReader(cache)
			var err error
			s.offering, _, err = reader.Decided(t.Context(), &v1beta1.DecidedReference{ClusterServicePlanRef: &v1beta1.ClusterObjectReference{Name: "plan"}}, "n")
			require.NoError(t, err)
			problem, err := s.denied(t.Context(), &tc.thing, &lifecycle.Desired{Request: lifecycle.Request{BrokerTarget: s.offering.Target}, PlanUpdatable: true})
			require.NoError(t, err)
			if tc.says == "" {
				assert.Nil(t, problem, tc.reason)
				return
			}
			require.NotNil(t, problem, tc.reason)
			assert.Equal(t, policies.ReasonDenied, problem.Reason)
			assert.False(t, problem.Waits, "its user can choose another plan")
			assert.Contains(t, problem.Message, tc.says)
		})
	}
}

// TestDeniedByCosts: what a copy costs is what its original costs now.
func TestDeniedByCosts(t *testing.T) {
	t.Parallel()
	const unknown = "what it costs in usd / MONTHLY is unknown, and the limit is 100"
	copied := func(c *v1beta1.ServiceClass, p *v1beta1.ServicePlan) {
		c.Spec.ServiceBrokerName, c.Spec.ClusterServiceBrokerName = "", "b"
		p.Spec.ServiceBrokerName, p.Spec.ClusterServiceBrokerName, p.Spec.Free = "", "b", true
		p.Status.Costs = []v1beta1.PlanCost{{Currency: "usd", Amount: "1", Unit: "MONTHLY"}}
	}
	cost := func(amount string) []client.Object {
		return catalogtest.Cluster(func(_ *v1beta1.ClusterServiceClass, p *v1beta1.ClusterServicePlan) {
			p.Status.Costs = []v1beta1.PlanCost{{Currency: "usd", Amount: amount, Unit: "MONTHLY"}}
		})
	}
	for name, tc := range map[string]struct {
		catalog []client.Object
		cluster bool
		says    string
	}{
		"Dear":         {catalog: cost("250"), cluster: true, says: "it costs 250 usd / MONTHLY, and the limit is 100"},
		"Cheap":        {catalog: cost("100"), cluster: true},
		"NoCosts":      {catalog: catalogtest.Cluster(), cluster: true, says: unknown},
		"CopyOfDear":   {catalog: append(cost("250"), catalogtest.Local(copied)...), says: "it costs 250 usd / MONTHLY, and the limit is 100"},
		"CopyOfCheap":  {catalog: append(cost("99"), catalogtest.Local(copied)...)},
		"CopyOfNone":   {catalog: catalogtest.Local(copied), says: unknown},
		"OfOwnBroker":  {catalog: append(cost("250"), catalogtest.Local()...), says: unknown},
		"CopyOfSilent": {catalog: append(catalogtest.Cluster(), catalogtest.Local(copied)...), says: unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			policy := provisioningPolicy(v1beta1.PolicyDeny, "")
			policy.Spec.Subjects[0].Costs = &v1beta1.PolicyCosts{Currency: "usd", Unit: "MONTHLY", Above: "100"}
			cache := stored(t, append(tc.catalog, policy)...)
			ref := &v1beta1.DecidedReference{ServicePlanRef: &v1beta1.LocalObjectReference{Name: "plan"}}
			if tc.cluster {
				ref = &v1beta1.DecidedReference{ClusterServicePlanRef: &v1beta1.ClusterObjectReference{Name: "plan"}}
			}
			reader := catalog.NewReader(cache)
			offering, _, err := reader.Decided(t.Context(), ref, "n")
			require.NoError(t, err)
			rules := &policies.Rules{Cached: cache, Live: cache}
			problem, err := rules.DeniesInstance(t.Context(), &policies.Instance{
				Resource: &lifecycle.Resource{}, Desired: &lifecycle.Desired{}, Target: &offering.Offer.Target, Namespace: "n",
			})
			require.NoError(t, err)
			if tc.says == "" {
				assert.Nil(t, problem)
				return
			}
			require.NotNil(t, problem)
			assert.Contains(t, problem.Message, tc.says)

			policy.Spec.Action, policy.Spec.MaxInstances = v1beta1.PolicyLimit, new(int32(1))
			require.NoError(t, cache.Update(t.Context(), policy))
			slots := &policies.Slots{Cached: cache, Live: cache}
			lacks, err := slots.Lacks(t.Context(), policies.InstanceRequest(&v1beta1.ServiceInstance{
				ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "i"}, Spec: v1beta1.ServiceInstanceSpec{DecidedReference: *ref},
			}))
			require.NoError(t, err)
			assert.NotNil(t, lacks, "as a limit, it counts too")
		})
	}
}

// underWay is an instance with an update that runs.
func underWay(thing lifecycle.Resource) lifecycle.Resource {
	thing.Record.Operation = lifecycle.Updating
	return thing
}

// ofRecord is an instance that has, and was sent, what is not zero.
func ofRecord(exists bool, has, sent v1beta1.BrokerTarget) lifecycle.Resource {
	thing := lifecycle.Resource{Kind: lifecycle.Instance, Record: lifecycle.Record{Exists: exists}}
	if has.PlanExternalID != "" {
		thing.Record.Applied = &lifecycle.Request{BrokerTarget: has}
	}
	if sent.PlanExternalID != "" {
		thing.Record.InProgress = &lifecycle.Request{BrokerTarget: sent}
	}
	return thing
}

// TestDeniedBindings: nothing is bound that a policy denies by the plan that the instance has now.
func TestDeniedBindings(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		policy client.Object
		says   string
	}{
		"Binding":      {reason: "policies of bindings", policy: bindingPolicy("small"), says: `BindingPolicy "costs" does not let namespace "n" use instance "i" (plan mysql/small)`},
		"Provisioning": {reason: "and of instances", policy: provisioningPolicy(v1beta1.PolicyDeny, "small"), says: `ProvisioningPolicy "costs" does not let namespace "n" use instance "i" (plan mysql/small): ask Ann`},
		"AnotherPlan":  {reason: "nothing is denied", policy: bindingPolicy("large")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newBindingWorld(t)
			require.NoError(t, w.cache.Create(t.Context(), tc.policy))
			b, _ := w.pass()
			if tc.says == "" {
				require.NotNil(t, b.Status.Binding, tc.reason)
				return
			}
			w.deniedPlan(b, tc.says)

			require.NoError(t, w.cache.Delete(t.Context(), tc.policy))
			b, _ = w.pass()
			require.NotNil(t, b.Status.Binding, "it goes on when no policy denies it")
			require.NoError(t, w.cache.Create(t.Context(), bindingPolicy("small").DeepCopy()))
			b, _ = w.pass()
			ready, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionReady)
			assert.Equal(t, v1beta1.ConditionTrue, ready.Status, "what is bound stays")
		})
	}
}

// TestDeniedByThePlanAtTheBroker: a binding is of the plan that the instance has, whatever plan it refers to by now.
func TestDeniedByThePlanAtTheBroker(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t)
	instance := &v1beta1.ServiceInstance{}
	require.NoError(t, w.cache.Get(t.Context(), client.ObjectKey{Namespace: "n", Name: "i"}, instance))
	instance.Status.ExternalProperties.ClusterServicePlanExternalID = "small"
	require.NoError(t, w.cache.Status().Update(t.Context(), instance))
	plan := &v1beta1.ClusterServicePlan{}
	require.NoError(t, w.cache.Get(t.Context(), client.ObjectKey{Name: "small"}, plan))
	plan.Spec.ExternalID, plan.Spec.ExternalName = "other", "harmless"
	require.NoError(t, w.cache.Update(t.Context(), plan))
	require.NoError(t, w.cache.Create(t.Context(), bindingPolicy("premium")))
	b, _ := w.pass()
	ready, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionReady)
	assert.Equal(t, v1beta1.ConditionUnknown, ready.Status)
	assert.Contains(t, ready.Message, "no plan of the catalog is the one that instance \"i\" has at its broker")

	had := &v1beta1.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: "had"}}
	had.Spec.ClusterServiceBrokerName, had.Spec.ExternalID, had.Spec.ExternalName = "broker", "small", "premium"
	had.Spec.ClusterServiceClassRef.Name = "db"
	require.NoError(t, w.cache.Create(t.Context(), had))
	b, _ = w.pass()
	w.deniedPlan(b, `BindingPolicy "costs" does not let namespace "n" use instance "i" (plan mysql/premium)`)
}

// TestAPlanThatIsGoneConcernsNoOther: a policy of other namespaces says nothing of an instance whose plan is not in the catalog.
func TestAPlanThatIsGoneConcernsNoOther(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		policy *v1beta1.ProvisioningPolicy
		bound  bool
	}{
		"DeniesElsewhere":    {provisioningPolicy(v1beta1.PolicyDeny, "premium", "m"), true},
		"DeniesHere":         {provisioningPolicy(v1beta1.PolicyDeny, "premium", "n"), false},
		"AllowsHere":         {provisioningPolicy(v1beta1.PolicyAllow, "premium", "n"), true},
		"AllowsOnlyToOthers": {provisioningPolicy(v1beta1.PolicyAllow, "premium", "m"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newBindingWorld(t)
			instance := &v1beta1.ServiceInstance{}
			require.NoError(t, w.cache.Get(t.Context(), client.ObjectKey{Namespace: "n", Name: "i"}, instance))
			instance.Status.ExternalProperties.ClusterServicePlanExternalID = "gone"
			require.NoError(t, w.cache.Status().Update(t.Context(), instance))
			require.NoError(t, w.cache.Create(t.Context(), tc.policy))
			b, _ := w.pass()
			assert.Equal(t, tc.bound, b.Status.Binding != nil)
		})
	}
}

// deniedPlan asserts that a policy keeps the binding from its broker.
func (w *bindingWorld) deniedPlan(b *v1beta1.ServiceBinding, says string) {
	w.Helper()
	ready, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionReady)
	assert.Equal(w, v1beta1.ConditionFalse, ready.Status)
	assert.Equal(w, policies.ReasonDenied, ready.Reason)
	assert.Contains(w, ready.Message, says)
	assert.Nil(w, b.Status.InProgressProperties, "no intent was stored")
	assert.Empty(w, w.broker.Calls(osbtest.Of(osbtest.Bind)))
}
