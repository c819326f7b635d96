package controller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// offered are brokers of two controllers, with a class and a plan each.
func offered() []client.Object {
	var all []client.Object
	for broker, controllerName := range map[string]string{"ours": "", "theirs": "east"} {
		b := &v1beta1.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: broker}}
		b.Spec.ControllerName = controllerName
		class := &v1beta1.ClusterServiceClass{ObjectMeta: metav1.ObjectMeta{Name: broker}}
		class.Spec.ClusterServiceBrokerName = broker
		plan := &v1beta1.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: broker}}
		plan.Spec.ClusterServiceBrokerName, plan.Spec.ClusterServiceClassRef.Name = broker, broker
		all = append(all, b, class, plan)
	}
	local := &v1beta1.ServiceBroker{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "local"}}
	local.Spec.ControllerName = "east"
	class := &v1beta1.ServiceClass{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "local"}}
	class.Spec.ServiceBrokerName = "local"
	plan := &v1beta1.ServicePlan{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "local"}}
	plan.Spec.ServiceBrokerName, plan.Spec.ServiceClassRef.Name = "local", "local"
	brokerless := &v1beta1.ClusterServiceClass{ObjectMeta: metav1.ObjectMeta{Name: "brokerless"}}
	its := &v1beta1.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: "brokerless"}}
	its.Spec.ClusterServiceClassRef.Name = "brokerless"
	return append(all, local, class, plan, brokerless, its)
}

func clusterPlan(name string) v1beta1.DecidedReference {
	return v1beta1.DecidedReference{
		ClusterServiceClassRef: &v1beta1.ClusterObjectReference{Name: name}, ClusterServicePlanRef: &v1beta1.ClusterObjectReference{Name: name},
	}
}

func sentTo(broker string) *v1beta1.ServiceInstancePropertiesState {
	return &v1beta1.ServiceInstancePropertiesState{BrokerTarget: v1beta1.BrokerTarget{ClusterServiceBrokerName: broker, ClassExternalID: "c", PlanExternalID: "p"}}
}

// handlers are what controllers of several names find, whose caches are empty or as the API
// server is.
func handlers(t *testing.T, objects ...client.Object) map[string]*brokers {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, v1beta1.AddToScheme(scheme))
	live := fake.NewClientBuilder().WithScheme(scheme).WithObjects(append(offered(), objects...)...).Build()
	empty := fake.NewClientBuilder().WithScheme(scheme).Build()
	return map[string]*brokers{
		"Default": {reader: live, live: live}, "East": {reader: live, live: live, scope: scope{name: "east"}},
		"DefaultThatLags": {reader: empty, live: live},
	}
}

// Every controller finds the same one for an instance, also one whose cache has not seen
// anything yet: never do two write to one object.
func TestHandlerOfInstance(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		edit   func(*v1beta1.ServiceInstance)
		want   handling
	}{
		"Undecided":       {reason: "nobody's yet", edit: func(*v1beta1.ServiceInstance) {}, want: handling{}},
		"Chosen":          {reason: "it is to be at our broker", edit: func(i *v1beta1.ServiceInstance) { i.Spec.DecidedReference = clusterPlan("ours") }, want: handling{sure: true}},
		"ChosenElsewhere": {reason: "it is to be at theirs", edit: func(i *v1beta1.ServiceInstance) { i.Spec.DecidedReference = clusterPlan("theirs") }, want: handling{"east", true}},
		"ChosenInNamespace": {reason: "of the namespace", edit: func(i *v1beta1.ServiceInstance) {
			i.Spec.ServiceClassRef, i.Spec.ServicePlanRef = &v1beta1.LocalObjectReference{Name: "local"}, &v1beta1.LocalObjectReference{Name: "local"}
		}, want: handling{"east", true}},
		"There": {reason: "where it is counts first", edit: func(i *v1beta1.ServiceInstance) {
			i.Spec.DecidedReference, i.Status.ExternalProperties = clusterPlan("ours"), sentTo("theirs")
		}, want: handling{"east", true}},
		"OnItsWay": {reason: "what may have been sent counts, too", edit: func(i *v1beta1.ServiceInstance) {
			i.Spec.DecidedReference, i.Status.InProgressProperties = clusterPlan("ours"), sentTo("theirs")
		}, want: handling{"east", true}},
		"Forgotten": {reason: "the retired catalog did not record the broker", edit: func(i *v1beta1.ServiceInstance) {
			i.Spec.DecidedReference, i.Status.ExternalProperties = clusterPlan("theirs"), &v1beta1.ServiceInstancePropertiesState{}
		}, want: handling{"east", true}},
		"PlanGone": {reason: "whoever handled it last says so", edit: func(i *v1beta1.ServiceInstance) {
			i.Spec.DecidedReference, i.Status.ControllerName = clusterPlan("gone"), "east"
		}, want: handling{name: "east"}},
		"NeverHandled": {reason: "somebody must say so", edit: func(i *v1beta1.ServiceInstance) { i.Spec.DecidedReference = clusterPlan("gone") }, want: handling{}},
		"Brokerless":   {reason: "somebody must say so", edit: func(i *v1beta1.ServiceInstance) { i.Spec.DecidedReference = clusterPlan("brokerless") }, want: handling{}},
		"BrokerGone": {reason: "whoever handled it last has it", edit: func(i *v1beta1.ServiceInstance) {
			i.Status.ExternalProperties, i.Status.ControllerName = sentTo("gone"), "east"
		}, want: handling{name: "east"}},
		"Swapped": {reason: "the broker says it, whoever it was", edit: func(i *v1beta1.ServiceInstance) {
			i.Status.ExternalProperties, i.Status.ControllerName = sentTo("ours"), "east"
		}, want: handling{sure: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			instance := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "i"}}
			tc.edit(instance)
			for who, known := range handlers(t) {
				found, err := known.handlerOfInstance(t.Context(), instance)
				require.NoError(t, err)
				assert.Equal(t, tc.want, found, "%s: %s", who, tc.reason)
			}
		})
	}
}

