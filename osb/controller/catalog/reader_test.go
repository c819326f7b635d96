package catalog

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
	"github.com/defaultplan/defaultplan/osb/controller/broker"
	"github.com/defaultplan/defaultplan/osb/controller/catalog/catalogtest"
	"github.com/defaultplan/defaultplan/osb/controller/indexes/indextest"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

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
		"Cluster":       {reason: "as decided", objects: catalogtest.Cluster(), ref: decided("plan", ""), broker: "ClusterServiceBroker b"},
		"Local":         {reason: "as decided", objects: catalogtest.Local(), ref: decided("", "plan"), broker: "ServiceBroker n/b"},
		"Undecided":     {reason: "admission decides", ref: decided("", ""), problem: "Undecided", waits: true},
		"NoPlan":        {reason: "it may come back", ref: decided("plan", ""), problem: "ReferencesNonexistentServicePlan", waits: true},
		"NoLocalPlan":   {reason: "it may come back", ref: decided("", "plan"), problem: "ReferencesNonexistentServicePlan", waits: true},
		"PlanElsewhere": {reason: "of that name in another scope", objects: catalogtest.Cluster(), ref: decided("", "plan"), problem: "ReferencesNonexistentServicePlan", waits: true},
		"NoClass":       {reason: "it may come back", objects: catalogtest.Cluster()[1:], ref: decided("plan", ""), problem: "ReferencesNonexistentServiceClass", waits: true},
		"NoLocalClass":  {reason: "it may come back", objects: catalogtest.Local()[1:], ref: decided("", "plan"), problem: "ReferencesNonexistentServiceClass", waits: true},
		"NoBrokerYet": {reason: "a class that a chart made", objects: catalogtest.Cluster(func(c *v1beta1.ClusterServiceClass, _ *v1beta1.ClusterServicePlan) {
			c.Spec.ClusterServiceBrokerName = ""
		}), ref: decided("plan", ""), problem: "ReferencesNonexistentBroker", waits: true},
		"PlanSaysNothing": {reason: "it goes with its class", objects: catalogtest.Cluster(func(_ *v1beta1.ClusterServiceClass, p *v1beta1.ClusterServicePlan) {
			p.Spec.ClusterServiceBrokerName = ""
		}), ref: decided("plan", ""), broker: "ClusterServiceBroker b"},
		"TwoBrokers": {reason: "none of them offers it", objects: catalogtest.Cluster(func(_ *v1beta1.ClusterServiceClass, p *v1beta1.ClusterServicePlan) {
			p.Spec.ClusterServiceBrokerName = "other"
		}), ref: decided("plan", ""), problem: "ReferencesNonexistentBroker"},
		"LocalSaysNothing": {reason: "it goes with its class, which is at the namespace's own", objects: catalogtest.Local(func(_ *v1beta1.ServiceClass, p *v1beta1.ServicePlan) {
			p.Spec.ServiceBrokerName = ""
		}), ref: decided("", "plan"), broker: "ServiceBroker n/b"},
		"LocalClassSaysNothing": {reason: "it stays so: the cluster's broker lists no classes here", objects: catalogtest.Local(func(c *v1beta1.ServiceClass, p *v1beta1.ServicePlan) {
			c.Spec.ServiceBrokerName, p.Spec.ServiceBrokerName, p.Spec.ClusterServiceBrokerName = "", "", "b"
		}), ref: decided("", "plan"), problem: "ReferencesNonexistentBroker"},
		"LocalForged": {reason: "attack: its writer was not asked for the right to use the cluster's broker", objects: catalogtest.Local(func(c *v1beta1.ServiceClass, p *v1beta1.ServicePlan) {
			c.Spec.ServiceBrokerName, p.Spec.ServiceBrokerName, c.Spec.ClusterServiceBrokerName = "", "", "b"
		}), ref: decided("", "plan"), problem: "ReferencesNonexistentBroker"},
		"LocalOfAnother": {reason: "attack: it names a broker of the attacker's own", objects: catalogtest.Local(func(c *v1beta1.ServiceClass, _ *v1beta1.ServicePlan) {
			c.Spec.ServiceBrokerName, c.Spec.ClusterServiceBrokerName = "", "b"
		}), ref: decided("", "plan"), problem: "ReferencesNonexistentBroker"},
		"LocalOfCluster": {reason: "a user's own plan of a cluster's broker", objects: catalogtest.Local(func(c *v1beta1.ServiceClass, p *v1beta1.ServicePlan) {
			c.Spec.ServiceBrokerName, p.Spec.ServiceBrokerName, c.Spec.ClusterServiceBrokerName, p.Spec.ClusterServiceBrokerName = "", "", "b", "b"
		}), ref: decided("", "plan"), broker: "ClusterServiceBroker b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reader := NewReader(indextest.NewBuilder(t, test.objects...).Build())
			got, problem, err := reader.Decided(t.Context(), test.ref, "n")
			require.NoError(t, err)
			if test.problem != "" {
				require.NotNil(t, problem, test.reason)
				assert.Equal(t, test.problem, problem.Reason)
				assert.Equal(t, test.waits, problem.Waits)
				assert.Equal(t, test.problem == "Undecided", problem.Undecided)
				return
			}
			require.Nil(t, problem)
			assert.Equal(t, test.broker, broker.KeyOf(&got.Target, "n").String(), test.reason)
			assert.Equal(t, "class-id", got.Target.ClassExternalID)
			assert.Equal(t, "plan-id", got.Target.PlanExternalID)
			assert.Equal(t, "small", got.PlanName)
			assert.False(t, got.Removed)
		})
	}
}

