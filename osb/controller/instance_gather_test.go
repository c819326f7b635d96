package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/dependents"
	"github.com/defaultplan/defaultplan/osb/controller/queue"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// An instanceWorld has an instance, j, with parameters from a Secret, beside what a bindingWorld has.
type instanceWorld struct {
	*bindingWorld

	instances *instances
	at        client.ObjectKey
}

func newInstanceWorld(t *testing.T) *instanceWorld {
	t.Helper()
	w := &instanceWorld{bindingWorld: newBindingWorld(t), at: client.ObjectKey{Namespace: "n", Name: "j"}}
	r := w.reconciler
	lists := interceptor.NewClient(w.cache, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			w.requests = append(w.requests, "list bindings")
			return c.List(ctx, list, options...)
		},
	})
	w.instances = &instances{
		engine: r.engine, reader: r.reader, catalog: r.catalog, platform: r.platform, parameters: r.parameters, policies: r.policies,
		dependents: dependents.Reader{Client: w.cache, Live: lists},
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "given"}, Data: map[string][]byte{"p": []byte(`{"a":1}`)}}
	require.NoError(t, w.cache.Create(t.Context(), secret))
	instance := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{
		Namespace: "n", Name: "j", UID: "instance-uid", Generation: 1, Finalizers: []string{v1beta1.FinalizerServiceCatalog},
		Annotations: map[string]string{v1beta1.AnnotationMintedExternalID: "new-id"},
	}}
	instance.Spec.ExternalID, instance.Spec.UserInfo = "new-id", &v1beta1.UserInfo{Username: "u"}
	instance.Spec.ClusterServiceClassRef, instance.Spec.ClusterServicePlanRef = &v1beta1.ClusterObjectReference{Name: "db"}, &v1beta1.ClusterObjectReference{Name: "small"}
	instance.Spec.ParametersFrom = []v1beta1.ParametersFromSource{{SecretKeyRef: &v1beta1.SecretKeyReference{Name: "given", Key: "p"}}}
	require.NoError(t, w.cache.Create(t.Context(), instance))
	return w
}

// busy takes all places at the broker, until it is let go.
func (w *instanceWorld) busy() (free func()) {
	w.Helper()
	var taken []*queue.Pass
	for n := 0; ; n++ {
		p, begun := w.reconciler.engine.brokers.Queues.Begin(queue.Item{Kind: "other", NamespacedName: client.ObjectKey{Namespace: "n", Name: strings.Repeat("x", n)}}, func(*queue.Pass) {})
		require.True(w, begun)
		if !p.Enter(queue.Broker{Name: "broker"}) {
			p.End(nil)
			break
		}
		taken = append(taken, p)
	}
	return func() {
		for _, p := range taken {
			p.End(nil)
		}
	}
}

// reconciled is what comes of a pass, and the reads of the API server that it made.
func (w *instanceWorld) reconciled() (reads []string, waits bool) {
	w.Helper()
	w.took()
	p, begun := w.reconciler.engine.brokers.Queues.Begin(queue.Item{Kind: "ServiceInstance", NamespacedName: w.at}, func(p *queue.Pass) { p.End(nil) })
	require.True(w, begun)
	_, err := w.instances.Reconcile(queue.NewContext(w.Context(), p), reconcile.Request{NamespacedName: w.at})
	p.End(nil)
	if queue.AwaitedBy(err) == nil {
		require.NoError(w, err)
	}
	reads = slices.DeleteFunc(w.took(), func(r string) bool { return !strings.HasPrefix(r, "get ") && !strings.HasPrefix(r, "list ") })
	return reads, queue.AwaitedBy(err) != nil
}

func (w *instanceWorld) instance() *v1beta1.ServiceInstance {
	w.Helper()
	var i v1beta1.ServiceInstance
	require.NoError(w, w.cache.Get(w.Context(), w.at, &i))
	return &i
}

// waits has passes begin that find no place, and cost the API server no read.
func (w *instanceWorld) waits() {
	w.Helper()
	for range 3 {
		reads, waits := w.reconciled()
		require.True(w, waits)
		require.Empty(w, reads)
	}
}

// What an instance is made from, and what keeps it, is read at its turn.
func TestInstanceReadsAtItsTurn(t *testing.T) {
	t.Parallel()
	w := newInstanceWorld(t)
	free := w.busy()
	w.waits()
	assert.Empty(t, w.instance().Status.Conditions)
	free()
	reads, _ := w.reconciled()
	assert.Equal(t, []string{"get Secret"}, reads)
	calls := w.broker.Calls(osbtest.Of(osbtest.Provision))
	require.Len(t, calls, 1)
	assert.Equal(t, map[string]any{"a": 1.0}, plainOf(t, calls[0].Body["parameters"]))

	bound := bindingTo("bound", func(b *v1beta1.ServiceBinding) { b.Spec.InstanceRef.Name = "j" })
	require.NoError(t, w.cache.Create(t.Context(), bound))
	require.NoError(t, w.cache.Delete(t.Context(), w.instance()))
	reads, _ = w.reconciled()
	assert.Empty(t, reads, "the cache knows why it waits")
	ready, _ := v1beta1.FindCondition(w.instance().Status.Conditions, v1beta1.ConditionReady)
	assert.Contains(t, ready.Message, "bound")

	bound.Finalizers = nil
	require.NoError(t, w.cache.Update(t.Context(), bound))
	free = w.busy()
	w.waits()
	free()
	reads, _ = w.reconciled()
	assert.Equal(t, []string{"get Secret", "list bindings"}, reads)
	assert.Len(t, w.broker.Calls(osbtest.Of(osbtest.Deprovision)), 1)
	assert.True(t, apierrors.IsNotFound(w.cache.Get(t.Context(), w.at, &v1beta1.ServiceInstance{})), "it is let go")
}

