package watches

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/catalog/catalogtest"
	"github.com/defaultplan/defaultplan/osb/controller/indexes/indextest"
	"github.com/defaultplan/defaultplan/osb/controller/policies"
	"github.com/defaultplan/defaultplan/osb/controller/resync"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// What tells how an operation is going brings no pass over the bindings of an instance.
func TestReadByBindings(t *testing.T) {
	t.Parallel()
	ofClaim := func(i *v1beta1.ServiceInstance) {
		i.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1beta1.GroupVersion.String(), Kind: "ServiceBinding", Controller: new(true)}}
	}
	for name, tc := range map[string]struct {
		reason string
		was    func(*v1beta1.ServiceInstance)
		edit   func(*v1beta1.ServiceInstance)
		want   bool
	}{
		"Nothing":     {reason: "a resync", edit: func(*v1beta1.ServiceInstance) {}},
		"Progress":    {reason: "a poll", edit: func(i *v1beta1.ServiceInstance) { i.Status.LastOperation, i.Status.LastConditionState = new("op"), "x" }},
		"Condition":   {reason: "they read what it is of, and not what it says", edit: func(i *v1beta1.ServiceInstance) { i.Status.Conditions = []v1beta1.Condition{{Type: "Ready"}} }},
		"Labels":      {reason: "only policies read them", edit: func(i *v1beta1.ServiceInstance) { i.Labels = map[string]string{"a": "b"} }},
		"Spec":        {reason: "it may be of another plan, or shared no more", edit: func(i *v1beta1.ServiceInstance) { i.Generation++ }, want: true},
		"Annotations": {reason: "brokers are told of some", edit: func(i *v1beta1.ServiceInstance) { i.Annotations = map[string]string{"a": "b"} }, want: true},
		"Deleted":     {reason: "nothing can be bound to it", edit: func(i *v1beta1.ServiceInstance) { i.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }, want: true},
		"Provisioned": {reason: "they waited for it", edit: func(i *v1beta1.ServiceInstance) { i.Status.ProvisionStatus = v1beta1.Provisioned }, want: true},
		"Operation":   {reason: "they wait while it is changed", edit: func(i *v1beta1.ServiceInstance) { i.Status.CurrentOperation = v1beta1.InstanceUpdate }, want: true},
		"Unusable":    {reason: "they wait for its repair", edit: func(i *v1beta1.ServiceInstance) { i.Status.Unusable = true }, want: true},
		"ID":          {reason: "they are bound by it", edit: func(i *v1beta1.ServiceInstance) { i.Status.ExternalID = "e" }, want: true},
		"Handler":     {reason: "they are for the same controller", edit: func(i *v1beta1.ServiceInstance) { i.Status.ControllerName = "east" }, want: true},
		"Plan": {reason: "they are bound by what it has", edit: func(i *v1beta1.ServiceInstance) {
			i.Status.ExternalProperties = &v1beta1.ServiceInstancePropertiesState{ClusterServicePlanExternalID: "p"}
		}, want: true},
		"Claim":    {reason: "its binding tells what it does", edit: ofClaim, want: true},
		"Orphaned": {reason: "others may bind to it now", was: ofClaim, edit: func(i *v1beta1.ServiceInstance) { i.OwnerReferences = nil }, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := &v1beta1.ServiceInstance{}
			if tc.was != nil {
				tc.was(before)
			}
			now := before.DeepCopy()
			tc.edit(now)
			assert.Equal(t, tc.want, ReadByBindings().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: now}), tc.reason)
		})
	}
	assert.True(t, ReadByBindings().Create(event.CreateEvent{}))
	assert.True(t, ReadByBindings().Delete(event.DeleteEvent{}))
}

// referenceOf is what admission decided for an instance or binding.
func referenceOf(o client.Object) *v1beta1.DecidedReference {
	if instance, is := o.(*v1beta1.ServiceInstance); is {
		return &instance.Spec.DecidedReference
	}
	binding, _ := o.(*v1beta1.ServiceBinding)
	return &binding.Spec.DecidedReference
}