func TestOfferingThatCannotBeRead(t *testing.T) {
	t.Parallel()
	c := interceptor.NewClient(indextest.NewBuilder(t).Build(), interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
		return errors.New("away")
	}})
	reader := NewReader(c)
	_, problem, err := reader.Decided(t.Context(), decided("plan", ""), "n")
	assert.Nil(t, problem)
	assert.EqualError(t, err, `cannot read ClusterServicePlan "plan": away`)
}

func names(o *Offering) [2]string {
	class, plan := o.Names()
	return [2]string{class, plan}
}

func TestOfferingSays(t *testing.T) {
	t.Parallel()
	class, plan := &v1beta1.CommonServiceClassSpec{}, &v1beta1.CommonServicePlanSpec{}
	o := &Offering{Class: class, Plan: plan}
	assert.False(t, o.PlanUpdatable())
	assert.False(t, o.Bindable())
	assert.Empty(t, o.MaintenanceVersion())
	assert.Zero(t, o.MaxPolling())
	assert.Empty(t, o.ServiceType())
	o.Offer.Class.Kubernetes, o.PlanRefName = "class-id", "plan-id"
	assert.Equal(t, [2]string{"class-id", "plan-id"}, names(o), "those of the objects")
	assert.Empty(t, names(nil))

	class.PlanUpdatable, class.Bindable, class.ServiceType = true, true, "mysql"
	assert.True(t, o.PlanUpdatable(), "the class's word")
	assert.True(t, o.Bindable())
	assert.Equal(t, "mysql", o.ServiceType())

	class.ExternalName, o.PlanName = "azure-mysql", "basic"
	assert.Equal(t, [2]string{"azure-mysql", "basic"}, names(o), "in words")

	plan.PlanUpdatable, plan.Bindable, plan.ServiceType = new(false), new(false), "mariadb"
	plan.MaximumPollingDuration, plan.MaintenanceInfo = new(int64(90)), &v1beta1.MaintenanceInfo{Version: "1.2.3"}
	assert.False(t, o.PlanUpdatable(), "the plan's word counts more")
	assert.False(t, o.Bindable())
	assert.Equal(t, "mariadb", o.ServiceType())
	assert.Equal(t, 90*time.Second, o.MaxPolling())
	assert.Equal(t, "1.2.3", o.MaintenanceVersion())
}