// A change of plan waits with its Secrets unread, too. What another value in a Secret would change
// is not known before it is read.
func TestInstanceUpdateReadsAtItsTurn(t *testing.T) {
	t.Parallel()
	w := newInstanceWorld(t)
	w.reconciled()
	reads, waits := w.reconciled()
	assert.False(t, waits)
	assert.Equal(t, []string{"get Secret"}, reads, "its value may have changed")
	i := w.instance()
	i.Spec.ClusterServicePlanRef.Name, i.Generation = "large", 2
	require.NoError(t, w.cache.Update(t.Context(), i))
	large := &v1beta1.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: "large"}}
	large.Spec.ClusterServiceBrokerName, large.Spec.ExternalID, large.Spec.ExternalName = "broker", "large", "large"
	large.Spec.ClusterServiceClassRef.Name = "db"
	require.NoError(t, w.cache.Create(t.Context(), large))
	var small v1beta1.ClusterServicePlan
	require.NoError(t, w.cache.Get(t.Context(), client.ObjectKey{Name: "small"}, &small))
	small.Spec.PlanUpdatable = new(true)
	require.NoError(t, w.cache.Update(t.Context(), &small))
	free := w.busy()
	w.waits()
	free()
	w.reconciled()
	assert.Len(t, w.broker.Calls(osbtest.Of(osbtest.Update)), 1)
}

// What waits for a pause says so without a read; what the cache knows to be wrong waits for no turn.
func TestInstanceWithoutATurn(t *testing.T) {
	t.Parallel()
	w := newInstanceWorld(t)
	w.unavailable(queue.Broker{Name: "broker"}, queue.Operation{Class: "db", Plan: "small", Name: "provision"})
	w.waits()
	ready, _ := v1beta1.FindCondition(w.instance().Status.Conditions, v1beta1.ConditionReady)
	assert.Equal(t, "BrokerUnavailable", ready.Reason)
	w.reconciler.engine.brokers.Queues.Gone(queue.Broker{Name: "broker"})

	free := w.busy()
	defer free()
	var plan v1beta1.ClusterServicePlan
	require.NoError(t, w.cache.Get(t.Context(), client.ObjectKey{Name: "small"}, &plan))
	plan.Status.RemovedFromBrokerCatalog = true
	require.NoError(t, w.cache.Update(t.Context(), &plan))
	_, waits := w.reconciled()
	assert.False(t, waits)
	ready, _ = v1beta1.FindCondition(w.instance().Status.Conditions, v1beta1.ConditionReady)
	assert.Equal(t, "ReferencesDeletedServicePlan", ready.Reason)
}

// Of a class that the broker dropped with its plans it is the class that is told.
func TestInstanceOfARemovedClass(t *testing.T) {
	t.Parallel()
	w := newInstanceWorld(t)
	class := &v1beta1.ClusterServiceClass{}
	require.NoError(t, w.cache.Get(t.Context(), client.ObjectKey{Name: "db"}, class))
	class.Status.RemovedFromBrokerCatalog = true
	require.NoError(t, w.cache.Update(t.Context(), class))
	w.reconciled()
	ready, _ := v1beta1.FindCondition(w.instance().Status.Conditions, v1beta1.ConditionReady)
	assert.Equal(t, "ReferencesDeletedServiceClass", ready.Reason)
	assert.Contains(t, ready.Message, fmt.Sprintf("does not offer the class %q", class.Spec.ExternalName))
	assert.Empty(t, w.broker.Calls(osbtest.Of(osbtest.Provision)))
}

// Nothing new is made at a broker that is being deleted, whether or not its classes and plans are marked; what is there is
// updated still.
func TestInstanceAtABrokerThatGoes(t *testing.T) {
	t.Parallel()
	goes := func(w *instanceWorld) {
		broker := &v1beta1.ClusterServiceBroker{}
		require.NoError(t, w.cache.Get(t.Context(), client.ObjectKey{Name: "broker"}, broker))
		broker.Finalizers = []string{v1beta1.FinalizerServiceCatalog}
		require.NoError(t, w.cache.Update(t.Context(), broker))
		require.NoError(t, w.cache.Delete(t.Context(), broker))
	}
	w := newInstanceWorld(t)
	goes(w)
	w.reconciled()
	ready, _ := v1beta1.FindCondition(w.instance().Status.Conditions, v1beta1.ConditionReady)
	assert.Equal(t, "ReferencesDeletedServicePlan", ready.Reason)
	assert.Empty(t, w.broker.Calls(osbtest.Of(osbtest.Provision)))

	w = newInstanceWorld(t)
	w.reconciled()
	goes(w)
	i := w.instance()
	i.Spec.Parameters, i.Generation = &runtime.RawExtension{Raw: []byte(`{"b":2}`)}, 2
	require.NoError(t, w.cache.Update(t.Context(), i))
	w.reconciled()
	assert.Len(t, w.broker.Calls(osbtest.Of(osbtest.Update)), 1)
}