// A class or plan that changed brings a pass over what is not Ready of it, and over nothing else.
func TestOfferingWakesWhatIsNotReady(t *testing.T) {
	t.Parallel()
	of := func(o client.Object, namespace, name, class, plan string, status v1beta1.ConditionStatus) client.Object {
		o.SetNamespace(namespace)
		o.SetName(name)
		ref := referenceOf(o)
		if class != "" {
			ref.ClusterServiceClassRef, ref.ClusterServicePlanRef = &v1beta1.ClusterObjectReference{Name: class}, &v1beta1.ClusterObjectReference{Name: plan}
		}
		conditions := []v1beta1.Condition{{Type: v1beta1.ConditionReady, Status: status}}
		switch o := o.(type) {
		case *v1beta1.ServiceInstance:
			o.Status.Conditions = conditions
		case *v1beta1.ServiceBinding:
			o.Status.Conditions = conditions
		}
		return o
	}
	local := func(o client.Object, namespace string) client.Object {
		ref := referenceOf(of(o, namespace, "local-"+namespace, "", "", v1beta1.ConditionFalse))
		ref.ServiceClassRef, ref.ServicePlanRef = &v1beta1.LocalObjectReference{Name: "class"}, &v1beta1.LocalObjectReference{Name: "plan"}
		return o
	}
	rotates := func(name string, retries int32) client.Object {
		return of(&v1beta1.ServiceBinding{Status: v1beta1.ServiceBindingStatus{Rotation: &v1beta1.BindingRotation{Retries: retries}}}, "n", name, "class", "plan", v1beta1.ConditionTrue)
	}
	instance, binding := func() client.Object { return &v1beta1.ServiceInstance{} }, func(to string) client.Object {
		return &v1beta1.ServiceBinding{Spec: v1beta1.ServiceBindingSpec{InstanceRef: &v1beta1.InstanceReference{Name: to}}}
	}
	const yes, no, unknown = v1beta1.ConditionTrue, v1beta1.ConditionFalse, v1beta1.ConditionUnknown
	reader := fullyIndexed(
		t,
		of(instance(), "n", "ready", "class", "plan", yes), of(instance(), "n", "failed", "class", "plan", no), of(instance(), "m", "waits", "class", "large", unknown),
		of(instance(), "n", "other", "another", "small", no), local(instance(), "n"), local(instance(), "m"),
		of(binding("ready"), "n", "bound", "class", "plan", yes), of(binding("ready"), "n", "refused", "class", "plan", no),
		of(binding("gone"), "n", "dedicated", "class", "large", unknown), of(binding("ready"), "n", "unreferenced", "", "", no),
		of(binding("other"), "n", "of-other", "another", "small", no), of(binding("other"), "n", "undecided", "", "", no),
		local(binding("local-n"), "n"), local(binding("local-m"), "m"), rotates("rotates", 0), rotates("rotation-fails", 1),
	)
	for name, tc := range map[string]struct {
		offering            client.Object
		instances, bindings []string
	}{
		"ClusterClass": {catalogtest.Cluster()[0], []string{"failed", "waits"}, []string{"refused", "dedicated", "unreferenced", "rotation-fails"}},
		"ClusterPlan":  {catalogtest.Cluster()[1], []string{"failed"}, []string{"refused", "unreferenced", "rotation-fails"}},
		"LocalClass":   {catalogtest.Local()[0], []string{"local-n"}, []string{"local-n"}},
		"LocalPlan":    {catalogtest.Local()[1], []string{"local-n"}, []string{"local-n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			instances, bindings := &enqueued{}, &enqueued{}
			var changed []string
			tell := func(at client.ObjectKey, after time.Duration) {
				assert.Equal(t, time.Second, after)
				changed = append(changed, at.Name)
			}
			InstancesByOffering(reader, tell).Create(t.Context(), event.CreateEvent{Object: tc.offering}, instances)
			BindingsByOffering(reader, tell).Create(t.Context(), event.CreateEvent{Object: tc.offering}, bindings)
			assert.ElementsMatch(t, tc.instances, instances.names)
			assert.ElementsMatch(t, tc.bindings, bindings.names)
			assert.Equal(t, slices.Concat(instances.names, bindings.names), changed)
		})
	}
}