// The plan that an instance has says whether it may be left, whatever is asked for.
func TestUpdatable(t *testing.T) {
	t.Parallel()
	has := func(id string) *lifecycle.Request {
		return &lifecycle.Request{BrokerTarget: v1beta1.BrokerTarget{PlanExternalID: id}}
	}
	for name, tc := range map[string]struct {
		reason             string
		class              bool
		asked, left, other *bool
		has                *lifecycle.Request
		want               bool
	}{
		"NothingYet":  {reason: "the plan that is asked for", asked: new(true), left: new(false), want: true},
		"Unrecorded":  {reason: "the plan that is asked for", asked: new(true), left: new(false), has: has(""), want: true},
		"Same":        {reason: "it is the one that is asked for", asked: new(true), left: new(false), has: has("plan-id"), want: true},
		"Allows":      {reason: "the plan that it has", asked: new(false), left: new(true), has: has("left-id"), want: true},
		"Forbids":     {reason: "the plan that it has", class: true, asked: new(true), left: new(false), has: has("left-id")},
		"Silent":      {reason: "its class", class: true, asked: new(false), has: has("left-id"), want: true},
		"SilentClass": {reason: "its class", asked: new(true), has: has("left-id")},
		"Gone":        {reason: "its class", class: true, asked: new(false), left: new(false), has: has("gone-id"), want: true},
		"Elsewhere":   {reason: "a plan of another class that has the ID is none of it", asked: new(true), other: new(true), has: has("other-id")},
	} {
		for scope, world := range map[string]func() ([]client.Object, *v1beta1.DecidedReference){
			"Cluster": func() ([]client.Object, *v1beta1.DecidedReference) {
				plan := func(name string, updatable *bool) *v1beta1.ClusterServicePlan {
					return catalogtest.Cluster(func(_ *v1beta1.ClusterServiceClass, p *v1beta1.ClusterServicePlan) {
						p.Name, p.Spec.ExternalID, p.Spec.PlanUpdatable = name, name+"-id", updatable
					})[1].(*v1beta1.ClusterServicePlan)
				}
				other := plan("other", tc.other)
				other.Spec.ClusterServiceClassRef.Name = "another"
				class := catalogtest.Cluster(func(c *v1beta1.ClusterServiceClass, _ *v1beta1.ClusterServicePlan) { c.Spec.PlanUpdatable = tc.class })[0]
				return []client.Object{class, plan("plan", tc.asked), plan("left", tc.left), other}, decided("plan", "")
			},
			"Local": func() ([]client.Object, *v1beta1.DecidedReference) {
				plan := func(name string, updatable *bool) *v1beta1.ServicePlan {
					return catalogtest.Local(func(_ *v1beta1.ServiceClass, p *v1beta1.ServicePlan) {
						p.Name, p.Spec.ExternalID, p.Spec.PlanUpdatable = name, name+"-id", updatable
					})[1].(*v1beta1.ServicePlan)
				}
				other := plan("other", tc.other)
				other.Spec.ServiceClassRef.Name = "another"
				class := catalogtest.Local(func(c *v1beta1.ServiceClass, _ *v1beta1.ServicePlan) { c.Spec.PlanUpdatable = tc.class })[0]
				return []client.Object{class, plan("plan", tc.asked), plan("left", tc.left), other}, decided("", "plan")
			},
		} {
			t.Run(name+"/"+scope, func(t *testing.T) {
				t.Parallel()
				objects, ref := world()
				reader := NewReader(indextest.NewBuilder(t, objects...).Build())
				o, problem, err := reader.Decided(t.Context(), ref, "n")
				require.NoError(t, err)
				require.Nil(t, problem)
				got, err := reader.PlanUpdatable(t.Context(), o, "n", tc.has)
				require.NoError(t, err)
				assert.Equal(t, tc.want, got, tc.reason)
			})
		}
	}
}

// Admission empties a reference to what was decided before in the other scope.
func TestEmptyReferenceIsNone(t *testing.T) {
	t.Parallel()
	i := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "i"}}
	i.Spec.DecidedReference = *decided("", "plan")
	i.Spec.ServiceClassRef = &v1beta1.LocalObjectReference{Name: "class"}
	i.Spec.ClusterServicePlanRef, i.Spec.ClusterServiceClassRef = &v1beta1.ClusterObjectReference{}, &v1beta1.ClusterObjectReference{}
	i.Status.ProvisionStatus = v1beta1.Provisioned
	i.Status.ExternalProperties = &v1beta1.ServiceInstancePropertiesState{
		PlanRefName: "plan", BrokerTarget: v1beta1.BrokerTarget{ServiceBrokerName: "b", ClassExternalID: "class-id", PlanExternalID: "plan-id"},
	}
	reader := NewReader(indextest.NewBuilder(t).Build())
	got, problem, err := reader.OfInstance(t.Context(), i)
	require.NoError(t, err)
	require.Nil(t, problem, "it is rebuilt from the record")
	assert.True(t, got.Lost)
	assert.False(t, got.Cluster)
}

func TestRemovedOfferings(t *testing.T) {
	t.Parallel()
	for name, objects := range map[string][]client.Object{
		"Plan": catalogtest.Cluster(func(_ *v1beta1.ClusterServiceClass, p *v1beta1.ClusterServicePlan) {
			p.Status.RemovedFromBrokerCatalog = true
		}),
		"Class": catalogtest.Cluster(func(c *v1beta1.ClusterServiceClass, _ *v1beta1.ClusterServicePlan) {
			c.Status.RemovedFromBrokerCatalog = true
		}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reader := NewReader(indextest.NewBuilder(t, objects...).Build())
			got, problem, err := reader.Decided(t.Context(), decided("plan", ""), "n")
			require.NoError(t, err)
			require.Nil(t, problem, "an instance that has it keeps it")
			assert.True(t, got.Removed)
			assert.Equal(t, name == "Class", got.ClassRemoved)
		})
	}
}
