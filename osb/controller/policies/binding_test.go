package policies

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/catalog"
	"github.com/defaultplan/defaultplan/osb/controller/indexes/indextest"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/quota"
)

// TestABindThatWasSentIsNotJudged also where the retired catalog left out of which class the instance is.
func TestABindThatWasSentIsNotJudged(t *testing.T) {
	t.Parallel()
	target := v1beta1.BrokerTarget{ClusterServiceBrokerName: "b", ClassExternalID: "class-id", PlanExternalID: "plan-id"}
	bindSent := func(r *lifecycle.Record, has *v1beta1.ServiceInstancePropertiesState) bool {
		instance := &v1beta1.ServiceInstance{Status: v1beta1.ServiceInstanceStatus{ExternalProperties: has}}
		return (&Binding{Record: r, Instance: instance, Offering: &catalog.Offering{Target: target}}).bindSent()
	}
	sent := &lifecycle.Record{InProgress: &lifecycle.Request{BrokerTarget: target}}
	migrated := &v1beta1.ServiceInstancePropertiesState{ClusterServicePlanExternalID: "plan-id"}
	assert.True(t, bindSent(sent, migrated))
	assert.False(t, bindSent(&lifecycle.Record{}, migrated))
	assert.False(t, bindSent(sent, &v1beta1.ServiceInstancePropertiesState{BrokerTarget: v1beta1.BrokerTarget{ClassExternalID: "other"}}))
}

// TestPlansWithAnIDAreFew: a user of a namespace decides how many plans there have an ID, and they are read for each pass.
func TestPlansWithAnIDAreFew(t *testing.T) {
	t.Parallel()
	plan := func(name, broker string) client.Object {
		p := &v1beta1.ServicePlan{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name}}
		p.Spec.ExternalID, p.Spec.ServiceBrokerName, p.Spec.ServiceClassRef.Name = "id", broker, "db"
		return p
	}
	cache := indextest.NewBuilder(t).Build()
	read := &slotCatalog{ctx: t.Context(), reader: cache, live: cache}
	sent := quota.IDs{Class: "db", Plan: "id", Namespace: "n", Broker: resolve.Ref{Namespace: "n", Name: "b"}}
	for i := range quota.FewPlans {
		require.NoError(t, cache.Create(t.Context(), plan(fmt.Sprintf("p%d", i), "b")))
		require.NoError(t, cache.Create(t.Context(), plan(fmt.Sprintf("other%d", i), "another")))
	}
	found, err := read.WithID(sent)
	require.NoError(t, err)
	assert.Len(t, found, quota.FewPlans, "those of another broker do not count")
	require.NoError(t, cache.Create(t.Context(), plan("more", "b")))
	found, err = read.WithID(sent)
	require.NoError(t, err)
	assert.Empty(t, found)
}