func plainOf(t *testing.T, value any) any {
	t.Helper()
	read, err := plain(value)
	require.NoError(t, err)
	return read
}

// What was refused for good waits for no place: only its Secrets can make another request of it,
// and they are read while the broker has none.
func TestRefusedForGoodWaitsForNoPlace(t *testing.T) {
	t.Parallel()
	refuse := func(call osbtest.Call) osbtest.Fault {
		if call.Verb == osbtest.Provision || call.Verb == osbtest.Bind {
			return osbtest.Status(400, `{"description":"never"}`)
		}
		return osbtest.Fault{}
	}
	t.Run("Instance", func(t *testing.T) {
		t.Parallel()
		w := newInstanceWorld(t)
		w.broker.On(refuse)
		w.reconciled()
		defer w.busy()()
		reads, waits := w.reconciled()
		assert.False(t, waits)
		assert.NotEmpty(t, reads)
		condition, _ := v1beta1.FindCondition(w.instance().Status.Conditions, v1beta1.ConditionFailed)
		assert.Equal(t, v1beta1.ConditionTrue, condition.Status)
	})
	t.Run("Binding", func(t *testing.T) {
		t.Parallel()
		w := &instanceWorld{bindingWorld: newBindingWorld(t, func(b *v1beta1.ServiceBinding) {
			b.Spec.Parameters = &runtime.RawExtension{Raw: []byte(`{"a":1}`)}
		})}
		w.broker.On(refuse)
		w.pass()
		defer w.busy()()
		p := w.turn()
		defer p.End(nil)
		_, err := w.reconciler.Reconcile(queue.NewContext(t.Context(), p), reconcile.Request{NamespacedName: w.bindingWorld.at})
		assert.NoError(t, err)
	})
}

// A binding with an instance of its own is no holder of another instance that has the name.
func TestHoldersOfAName(t *testing.T) {
	t.Parallel()
	w := newBindingWorld(t)
	claim := &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "claim", UID: "claim-uid", Finalizers: []string{v1beta1.FinalizerServiceCatalog}}}
	require.NoError(t, w.cache.Create(t.Context(), claim))
	claim.Status.UnbindStatus = v1beta1.UnbindRequired
	require.NoError(t, w.cache.Status().Update(t.Context(), claim))
	h := dependents.Reader{Client: w.cache, Live: w.cache}
	other := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{
		Namespace: "n", Name: v1beta1.DedicatedInstanceName(claim), Annotations: map[string]string{v1beta1.AnnotationCascade: "true"},
	}}
	known, err := h.Known(t.Context(), other)
	require.NoError(t, err)
	assert.Empty(t, known)
	require.NoError(t, w.cache.Get(t.Context(), client.ObjectKeyFromObject(claim), claim))
	assert.Nil(t, claim.DeletionTimestamp, "and is not deleted with it")

	own := other.DeepCopy()
	own.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(claim, v1beta1.GroupVersion.WithKind("ServiceBinding"))}
	known, err = h.Known(t.Context(), own)
	require.NoError(t, err)
	assert.Equal(t, []string{"claim"}, known)
}

// An instance and a binding that name class and plan say in status of which type they are, also
// once the type has another name.
func TestStatusSaysTheType(t *testing.T) {
	t.Parallel()
	w := newInstanceWorld(t)
	w.reconciled()
	assert.Empty(t, w.instance().Spec.ServiceType)
	assert.Equal(t, "mysql", w.instance().Status.ServiceType, "from its class")
	bound, _ := w.pass()
	assert.Equal(t, "mysql", bound.Status.ServiceType)

	var plan v1beta1.ClusterServicePlan
	require.NoError(t, w.cache.Get(t.Context(), client.ObjectKey{Name: "small"}, &plan))
	plan.Spec.ServiceType = "mariadb"
	require.NoError(t, w.cache.Update(t.Context(), &plan))
	w.reconciled()
	assert.Equal(t, "mariadb", w.instance().Status.ServiceType, "its plan's comes first")

	require.NoError(t, w.cache.Delete(t.Context(), &plan))
	w.reconciled()
	assert.Equal(t, "mariadb", w.instance().Status.ServiceType, "what is gone says nothing else")

	asked := w.instance()
	asked.Spec.ServiceType = "mysql"
	require.NoError(t, w.cache.Update(t.Context(), asked))
	w.reconciled()
	assert.Empty(t, w.instance().Status.ServiceType, "columns show the one or the other")
}