// A plan of the cluster that changed brings a pass over what is of its copies in namespaces: policies take their costs from it.
func TestAnOriginalWakesItsCopies(t *testing.T) {
	t.Parallel()
	copied := func(namespace, id, broker string) client.Object {
		p := &v1beta1.ServicePlan{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "copy"}}
		p.Spec.ExternalID, p.Spec.ClusterServiceBrokerName = id, broker
		return p
	}
	denied := []v1beta1.Condition{{Type: v1beta1.ConditionReady, Status: v1beta1.ConditionFalse, Reason: policies.ReasonDenied}}
	var objects []client.Object
	for namespace, plan := range map[string]client.Object{
		"dev": copied("dev", "id", "aws"), "qa": copied("qa", "id", "aws"), "other": copied("other", "another", "aws"), "elsewhere": copied("elsewhere", "id", "gcp"),
	} {
		ref := v1beta1.DecidedReference{ServicePlanRef: &v1beta1.LocalObjectReference{Name: "copy"}}
		meta := metav1.ObjectMeta{Namespace: namespace, Name: namespace}
		instance := &v1beta1.ServiceInstance{ObjectMeta: meta, Spec: v1beta1.ServiceInstanceSpec{DecidedReference: ref}, Status: v1beta1.ServiceInstanceStatus{Conditions: denied}}
		binding := &v1beta1.ServiceBinding{ObjectMeta: meta, Status: v1beta1.ServiceBindingStatus{Conditions: denied}}
		binding.Spec.InstanceRef = &v1beta1.InstanceReference{Name: namespace}
		objects = append(objects, plan, instance, binding)
	}
	copyOfCluster := &v1beta1.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: "another-name"}}
	copyOfCluster.Spec.ExternalID, copyOfCluster.Spec.ClusterServiceBrokerName = "id", "aws"
	onIt := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "prod"}, Status: v1beta1.ServiceInstanceStatus{Conditions: denied}}
	onIt.Spec.ClusterServicePlanRef = &v1beta1.ClusterObjectReference{Name: "another-name"}
	boundToIt := &v1beta1.ServiceBinding{ObjectMeta: onIt.ObjectMeta, Status: v1beta1.ServiceBindingStatus{Conditions: denied}}
	boundToIt.Spec.InstanceRef = &v1beta1.InstanceReference{Name: "prod"}
	objects = append(objects, copyOfCluster, onIt, boundToIt)
	reader := fullyIndexed(t, objects...)
	original := &v1beta1.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: "copy"}}
	original.Spec.ExternalID, original.Spec.ClusterServiceBrokerName = "id", "aws"
	for _, wakes := range []handler.EventHandler{InstancesByOffering(reader, nil), BindingsByOffering(reader, nil)} {
		queue := &enqueued{}
		wakes.Update(t.Context(), event.UpdateEvent{ObjectNew: original}, queue)
		assert.ElementsMatch(t, []string{"dev", "qa", "prod"}, queue.names)
	}
}

