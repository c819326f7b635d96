package osb_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// An inUseEnv has an instance, mydb, of a copied plan that is the default of a type.
type inUseEnv struct {
	*brokerEnv

	plan     *api.ClusterServicePlan
	typ      string
	instance *api.ServiceInstance
}

func newInUseEnv(t *testing.T) *inUseEnv {
	t.Helper()
	s := &inUseEnv{brokerEnv: newBrokerEnv(t), plan: &api.ClusterServicePlan{}}
	s.plan.Name, s.typ = s.Name("copied"), s.Name("sql")
	s.Svcat("create", "plan", s.plan.Name, "--from", s.Name("db")+"/small", "--type", s.typ, "--default", "--bind-params", "{role: reader}")
	s.Eventually(func() (bool, error) { return !s.refused("probe"), nil })
	s.instance = s.CreateInstance("mydb", env.OfType(s.typ))
	s.Ready(s.instance)
	require.Equal(t, s.plan.Name, s.instance.Spec.ClusterServicePlanRef.Name)
	return s
}

// refused says that no plan is found for the type.
func (s *inUseEnv) refused(name string) bool {
	s.Helper()
	err := s.Client().Create(s.Context(), s.Instance(name, env.OfType(s.typ)), client.DryRunAll)
	if err != nil {
		require.True(s, apierrors.IsInvalid(err), "%v", err)
	}
	return err != nil
}

// held waits until the plan has the controller's finalizer.
func (s *inUseEnv) held() {
	s.Helper()
	s.Becomes(s.plan, func() bool { return len(s.plan.Finalizers) == 1 })
}

// serves has an edit be carried out, and a binding be made, which stays.
func (s *inUseEnv) serves(bindsWith any) {
	s.Helper()
	s.Get(s.instance)
	require.Equal(s, api.ConditionTrue, env.ConditionOf(s.instance, api.ConditionReady).Status)
	s.Change(s.instance, func() { s.instance.Spec.Parameters = env.RawJSON(`{"size":2}`) })
	s.Ready(s.instance)
	sent := s.called(osbtest.Update, 1)
	assert.Equal(s, object{"size": 2.0}, sent[0].Body["parameters"])
	assert.NotContains(s, sent[0].Body, "plan_id")
	b := s.Binding("reader", "mydb")
	s.Create(b)
	s.Ready(b)
	assert.Equal(s, bindsWith, s.called(osbtest.Bind, 1)[0].Body["parameters"])
	s.Delete(b)
	s.Gone(b)
}

// A copied plan that is deleted while an instance has it is kept for that instance, which is served as before, and taken by
// no other. It goes when the instance has gone.
func TestDeletedPlanServesItsInstances(t *testing.T) {
	t.Parallel()
	s := newInUseEnv(t)
	s.held()
	s.Delete(s.plan)
	told := s.HasCondition(s.plan, api.ConditionInUse, api.ConditionTrue, "DeletionWaits")
	assert.Contains(t, told.Message, "deletion waits for 1 instance in 1 namespace: ")
	described := s.Svcat("describe", "plan", "--kube-name", s.plan.Name, "--show-schemas=false")
	assert.Contains(t, described, "Terminating")
	assert.Contains(t, described, told.Message)
	s.Eventually(func() (bool, error) { return s.refused("another"), nil })

	s.serves(object{"role": "reader"})
	s.end(s.instance)
	s.Gone(s.plan)
}

// An instance whose plan was taken away by force is served as far as its broker needs no plan.
func TestPlanTakenByForce(t *testing.T) {
	t.Parallel()
	s := newInUseEnv(t)
	s.held()
	s.Delete(s.plan)
	s.Patch(s.plan, `{"metadata":{"finalizers":null}}`)
	s.Gone(s.plan)
	s.serves(nil)
	s.end(s.instance)
}

// A class that a namespace copied is kept with its plan. Without users it needs no controller to be deleted.
func TestDeletedClassOfANamespaceServesItsInstances(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	name := s.Name("own")
	s.Svcat("create", "class", name, "--from", s.Name("db"), "--scope", "namespace")
	class := &api.ServiceClass{ObjectMeta: s.Meta(name)}
	s.Get(class)
	ordered := func(i *api.ServiceInstance) {
		i.Spec.ServiceClassExternalName, i.Spec.ServicePlanExternalName = name, "small"
	}
	s.Eventually(func() (bool, error) {
		probe := s.Instance("mydb", ordered)
		err := s.Client().Create(s.Context(), probe, client.DryRunAll)
		return probe.Spec.ServicePlanRef != nil, err
	})
	i := s.CreateInstance("mydb", ordered)
	s.Ready(i)
	s.Becomes(class, func() bool { return len(class.Finalizers) == 1 })
	plan := &api.ServicePlan{ObjectMeta: s.Meta(i.Spec.ServicePlanRef.Name)}
	s.Becomes(plan, func() bool { return len(plan.Finalizers) == 1 })
	s.Delete(class)
	told := s.HasCondition(class, api.ConditionInUse, api.ConditionTrue, "DeletionWaits")
	assert.Equal(t, "deletion waits for 1 instance: instance mydb", told.Message)
	s.Change(i, func() { i.Spec.Parameters = env.RawJSON(`{"size":2}`) })
	s.Ready(i)
	s.called(osbtest.Update, 1)
	s.end(i)
	s.Gone(class)
	s.Becomes(plan, func() bool { return len(plan.Finalizers) == 0 })
	s.Delete(plan)
}
