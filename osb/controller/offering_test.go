package controller

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/broker"
	"github.com/defaultplan/defaultplan/osb/controller/indexes"
	"github.com/defaultplan/defaultplan/osb/controller/indexes/indextest"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
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
			assert.Equal(t, test.broker, broker.KeyOf(&got.target, "n").String(), test.reason)
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
					return clusterOffer(func(_ *v1beta1.ClusterServiceClass, p *v1beta1.ClusterServicePlan) {
						p.Name, p.Spec.ExternalID, p.Spec.PlanUpdatable = name, name+"-id", updatable
					})[1].(*v1beta1.ClusterServicePlan)
				}
				other := plan("other", tc.other)
				other.Spec.ClusterServiceClassRef.Name = "another"
				class := clusterOffer(func(c *v1beta1.ClusterServiceClass, _ *v1beta1.ClusterServicePlan) { c.Spec.PlanUpdatable = tc.class })[0]
				return []client.Object{class, plan("plan", tc.asked), plan("left", tc.left), other}, decided("plan", "")
			},
			"Local": func() ([]client.Object, *v1beta1.DecidedReference) {
				plan := func(name string, updatable *bool) *v1beta1.ServicePlan {
					return localOffer(func(_ *v1beta1.ServiceClass, p *v1beta1.ServicePlan) {
						p.Name, p.Spec.ExternalID, p.Spec.PlanUpdatable = name, name+"-id", updatable
					})[1].(*v1beta1.ServicePlan)
				}
				other := plan("other", tc.other)
				other.Spec.ServiceClassRef.Name = "another"
				class := localOffer(func(c *v1beta1.ServiceClass, _ *v1beta1.ServicePlan) { c.Spec.PlanUpdatable = tc.class })[0]
				return []client.Object{class, plan("plan", tc.asked), plan("left", tc.left), other}, decided("", "plan")
			},
		} {
			t.Run(name+"/"+scope, func(t *testing.T) {
				t.Parallel()
				objects, ref := world()
				reader := catalogReader{indexed(t, objects...)}
				o, problem, err := reader.offering(t.Context(), ref, "n")
				require.NoError(t, err)
				require.Nil(t, problem)
				got, err := reader.updatable(t.Context(), o, "n", tc.has)
				require.NoError(t, err)
				assert.Equal(t, tc.want, got, tc.reason)
			})
		}
	}
}

// A plan that changed brings a pass over the instances that may not leave it, too: they ask for another.
func TestPlanWakesThoseItHolds(t *testing.T) {
	t.Parallel()
	instance := func(name, class, plan string, reason string) *v1beta1.ServiceInstance {
		i := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name}}
		i.Spec.ClusterServiceClassRef, i.Spec.ClusterServicePlanRef = &v1beta1.ClusterObjectReference{Name: class}, &v1beta1.ClusterObjectReference{Name: plan}
		i.Status.Conditions = []v1beta1.Condition{{Type: v1beta1.ConditionReady, Status: v1beta1.ConditionFalse, Reason: reason}}
		return i
	}
	reader := indexed(t,
		instance("held", "class", "large", lifecycle.ReasonPlanNotUpdatable), instance("other", "another", "large", lifecycle.ReasonPlanNotUpdatable),
		instance("asks", "class", "plan", "Provisioning"), instance("waits", "class", "large", "Provisioning"))
	queue := &enqueued{}
	byPlan(reader).Create(t.Context(), event.CreateEvent{Object: clusterOffer()[1]}, queue)
	assert.ElementsMatch(t, []string{"held", "asks"}, queue.names)
}

// An enqueued notes what is added to a queue.
type enqueued struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]

	names []string
	// after is when the last one is due.
	after time.Duration
}

func (q *enqueued) Add(request reconcile.Request) { q.names = append(q.names, request.Name) }

func (q *enqueued) AddAfter(request reconcile.Request, after time.Duration) {
	q.names, q.after = append(q.names, request.Name), after
}

// indexed is a cache with the indexes of brokers.
func indexed(t *testing.T, objects ...client.Object) client.WithWatch {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, v1beta1.AddToScheme(scheme))
	builder := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...)
	require.NoError(t, indexes.Add(t.Context(), indextest.Fake{Builder: builder}))
	return builder.Build()
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
			require.Nil(t, problem, "an instance that has it keeps it")
			assert.True(t, got.removed)
		})
	}
}
