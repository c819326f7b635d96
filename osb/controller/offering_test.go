package controller

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// clusterOffer is a class and a plan of a ClusterServiceBroker.
func clusterOffer(edits ...func(*v1beta1.ClusterServiceClass, *v1beta1.ClusterServicePlan)) []client.Object {
	class := &v1beta1.ClusterServiceClass{ObjectMeta: metav1.ObjectMeta{Name: "class"}}
	class.Spec.ExternalID, class.Spec.ExternalName, class.Spec.ClusterServiceBrokerName = "class-id", "mysql", "b"
	plan := &v1beta1.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: "plan"}}
	plan.Spec.ExternalID, plan.Spec.ExternalName, plan.Spec.ClusterServiceBrokerName, plan.Spec.ClusterServiceClassRef.Name = "plan-id", "small", "b", "class"
	for _, edit := range edits {
		edit(class, plan)
	}
	return []client.Object{class, plan}
}

// localOffer is a class and a plan of a ServiceBroker.
func localOffer(edits ...func(*v1beta1.ServiceClass, *v1beta1.ServicePlan)) []client.Object {
	class := &v1beta1.ServiceClass{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "class"}}
	class.Spec.ExternalID, class.Spec.ExternalName, class.Spec.ServiceBrokerName = "class-id", "mysql", "b"
	plan := &v1beta1.ServicePlan{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "plan"}}
	plan.Spec.ExternalID, plan.Spec.ExternalName, plan.Spec.ServiceBrokerName, plan.Spec.ServiceClassRef.Name = "plan-id", "small", "b", "class"
	for _, edit := range edits {
		edit(class, plan)
	}
	return []client.Object{class, plan}
}

func decided(cluster, local string) *v1beta1.DecidedReference {
	ref := &v1beta1.DecidedReference{}
	if cluster != "" {
		ref.ClusterServicePlanRef = &v1beta1.ClusterObjectReference{Name: cluster}
	}
	if local != "" {
		ref.ServicePlanRef = &v1beta1.LocalObjectReference{Name: local}
	}
	return ref
}

func TestOffering(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason  string
		objects []client.Object
		ref     *v1beta1.DecidedReference
		broker  string
		problem string
		waits   bool
	}{
		"Cluster":       {reason: "as decided", objects: clusterOffer(), ref: decided("plan", ""), broker: "ClusterServiceBroker b"},
		"Local":         {reason: "as decided", objects: localOffer(), ref: decided("", "plan"), broker: "ServiceBroker n/b"},
		"Undecided":     {reason: "admission decides", ref: decided("", ""), problem: "Undecided", waits: true},
		"NoPlan":        {reason: "it may come back", ref: decided("plan", ""), problem: "ReferencesNonexistentServicePlan", waits: true},
		"NoLocalPlan":   {reason: "it may come back", ref: decided("", "plan"), problem: "ReferencesNonexistentServicePlan", waits: true},
		"PlanElsewhere": {reason: "of that name in another scope", objects: clusterOffer(), ref: decided("", "plan"), problem: "ReferencesNonexistentServicePlan", waits: true},
		"NoClass":       {reason: "it may come back", objects: clusterOffer()[1:], ref: decided("plan", ""), problem: "ReferencesNonexistentServiceClass", waits: true},
		"NoLocalClass":  {reason: "it may come back", objects: localOffer()[1:], ref: decided("", "plan"), problem: "ReferencesNonexistentServiceClass", waits: true},
		"NoBrokerYet": {reason: "a class that a chart made", objects: clusterOffer(func(c *v1beta1.ClusterServiceClass, _ *v1beta1.ClusterServicePlan) {
			c.Spec.ClusterServiceBrokerName = ""
		}), ref: decided("plan", ""), problem: "ReferencesNonexistentBroker", waits: true},
		"PlanSaysNothing": {reason: "it goes with its class", objects: clusterOffer(func(_ *v1beta1.ClusterServiceClass, p *v1beta1.ClusterServicePlan) {
			p.Spec.ClusterServiceBrokerName = ""
		}), ref: decided("plan", ""), broker: "ClusterServiceBroker b"},
		"TwoBrokers": {reason: "none of them offers it", objects: clusterOffer(func(_ *v1beta1.ClusterServiceClass, p *v1beta1.ClusterServicePlan) {
			p.Spec.ClusterServiceBrokerName = "other"
		}), ref: decided("plan", ""), problem: "ReferencesNonexistentBroker"},
		"LocalSaysNothing": {reason: "it goes with its class, which is at the namespace's own", objects: localOffer(func(_ *v1beta1.ServiceClass, p *v1beta1.ServicePlan) {
			p.Spec.ServiceBrokerName = ""
		}), ref: decided("", "plan"), broker: "ServiceBroker n/b"},
		"LocalClassSaysNothing": {reason: "it stays so: the cluster's broker lists no classes here", objects: localOffer(func(c *v1beta1.ServiceClass, p *v1beta1.ServicePlan) {
			c.Spec.ServiceBrokerName, p.Spec.ServiceBrokerName, p.Spec.ClusterServiceBrokerName = "", "", "b"
		}), ref: decided("", "plan"), problem: "ReferencesNonexistentBroker"},
		"LocalForged": {reason: "attack: its writer was not asked for the right to use the cluster's broker", objects: localOffer(func(c *v1beta1.ServiceClass, p *v1beta1.ServicePlan) {
			c.Spec.ServiceBrokerName, p.Spec.ServiceBrokerName, c.Spec.ClusterServiceBrokerName = "", "", "b"
		}), ref: decided("", "plan"), problem: "ReferencesNonexistentBroker"},
		"LocalOfAnother": {reason: "attack: it names a broker of the attacker's own", objects: localOffer(func(c *v1beta1.ServiceClass, _ *v1beta1.ServicePlan) {
			c.Spec.ServiceBrokerName, c.Spec.ClusterServiceBrokerName = "", "b"
		}), ref: decided("", "plan"), problem: "ReferencesNonexistentBroker"},
		"LocalOfCluster": {reason: "a user's own plan of a cluster's broker", objects: localOffer(func(c *v1beta1.ServiceClass, p *v1beta1.ServicePlan) {
			c.Spec.ServiceBrokerName, p.Spec.ServiceBrokerName, c.Spec.ClusterServiceBrokerName, p.Spec.ClusterServiceBrokerName = "", "", "b", "b"
		}), ref: decided("", "plan"), broker: "ClusterServiceBroker b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reader := catalogReader{stored(t, test.objects...)}
			got, problem, err := reader.offering(t.Context(), test.ref, "n")
			require.NoError(t, err)
			if test.problem != "" {
				require.NotNil(t, problem, test.reason)
				assert.Equal(t, test.problem, problem.Reason)
				assert.Equal(t, test.waits, problem.Waits)
				assert.Equal(t, test.problem == "Undecided", problem.Undecided)
				return
			}
			require.Nil(t, problem)
			assert.Equal(t, test.broker, keyOf(&got.target, "n").String(), test.reason)
			assert.Equal(t, "class-id", got.target.ClassExternalID)
			assert.Equal(t, "plan-id", got.target.PlanExternalID)
			assert.Equal(t, "small", got.planName)
			assert.False(t, got.removed)
		})
	}
}

