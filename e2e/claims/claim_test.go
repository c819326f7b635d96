package claims_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// ofType asks by type instead of class.
func ofType(s *shop) func(*api.ServiceBinding) {
	return func(b *api.ServiceBinding) {
		b.Spec.ClusterServiceClassExternalName, b.Spec.ServiceType = "", s.Name("db")
	}
}

// sized asks for a larger instance, and for another role.
func sized(b *api.ServiceBinding) {
	b.Spec.ProvisionParameters, b.Spec.Parameters = env.RawJSON(`{"size": 5}`), env.RawJSON(`{"role": "owner"}`)
}

// slowly has the broker take its time for everything.
func slowly(s *shop) {
	for _, verb := range []osbtest.Verb{osbtest.Provision, osbtest.Bind, osbtest.Unbind, osbtest.Deprovision} {
		s.broker.Async(verb, 1)
	}
}

// TestOneObjectInOneSecretOut: who asks for a database by its class, and no more, gets
// credentials; who deletes the one object has nothing left.
func TestOneObjectInOneSecretOut(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason    string
		fetchable bool
		prepare   func(s *shop)
		edits     []func(*api.ServiceBinding)
		size      float64
		role      string
	}{
		"AtOnce":        {reason: "with the defaults of the plan", fetchable: true, prepare: func(*shop) {}, size: 1, role: "reader"},
		"Slowly":        {reason: "every step takes a while", fetchable: true, prepare: slowly, size: 1, role: "reader"},
		"SlowlyAndShut": {reason: "and credentials cannot be fetched", prepare: slowly, size: 1, role: "reader"},
		"Parameters":    {reason: "the user's own go over defaults, each to its own call", fetchable: true, prepare: func(*shop) {}, edits: []func(*api.ServiceBinding){sized}, size: 5, role: "owner"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShopOn(env.New(t), test.fetchable)
			test.prepare(s)
			b := s.claimed(test.edits...)
			made, bound := s.only()
			assert.InDelta(t, test.size, made.Parameters["size"], 0, test.reason)
			assert.Equal(t, test.role, bound.Parameters["role"], test.reason)
			require.NotNil(t, b.Status.InstanceRef)
			own := s.own(b)
			s.Get(own)
			assert.Equal(t, own.Name, b.Status.InstanceRef.Name)
			assert.True(t, metav1.IsControlledBy(own, b))
			assert.Equal(t, made.ID, own.Status.ExternalID)
			assert.Equal(t, b.Spec.UserInfo.Username, own.Spec.UserInfo.Username, "it is in the name of the binding's user")
			secret := s.Secret(b.Status.Binding.Name)
			s.Get(secret)
			assert.Equal(t, bound.Credentials["password"], string(secret.Data["password"]))
			assert.True(t, metav1.IsControlledBy(secret, b))
			s.HasEvent(b, "InstanceCreated")
			s.ends(b)
		})
	}
}

// TestStatusTellsEachStep: provisioning, provisioned, bound, unbound; and of the last
// that the instance goes.
func TestStatusTellsEachStep(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for _, verb := range []osbtest.Verb{osbtest.Provision, osbtest.Bind, osbtest.Unbind, osbtest.Deprovision} {
		s.broker.Async(verb, -1)
	}
	b := s.claim()
	s.Create(b)
	told := s.HasCondition(b, api.ConditionReady, api.ConditionUnknown, "Provisioning")
	assert.Contains(t, told.Message, s.own(b).Name)
	s.goesOn()
	s.HasCondition(b, api.ConditionReady, api.ConditionUnknown, "Binding")
	s.goesOn()
	s.HasCondition(b, api.ConditionReady, api.ConditionTrue, "InjectedBindResult")
	s.Delete(b)
	s.HasCondition(b, api.ConditionReady, api.ConditionUnknown, "Unbinding")
	assert.Empty(t, s.broker.Calls(osbtest.Of(osbtest.Deprovision)), "the bindings go first")
	s.goesOn()
	told = s.HasCondition(b, api.ConditionReady, api.ConditionUnknown, "Deprovisioning")
	assert.Contains(t, told.Message, "has left its broker")
	assert.Equal(t, api.UnbindSucceeded, b.Status.UnbindStatus)
	s.goesOn()
	s.nothingIsLeft(b)
}

// goesOn waits until the broker works on something, and has it end.
func (s *shop) goesOn() {
	s.Helper()
	s.Eventually(func() (bool, error) {
		return slices.ContainsFunc(s.broker.Running(), s.broker.Finish), nil
	})
}

// TestManyClaimsAtOnce: each gets its own, and none another's.
func TestManyClaimsAtOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	const many = 12
	claims := make([]*api.ServiceBinding, many)
	for i := range claims {
		claims[i] = s.claim(func(b *api.ServiceBinding) { b.Name, b.GenerateName = "", "many-" })
		s.Create(claims[i])
	}
	ids := map[string]bool{}
	for _, b := range claims {
		s.Ready(b)
		own := s.own(b)
		s.Get(own)
		ids[own.Status.ExternalID] = true
		assert.Equal(t, own.Status.ExternalID, s.broker.Bindings()[b.Status.ExternalID].InstanceID)
	}
	assert.Len(t, ids, many)
	assert.Len(t, s.broker.Instances(), many)
	for _, b := range claims {
		s.Delete(b)
	}
	for _, b := range claims {
		s.Gone(b)
	}
	assert.Empty(t, s.broker.Instances())
	s.broker.AssertDuties(t)
}

// TestClaimByType: the rule that decided is told at the binding and at its instance.
func TestClaimByType(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	plans := &api.ClusterServicePlanList{}
	require.NoError(t, s.Client().List(t.Context(), plans))
	for i := range plans.Items {
		plan := &plans.Items[i]
		if plan.Spec.ClusterServiceBrokerName != s.registered.Name {
			continue
		}
		s.Change(plan, func() {
			if plan.Annotations == nil {
				plan.Annotations = map[string]string{}
			}
			plan.Annotations[api.AnnotationDefaultPlan] = "true"
		})
	}
	b := s.claimed(ofType(s))
	assert.Equal(t, s.Name("db"), b.Spec.ServiceType)
	resolved := s.HasCondition(b, api.ConditionResolved, api.ConditionTrue, "")
	own := s.own(b)
	s.Get(own)
	its, _ := api.FindCondition(own.Status.Conditions, api.ConditionResolved)
	assert.Equal(t, resolved.Reason, its.Reason, "it was decided once, by one rule")
	s.ends(b)
}