// A binding goes with the broker at which it is, else with its instance, in whatever
// namespace that is.
func TestHandlerOfBinding(t *testing.T) {
	t.Parallel()
	atOurs, atTheirs := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "m", Name: "ours"}}, &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "m", Name: "theirs"}}
	atOurs.Status.ExternalProperties, atTheirs.Status.ExternalProperties = sentTo("ours"), sentTo("theirs")
	lost := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "m", Name: "lost"}}
	lost.Status.ControllerName = "east"
	to := func(name string) *v1beta1.InstanceReference {
		return &v1beta1.InstanceReference{Namespace: "m", Name: name}
	}
	for name, tc := range map[string]struct {
		reason string
		edit   func(*v1beta1.ServiceBinding)
		want   handling
	}{
		"OfOurs":   {reason: "as its instance", edit: func(b *v1beta1.ServiceBinding) { b.Spec.InstanceRef = to("ours") }, want: handling{sure: true}},
		"OfTheirs": {reason: "as its instance", edit: func(b *v1beta1.ServiceBinding) { b.Spec.InstanceRef = to("theirs") }, want: handling{"east", true}},
		"OfLost":   {reason: "as its instance, although that has no broker any more", edit: func(b *v1beta1.ServiceBinding) { b.Spec.InstanceRef = to("lost") }, want: handling{name: "east"}},
		"OfNone":   {reason: "somebody must say so", edit: func(b *v1beta1.ServiceBinding) { b.Spec.InstanceRef = to("none") }, want: handling{}},
		"OrphanOfTheirs": {reason: "whoever handled it last", edit: func(b *v1beta1.ServiceBinding) {
			b.Spec.InstanceRef, b.Status.ControllerName = to("none"), "east"
		}, want: handling{name: "east"}},
		"There": {reason: "where it is counts first", edit: func(b *v1beta1.ServiceBinding) {
			b.Spec.InstanceRef = to("none")
			b.Status.ExternalProperties = &v1beta1.ServiceBindingPropertiesState{BrokerTarget: sentTo("theirs").BrokerTarget}
		}, want: handling{"east", true}},
		"Claim":     {reason: "there is no instance yet", edit: func(b *v1beta1.ServiceBinding) { b.Spec.DecidedReference = clusterPlan("theirs") }, want: handling{"east", true}},
		"Undecided": {reason: "nobody's yet", edit: func(*v1beta1.ServiceBinding) {}, want: handling{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			binding := &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "b", UID: "u"}}
			tc.edit(binding)
			for who, known := range handlers(t, atOurs.DeepCopy(), atTheirs.DeepCopy(), lost.DeepCopy()) {
				found, err := known.handlerOfBinding(t.Context(), binding)
				require.NoError(t, err)
				assert.Equal(t, tc.want, found, "%s: %s", who, tc.reason)
			}
		})
	}
}

// What another controller handles is looked at again: soon, where its broker may come to
// be known, for no watch tells of that.
func TestLeave(t *testing.T) {
	t.Parallel()
	e := &engine{reread: time.Minute}
	unsure, sure := e.leave(handling{}).RequeueAfter, e.leave(handling{"east", true}).RequeueAfter
	assert.GreaterOrEqual(t, unsure, time.Minute)
	assert.Less(t, unsure, 2*time.Minute)
	assert.GreaterOrEqual(t, sure, foreignPause*time.Minute)
	assert.Less(t, sure, 2*foreignPause*time.Minute)
}

// Each object is counted once, by whoever handled it last.
func TestCounts(t *testing.T) {
	t.Parallel()
	ours, theirs := &v1beta1.ServiceInstance{}, &v1beta1.ServiceBinding{}
	theirs.Status.ControllerName = "east"
	for _, o := range []client.Object{ours, theirs} {
		assert.NotEqual(t, scope{}.counts(o), scope{name: "east"}.counts(o))
	}
	assert.True(t, scope{}.counts(ours))
	assert.Equal(t, "defaultplan-controller", scope{}.named(eventSource))
	assert.Equal(t, "defaultplan-controller-east", scope{name: "east"}.named(eventSource))
}