// However much a change concerns, it is looked at as fast as what rests is, and nothing of it at the start.
func TestOfferingWakesBitByBit(t *testing.T) {
	t.Parallel()
	wakes := bitByBit(nil, func(context.Context, client.Object) []reconcile.Request {
		requests := make([]reconcile.Request, 100*resync.PerSecond)
		for i := range requests {
			requests[i].Name = strconv.Itoa(i)
		}
		return slices.Repeat(requests, 2)
	})
	for name, tc := range map[string]struct {
		wake  func(*enqueued)
		woken int
		after time.Duration
	}{
		"Start":  {wake: func(q *enqueued) { wakes.Create(t.Context(), event.CreateEvent{IsInInitialList: true}, q) }},
		"Create": {wake: func(q *enqueued) { wakes.Create(t.Context(), event.CreateEvent{}, q) }, woken: 100 * resync.PerSecond, after: 100 * time.Second},
		"Update": {wake: func(q *enqueued) { wakes.Update(t.Context(), event.UpdateEvent{}, q) }, woken: 100 * resync.PerSecond, after: 100 * time.Second},
		"Delete": {wake: func(q *enqueued) { wakes.Delete(t.Context(), event.DeleteEvent{}, q) }, woken: 100 * resync.PerSecond, after: 100 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := &enqueued{}
			tc.wake(q)
			assert.Len(t, q.names, tc.woken)
			assert.Equal(t, tc.after, q.after)
		})
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
	reader := fullyIndexed(t,
		instance("held", "class", "large", lifecycle.ReasonPlanNotUpdatable), instance("other", "another", "large", lifecycle.ReasonPlanNotUpdatable),
		instance("asks", "class", "plan", "Provisioning"), instance("waits", "class", "large", "Provisioning"))
	queue := &enqueued{}
	ByPlan(reader).Create(t.Context(), event.CreateEvent{Object: catalogtest.Cluster()[1]}, queue)
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

// fullyIndexed is a cache with all the indexes of watches.
func fullyIndexed(t *testing.T, objects ...client.Object) client.Reader {
	t.Helper()
	builder := indextest.NewBuilder(t, objects...)
	require.NoError(t, AddIndexes(t.Context(), indextest.Fake{Builder: builder}))
	return builder.Build()
}

// What a relist only counts brings no pass.
func TestChangesOffering(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason      string
		edit        func(client.Object)
		class, plan bool
	}{
		"Nothing":     {reason: "a resync", edit: func(client.Object) {}},
		"Counts":      {reason: "how many plans a class has", edit: func(o client.Object) { setClassStatus(o, func(s *v1beta1.CommonServiceClassStatus) { s.FreePlans++ }) }},
		"Spec":        {reason: "its flags", edit: func(o client.Object) { o.SetGeneration(2) }, class: true, plan: true},
		"Annotations": {reason: "as it was", edit: func(o client.Object) { o.SetAnnotations(map[string]string{"a": "b"}) }, class: true, plan: true},
		"Labels":      {reason: "policies select by them", edit: func(o client.Object) { o.SetLabels(map[string]string{"a": "b"}) }, class: true, plan: true},
		"Costs": {reason: "policies select by them", edit: func(o client.Object) {
			setPlanStatus(o, func(s *v1beta1.CommonServicePlanStatus) {
				s.Costs = []v1beta1.PlanCost{{Currency: "usd", Amount: "1", Unit: "MONTHLY"}}
			})
		}, plan: true},
		"MalformedCosts": {reason: "which makes them unknown", edit: func(o client.Object) {
			setPlanStatus(o, func(s *v1beta1.CommonServicePlanStatus) { s.MalformedCosts = "costs is not a list" })
		}, plan: true},
		"ClassListed": {reason: "it is offered again", edit: func(o client.Object) {
			setClassStatus(o, func(s *v1beta1.CommonServiceClassStatus) { s.RemovedFromBrokerCatalog = true })
		}, class: true},
		"PlanListed": {reason: "it is offered again", edit: func(o client.Object) {
			setPlanStatus(o, func(s *v1beta1.CommonServicePlanStatus) { s.RemovedFromBrokerCatalog = true })
		}, plan: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, offer := range [][]client.Object{catalogtest.Cluster(), catalogtest.Local()} {
				for i, want := range []bool{tc.class, tc.plan} {
					now := offer[i].DeepCopyObject().(client.Object)
					tc.edit(now)
					assert.Equal(t, want, changesOffering().Update(event.UpdateEvent{ObjectOld: offer[i], ObjectNew: now}), "%T: %s", now, tc.reason)
				}
			}
		})
	}
}

func setPlanStatus(o client.Object, edit func(*v1beta1.CommonServicePlanStatus)) {
	if p, is := o.(v1beta1.PlanObject); is {
		edit(p.GetStatus())
	}
}

func setClassStatus(o client.Object, edit func(*v1beta1.CommonServiceClassStatus)) {
	switch c := o.(type) {
	case *v1beta1.ClusterServiceClass:
		edit(&c.Status.CommonServiceClassStatus)
	case *v1beta1.ServiceClass:
		edit(&c.Status.CommonServiceClassStatus)
	}
}
