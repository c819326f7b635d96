package osb_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
)

// What an operator chose with kubectl or Helm stays, however often the catalog changes.
func TestRelistKeepsTheOperatorsChoice(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t, func(s *setting) {
		s.service["tags"] = []string{"ServiceType=" + text(s.service["name"])}
		s.large = tagged(s.large, "SuggestedPlan=true", "Weight=10")
	})
	small, large := s.plan(s.setting.small["id"]), s.plan(s.setting.large["id"])
	s.Kubectl("", "annotate", "clusterserviceplan", small.Name, api.AnnotationDefaultPlan+"=true")
	s.Kubectl(fmt.Sprintf(`{"apiVersion": "servicecatalog.k8s.io/v1beta1", "kind": "ClusterServicePlan", "metadata": {"name": %q},
		"spec": {"weight": 77, "defaultProvisionParameters": {"zone": "b"}}}`, large.Name),
		"apply", "--server-side", "--field-manager=helm", "--force-conflicts", "-f", "-")
	for round := range 10 {
		s.setting.service["description"] = fmt.Sprintf("databases, %d", round)
		s.setting.large["description"] = fmt.Sprintf("a large one, %d", round)
		s.setting.large["metadata"] = object{
			"tags": []string{"SuggestedPlan=true", fmt.Sprintf("Weight=%d", round)}, "defaultProvisionParameters": object{"zone": round},
		}
		s.relist()
	}
	s.Get(small)
	s.Get(large)
	assert.Equal(t, "true", small.Annotations[api.AnnotationDefaultPlan])
	assert.Equal(t, "true", large.Annotations[api.AnnotationSuggestedPlan], "what has no other owner is suggested")
	assert.Equal(t, "a large one, 9", large.Spec.Description, "what the catalog says of itself is taken")
	assert.EqualValues(t, 77, large.Spec.Weight)
	assert.JSONEq(t, `{"zone": "b"}`, string(large.Spec.DefaultProvisionParameters.Raw))
	i := s.Instance("by-type", env.OfPlan("", ""))
	i.Spec.ServiceType = text(s.setting.service["name"])
	s.Create(i)
	s.Ready(i)
	assert.Equal(t, small.Name, i.Spec.ClusterServicePlanRef.Name, "the default counts, not the suggestion")
	s.end(i)
}

// A suggestion appears where there is nothing yet, and goes when the broker takes it back.
func TestRelistSuggestsAndReleases(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	plan := s.plan(s.setting.small["id"])
	assert.Empty(t, plan.Spec.ServiceType)
	bare := s.setting.small
	s.setting.small = tagged(bare, "ServiceType="+s.Name("suggested"), "SuggestedPlan=true", "Weight=20", "Cores=4")
	s.setting.small["metadata"].(object)["defaultProvisionParameters"] = object{"size": 3}
	s.relist()
	s.Get(plan)
	assert.Equal(t, s.Name("suggested"), plan.Spec.ServiceType)
	assert.EqualValues(t, 20, plan.Spec.Weight)
	assert.Equal(t, "true", plan.Annotations[api.AnnotationSuggestedPlan])
	assert.Equal(t, "4", plan.Labels[api.LabelAttributePrefix+"Cores"])
	require.NotNil(t, plan.Spec.DefaultProvisionParameters)
	assert.JSONEq(t, `{"size": 3}`, string(plan.Spec.DefaultProvisionParameters.Raw))
	i := s.Instance("by-type", env.OfPlan("", ""))
	i.Spec.ServiceType = s.Name("suggested")
	s.Create(i)
	s.Ready(i)
	assert.Equal(t, map[string]any{"size": 3.0}, s.only().Parameters)
	s.end(i)

	s.setting.small = bare
	s.relist()
	s.Get(plan)
	assert.Empty(t, plan.Spec.ServiceType)
	assert.Zero(t, plan.Spec.Weight)
	assert.Nil(t, plan.Spec.DefaultProvisionParameters)
	assert.NotContains(t, plan.Annotations, api.AnnotationSuggestedPlan)
	assert.NotContains(t, plan.Labels, api.LabelAttributePrefix+"Cores")
}

