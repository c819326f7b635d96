package controller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/broker"
	"github.com/defaultplan/defaultplan/osb/controller/scope"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
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
	local.Spec.ControllerName, local.Status.ControllerName = "east", "east"
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
func handlers(t *testing.T, objects ...client.Object) map[string]owners {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, v1beta1.AddToScheme(scheme))
	live := fake.NewClientBuilder().WithScheme(scheme).WithObjects(append(offered(), objects...)...).Build()
	empty := fake.NewClientBuilder().WithScheme(scheme).Build()
	return map[string]owners{
		"Default": {&broker.Clients{Reader: live, Live: live}}, "East": {&broker.Clients{Reader: live, Live: live, Scope: scope.Scope{Name: "east"}}},
		"DefaultThatLags": {&broker.Clients{Reader: empty, Live: live}},
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
		"Undecided":       {reason: "no controller's yet", edit: func(*v1beta1.ServiceInstance) {}, want: handling{}},
		"Chosen":          {reason: "it is to be at our broker", edit: func(i *v1beta1.ServiceInstance) { i.Spec.DecidedReference = clusterPlan("ours") }, want: handling{sure: true}},
		"ChosenElsewhere": {reason: "it is to be at theirs", edit: func(i *v1beta1.ServiceInstance) { i.Spec.DecidedReference = clusterPlan("theirs") }, want: handling{name: "east", sure: true}},
		"ChosenInNamespace": {reason: "of the namespace", edit: func(i *v1beta1.ServiceInstance) {
			i.Spec.ServiceClassRef, i.Spec.ServicePlanRef = &v1beta1.LocalObjectReference{Name: "local"}, &v1beta1.LocalObjectReference{Name: "local"}
		}, want: handling{name: "east", sure: true, seen: true}},
		"There": {reason: "where it is counts first", edit: func(i *v1beta1.ServiceInstance) {
			i.Spec.DecidedReference, i.Status.ExternalProperties = clusterPlan("ours"), sentTo("theirs")
		}, want: handling{name: "east", sure: true}},
		"OnItsWay": {reason: "what may have been sent counts, too", edit: func(i *v1beta1.ServiceInstance) {
			i.Spec.DecidedReference, i.Status.InProgressProperties = clusterPlan("ours"), sentTo("theirs")
		}, want: handling{name: "east", sure: true}},
		"Forgotten": {reason: "the retired catalog did not record the broker", edit: func(i *v1beta1.ServiceInstance) {
			i.Spec.DecidedReference, i.Status.ExternalProperties = clusterPlan("theirs"), &v1beta1.ServiceInstancePropertiesState{}
		}, want: handling{name: "east", sure: true}},
		"PlanGone": {reason: "the controller that handled it last says so", edit: func(i *v1beta1.ServiceInstance) {
			i.Spec.DecidedReference, i.Status.ControllerName = clusterPlan("gone"), "east"
		}, want: handling{name: "east"}},
		"NeverHandled": {reason: "one controller must report it", edit: func(i *v1beta1.ServiceInstance) { i.Spec.DecidedReference = clusterPlan("gone") }, want: handling{}},
		"Brokerless":   {reason: "one controller must report it", edit: func(i *v1beta1.ServiceInstance) { i.Spec.DecidedReference = clusterPlan("brokerless") }, want: handling{}},
		"BrokerGone": {reason: "the controller that handled it last has it", edit: func(i *v1beta1.ServiceInstance) {
			i.Status.ExternalProperties, i.Status.ControllerName = sentTo("gone"), "east"
		}, want: handling{name: "east"}},
		"Swapped": {reason: "the broker decides, whichever controller it was", edit: func(i *v1beta1.ServiceInstance) {
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
		"OfTheirs": {reason: "as its instance", edit: func(b *v1beta1.ServiceBinding) { b.Spec.InstanceRef = to("theirs") }, want: handling{name: "east", sure: true}},
		"OfLost":   {reason: "as its instance, although that has no broker any more", edit: func(b *v1beta1.ServiceBinding) { b.Spec.InstanceRef = to("lost") }, want: handling{name: "east"}},
		"OfNone":   {reason: "one controller must report it", edit: func(b *v1beta1.ServiceBinding) { b.Spec.InstanceRef = to("none") }, want: handling{}},
		"OrphanOfTheirs": {reason: "the controller that handled it last", edit: func(b *v1beta1.ServiceBinding) {
			b.Spec.InstanceRef, b.Status.ControllerName = to("none"), "east"
		}, want: handling{name: "east"}},
		"There": {reason: "where it is counts first", edit: func(b *v1beta1.ServiceBinding) {
			b.Spec.InstanceRef = to("none")
			b.Status.ExternalProperties = &v1beta1.ServiceBindingPropertiesState{BrokerTarget: sentTo("theirs").BrokerTarget}
		}, want: handling{name: "east", sure: true}},
		"Claim":     {reason: "there is no instance yet", edit: func(b *v1beta1.ServiceBinding) { b.Spec.DecidedReference = clusterPlan("theirs") }, want: handling{name: "east", sure: true}},
		"Undecided": {reason: "no controller's yet", edit: func(*v1beta1.ServiceBinding) {}, want: handling{}},
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
	e := &engine{reread: time.Minute, brokers: &broker.Clients{Scope: scope.Scope{Name: "west"}}, clock: testclock.NewFakePassiveClock(noon)}
	left := func(found handling) time.Duration {
		result, err := e.leave(t.Context(), &v1beta1.ServiceInstance{}, found)
		require.NoError(t, err)
		return result.RequeueAfter
	}
	unsure, sure := left(handling{}), left(handling{name: "east", sure: true, seen: true})
	assert.GreaterOrEqual(t, unsure, time.Minute)
	assert.Less(t, unsure, 2*time.Minute)
	assert.GreaterOrEqual(t, sure, foreignPause*time.Minute)
	assert.Less(t, sure, 2*foreignPause*time.Minute)
}

// The controller of a name has longer to see what is at a broker that it has seen: it may have much to do.
func TestLeaveTellsWhatIsUnseen(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		found handling
		age   time.Duration
		told  bool
	}{
		"Absent": {found: handling{name: "east", sure: true}, age: 2 * time.Minute, told: true},
		"Busy":   {found: handling{name: "east", sure: true, seen: true}, age: 19 * time.Minute},
		"Gone":   {found: handling{name: "east", sure: true, seen: true}, age: 20 * time.Minute, told: true},
		"Unsure": {found: handling{name: "east"}, age: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "i", CreationTimestamp: metav1.NewTime(noon.Add(-tc.age))}}
			scheme := runtime.NewScheme()
			require.NoError(t, v1beta1.AddToScheme(scheme))
			c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(i).WithStatusSubresource(i).Build()
			e := &engine{timeout: time.Minute, reread: time.Hour, store: store{client: c}, brokers: &broker.Clients{}, clock: testclock.NewFakePassiveClock(noon)}
			require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(i), i))
			_, err := e.leave(t.Context(), i, tc.found)
			require.NoError(t, err)
			require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(i), i))
			assert.Equal(t, tc.told, len(i.Status.Conditions) > 0)
		})
	}
}