func TestOfferingThatCannotBeRead(t *testing.T) {
	t.Parallel()
	c := interceptor.NewClient(stored(t), interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
		return errors.New("away")
	}})
	_, problem, err := (&catalogReader{c}).offering(t.Context(), decided("plan", ""), "n")
	assert.Nil(t, problem)
	assert.EqualError(t, err, `cannot read ClusterServicePlan "plan": away`)
}

func TestOfferingSays(t *testing.T) {
	t.Parallel()
	class, plan := &v1beta1.CommonServiceClassSpec{}, &v1beta1.CommonServicePlanSpec{}
	o := &offering{class: class, plan: plan}
	assert.False(t, o.planUpdatable())
	assert.False(t, o.bindable())
	assert.Empty(t, o.maintenanceVersion())
	assert.Zero(t, o.maxPolling())
	assert.Empty(t, o.serviceType())

	class.PlanUpdatable, class.Bindable, class.ServiceType = true, true, "mysql"
	assert.True(t, o.planUpdatable(), "the class's word")
	assert.True(t, o.bindable())
	assert.Equal(t, "mysql", o.serviceType())

	plan.PlanUpdatable, plan.Bindable, plan.ServiceType = new(false), new(false), "mariadb"
	plan.MaximumPollingDuration, plan.MaintenanceInfo = new(int64(90)), &v1beta1.MaintenanceInfo{Version: "1.2.3"}
	assert.False(t, o.planUpdatable(), "the plan's word counts more")
	assert.False(t, o.bindable())
	assert.Equal(t, "mariadb", o.serviceType())
	assert.Equal(t, 90*time.Second, o.maxPolling())
	assert.Equal(t, "1.2.3", o.maintenanceVersion())
}

func TestRemovedOfferings(t *testing.T) {
	t.Parallel()
	for name, objects := range map[string][]client.Object{
		"Plan": clusterOffer(func(_ *v1beta1.ClusterServiceClass, p *v1beta1.ClusterServicePlan) {
			p.Status.RemovedFromBrokerCatalog = true
		}),
		"Class": clusterOffer(func(c *v1beta1.ClusterServiceClass, _ *v1beta1.ClusterServicePlan) {
			c.Status.RemovedFromBrokerCatalog = true
		}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, problem, err := (&catalogReader{stored(t, objects...)}).offering(t.Context(), decided("plan", ""), "n")
			require.NoError(t, err)
			require.Nil(t, problem, "whoever has it keeps it")
			assert.True(t, got.removed)
		})
	}
}