// Classes and plans that people made, in both scopes, are none of the relist's business.
func TestRelistLeavesUserDefinedOffers(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	class := &api.ClusterServiceClass{}
	class.Name, class.Spec.ExternalName, class.Spec.ExternalID = s.Name("mine"), s.Name("mine"), text(s.setting.service["id"])
	class.Spec.ClusterServiceBrokerName, class.Spec.Description, class.Spec.Bindable = s.registered.Name, "mine", true
	plan := &api.ClusterServicePlan{}
	plan.Name, plan.Spec.ExternalName, plan.Spec.ExternalID = s.Name("mine-small"), "mine-small", text(s.setting.small["id"])
	plan.Spec.ClusterServiceBrokerName, plan.Spec.Description = s.registered.Name, "mine"
	plan.Spec.ClusterServiceClassRef.Name = class.Name
	local := &api.ServiceClass{}
	local.Namespace, local.Name, local.Spec.ExternalName = s.Namespace, "local", "local"
	local.Spec.ExternalID, local.Spec.Description, local.Spec.ClusterServiceBrokerName = class.Spec.ExternalID, "mine", s.registered.Name
	localPlan := &api.ServicePlan{}
	localPlan.Namespace, localPlan.Name, localPlan.Spec.ExternalName = s.Namespace, "local-small", "local-small"
	localPlan.Spec.ExternalID, localPlan.Spec.Description, localPlan.Spec.ClusterServiceBrokerName = plan.Spec.ExternalID, "mine", s.registered.Name
	localPlan.Spec.ServiceClassRef.Name = local.Name
	mine := []client.Object{class, plan, local, localPlan}
	s.Create(mine...)
	var before []string
	for _, o := range mine {
		s.Get(o)
		before = append(before, o.GetResourceVersion())
	}
	for round := range 3 {
		s.setting.service["description"] = fmt.Sprintf("databases, %d", round)
		s.relist()
	}
	for n, o := range mine {
		s.Get(o)
		assert.Equal(t, before[n], o.GetResourceVersion(), "%T %s", o, o.GetName())
	}
	i := s.Instance("mydb", env.OfPlan(class.Spec.ExternalName, "mine-small"))
	s.Create(i)
	s.Ready(i)
	assert.Equal(t, plan.Name, i.Spec.ClusterServicePlanRef.Name)
	s.end(i)
	s.Delete(plan)
	s.Delete(class)
}

// A plan whose type the catalog moves to one that has another default stays as it is, and
// that is told; all else is taken.
func TestRelistDoesNotMoveATypeOverADefault(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t, func(s *setting) {
		s.small, s.large = tagged(s.small, "ServiceType="+text(s.small["id"])), tagged(s.large, "ServiceType="+text(s.large["id"]))
	})
	small, large := s.plan(s.setting.small["id"]), s.plan(s.setting.large["id"])
	for _, plan := range []*api.ClusterServicePlan{small, large} {
		s.Kubectl("", "annotate", "clusterserviceplan", plan.Name, api.AnnotationDefaultPlan+"=true")
		record := &api.ClusterServiceType{}
		record.Name = plan.Spec.ServiceType
		s.Eventually(func() (bool, error) {
			err := s.Client().Get(s.Context(), client.ObjectKeyFromObject(record), record)
			return err == nil && record.Spec.DefaultPlanRef != nil, err
		})
	}
	s.setting.small["metadata"] = object{"tags": []string{"ServiceType=" + large.Spec.ServiceType}}
	s.setting.small["description"] = "moved"
	s.setting.large["description"] = "not moved"
	s.takesPartly()
	s.Get(small)
	s.Get(large)
	assert.Equal(t, s.setting.small["id"], small.Spec.ServiceType, "the type stays")
	assert.Equal(t, "moved", small.Spec.Description)
	assert.Equal(t, "not moved", large.Spec.Description)
	told, _ := api.FindCondition(s.registered.Status.Conditions, api.ConditionCatalogComplete)
	assert.Contains(t, told.Message, `"small"`)
}

// takesPartly relists what the setting says, which cannot all be taken.
func (s *brokerEnv) takesPartly() {
	s.Helper()
	require.NoError(s, s.broker.SetCatalog(s.catalog()))
	s.Change(s.registered, func() { s.registered.Spec.RelistRequests++ })
	s.HasCondition(s.registered, api.ConditionCatalogComplete, api.ConditionFalse, "PartsSkipped")
}