// What a user abandons goes, also where no controller has the name that its broker gives.
func TestStandsIn(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason    string
		scope     scope.Scope
		abandoned string
		// deleted is how long ago it was; 0: it is not.
		deleted time.Duration
		// call is when the call ends that its own controller may be in, from now.
		call  time.Duration
		want  bool
		again time.Duration
	}{
		"Abandoned": {reason: "its own controller had the time", abandoned: "true", deleted: 2 * time.Minute, want: true},
		"Just":      {reason: "its own controller may be in a call", abandoned: "true", deleted: time.Minute, again: time.Minute},
		"InACall":   {reason: "the outcome of a call that is late is not to be lost", abandoned: "true", deleted: time.Hour, call: 30 * time.Second, again: 30 * time.Second},
		"WasInOne":  {reason: "none is in it any more", abandoned: "true", deleted: time.Hour, call: -time.Second, want: true},
		"Ahead":     {reason: "a clock that is ahead wrote of a call", abandoned: "true", deleted: time.Hour, call: 24 * time.Hour, want: true},
		"Lives":     {reason: "the annotation counts at a deletion", abandoned: "true"},
		"Asked":     {reason: "its broker is to be asked", deleted: time.Hour},
		"Not":       {reason: "it says so", abandoned: "false", deleted: time.Hour},
		"Named":     {reason: "one stands in", abandoned: "true", deleted: time.Hour, scope: scope.Scope{Name: "west"}},
		"Part":      {reason: "what is beyond its namespaces it does not see", abandoned: "true", deleted: time.Hour, scope: scope.Scope{Namespaces: []string{"n"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := &engine{timeout: time.Minute, reread: time.Hour, clock: testclock.NewFakePassiveClock(noon), brokers: &broker.Clients{Scope: tc.scope}}
			o := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{v1beta1.AnnotationAbandon: tc.abandoned}}}
			if tc.deleted > 0 {
				o.DeletionTimestamp = new(metav1.NewTime(noon.Add(-tc.deleted)))
			}
			if tc.call != 0 {
				o.Status.CallDeadline = new(metav1.NewMicroTime(noon.Add(tc.call)))
			}
			assert.Equal(t, tc.want, e.standsIn(o), tc.reason)
			if tc.want {
				o.Status.ControllerName = "east"
				written := (&instanceResource{instances: &instances{engine: e}, instance: o}).with(o, &lifecycle.Record{})
				assert.Equal(t, "east", written.(*v1beta1.ServiceInstance).Status.ControllerName, "two that write their names write for ever")
				claim := &v1beta1.ServiceBinding{ObjectMeta: *o.ObjectMeta.DeepCopy(), Status: v1beta1.ServiceBindingStatus{ControllerName: "east"}}
				written = (&bindings{engine: e}).resourceOf(claim).with(claim, &lifecycle.Record{})
				assert.Equal(t, "east", written.(*v1beta1.ServiceBinding).Status.ControllerName)
			}
			if tc.again > 0 {
				result, err := e.leave(t.Context(), o, handling{name: "east", sure: true, seen: true})
				require.NoError(t, err)
				assert.Equal(t, tc.again, result.RequeueAfter)
			}
		})
	}
}

// What is of a broker is for the controller that it names, and for every one where it is not there: none waits for a
// controller that is gone with its broker.
func TestMine(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason        string
		target        v1beta1.BrokerTarget
		unnamed, east bool
	}{
		"Unnamed":    {reason: "it names none", target: v1beta1.BrokerTarget{ClusterServiceBrokerName: "ours"}, unnamed: true},
		"Named":      {reason: "it names that", target: v1beta1.BrokerTarget{ClusterServiceBrokerName: "theirs"}, east: true},
		"Namespaced": {reason: "it names that", target: v1beta1.BrokerTarget{ServiceBrokerName: "local"}, east: true},
		"Gone":       {reason: "what it named is not known", target: v1beta1.BrokerTarget{ClusterServiceBrokerName: "gone"}, unnamed: true, east: true},
		"None":       {reason: "its class has no broker yet", unnamed: true, east: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			controllers := handlers(t)
			for controller, want := range map[string]bool{"Default": test.unnamed, "East": test.east} {
				mine, err := controllers[controller].mine(t.Context(), &test.target, "n")
				require.NoError(t, err)
				assert.Equal(t, want, mine, "%s: %s", controller, test.reason)
			}
		})
	}
}
