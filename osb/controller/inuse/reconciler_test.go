package inuse

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// A testEnv has one class or plan of a kind, "it", and what refers to it.
type testEnv struct {
	*testing.T

	kind       kind
	cache      client.Client
	reconciler *reconciler
	clock      *testclock.FakePassiveClock
}

func newTestEnv(t *testing.T, kind kind, edits ...func(client.Object)) *testEnv {
	t.Helper()
	e := &testEnv{T: t, kind: kind, clock: testclock.NewFakePassiveClock(time.Now())}
	it := kind.newObject()
	it.SetName("it")
	if kind.namespaced {
		it.SetNamespace("n")
	}
	for _, edit := range edits {
		edit(it)
	}
	e.cache = newCache(t, kind, it)
	e.reconciler = &reconciler{kind: kind, client: e.cache, live: e.cache, clock: e.clock, mine: func(context.Context, *v1beta1.BrokerTarget, string) (bool, error) { return true, nil }}
	return e
}

// newCache finds users by what they refer to.
func newCache(t *testing.T, kind kind, objects ...client.Object) client.WithWatch {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, v1beta1.AddToScheme(scheme))
	index := func(o client.Object) []string { return []string{kind.referred(decidedOn(o))} }
	return fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(kind.newObject()).
		WithIndex(&v1beta1.ServiceInstance{}, kind.field, index).WithIndex(&v1beta1.ServiceBinding{}, kind.field, index).
		WithObjects(objects...).Build()
}

// referring is the reference of a user of the kind.
func (e *testEnv) referring() v1beta1.DecidedReference {
	all := v1beta1.DecidedReference{
		ClusterServiceClassRef: &v1beta1.ClusterObjectReference{Name: "it"}, ClusterServicePlanRef: &v1beta1.ClusterObjectReference{Name: "it"},
		ServiceClassRef: &v1beta1.LocalObjectReference{Name: "it"}, ServicePlanRef: &v1beta1.LocalObjectReference{Name: "it"},
	}
	if e.kind.namespaced {
		all.ClusterServiceClassRef, all.ClusterServicePlanRef = nil, nil
		return all
	}
	all.ServiceClassRef, all.ServicePlanRef = nil, nil
	return all
}

func (e *testEnv) instance(namespace, name string) *v1beta1.ServiceInstance {
	i := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	i.Spec.DecidedReference = e.referring()
	return i
}

func (e *testEnv) binding(namespace, name string) *v1beta1.ServiceBinding {
	b := &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	b.Spec.DecidedReference = e.referring()
	return b
}

func (e *testEnv) create(objects ...client.Object) {
	e.Helper()
	for _, o := range objects {
		require.NoError(e, e.cache.Create(e.Context(), o))
	}
}

func (e *testEnv) delete(o client.Object) {
	e.Helper()
	require.NoError(e, e.cache.Delete(e.Context(), o))
}

// it is the object; nil if it is gone.
func (e *testEnv) it() v1beta1.OfferingObject {
	e.Helper()
	o := e.kind.newObject()
	err := e.cache.Get(e.Context(), e.at(), o)
	if apierrors.IsNotFound(err) {
		return nil
	}
	require.NoError(e, err)
	return o
}

func (e *testEnv) at() client.ObjectKey {
	if e.kind.namespaced {
		return client.ObjectKey{Namespace: "n", Name: "it"}
	}
	return client.ObjectKey{Name: "it"}
}

func (e *testEnv) pass() reconcile.Result {
	e.Helper()
	result, err := e.reconciler.Reconcile(e.Context(), reconcile.Request{NamespacedName: e.at()})
	require.NoError(e, err)
	return result
}

func (e *testEnv) held() bool {
	e.Helper()
	e.pass()
	return controllerutil.ContainsFinalizer(e.it(), v1beta1.FinalizerServiceCatalog)
}

// deletesWhatWasUsed deletes it and its one user, long enough ago that admission knows of it.
func (e *testEnv) deletesWhatWasUsed() {
	e.Helper()
	i := e.instance("n", "i")
	e.create(i)
	assert.True(e, e.held())
	e.delete(e.it())
	e.delete(i)
	e.clock.SetTime(e.clock.Now().Add(time.Minute))
}

// told is the condition InUse.
func (e *testEnv) told() v1beta1.Condition {
	e.Helper()
	e.pass()
	told, _ := v1beta1.FindCondition(*e.it().GetConditions(), v1beta1.ConditionInUse)
	return told
}

func allKinds() map[string]kind {
	all := map[string]kind{}
	for _, k := range slices.Concat(clusterScoped, namespaced) {
		all[k.name] = k
	}
	return all
}

// What is in use is held, and goes once its last user has left.
func TestDeletionWaitsForUsers(t *testing.T) {
	t.Parallel()
	for name, kind := range allKinds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newTestEnv(t, kind)
			assert.False(t, e.held(), "nothing uses it")
			i, b := e.instance("n", "i"), e.binding("n", "b")
			e.create(i, b)
			assert.True(t, e.held())
			before := e.it().GetResourceVersion()
			assert.True(t, e.held())
			assert.Equal(t, before, e.it().GetResourceVersion(), "it is written once")
			assert.Empty(t, e.told(), "nothing waits")

			e.delete(e.it())
			told := e.told()
			assert.Equal(t, v1beta1.ConditionTrue, told.Status)
			assert.Equal(t, reasonDeletionWaits, told.Reason)
			assert.Contains(t, told.Message, "1 instance and 1 binding")
			assert.Equal(t, told, e.told())
			e.delete(i)
			assert.Contains(t, e.told().Message, "deletion waits for 1 binding")
			e.delete(b)
			e.clock.SetTime(e.it().GetDeletionTimestamp().Add(lagPause / 4)) // not the time of the env, but of the store
			wait := e.pass().RequeueAfter
			assert.Equal(t, lagPause-lagPause/4, wait, "admission may not have heard of the deletion")
			require.NotNil(t, e.it())
			e.clock.SetTime(e.clock.Now().Add(wait))
			e.pass()
			assert.Nil(t, e.it())
			e.pass()
		})
	}
}

// What is not in use any more can be deleted where no controller runs.
func TestUnusedIsNotHeld(t *testing.T) {
	t.Parallel()
	for name, kind := range allKinds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newTestEnv(t, kind)
			i := e.instance("n", "i")
			e.create(i)
			assert.True(t, e.held())
			e.delete(i)
			assert.False(t, e.held())
			e.delete(e.it())
			assert.Nil(t, e.it())
		})
	}
}

// The API server may not answer: the pause after an error counts then.
func TestTheAPIServerDoesNotAnswer(t *testing.T) {
	t.Parallel()
	for name, kind := range allKinds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newTestEnv(t, kind)
			e.reconciler.live = interceptor.NewClient(newCache(t, kind), interceptor.Funcs{
				List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
					return errors.New("away")
				},
			})
			e.deletesWhatWasUsed()
			result, err := e.reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: e.at()})
			require.ErrorContains(t, err, "away")
			assert.Zero(t, result)
			assert.NotNil(t, e.it())
		})
	}
}

// A user that only the API server knows of keeps the object.
func TestTheAPIServerIsAskedBeforeItGoes(t *testing.T) {
	t.Parallel()
	for name, kind := range allKinds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newTestEnv(t, kind)
			e.reconciler.live = newCache(t, kind, e.binding("n", "b"))
			e.deletesWhatWasUsed()
			assert.Equal(t, lagPause, e.pass().RequeueAfter)
			require.NotNil(t, e.it())
			e.reconciler.live = e.cache
			e.pass()
			assert.Nil(t, e.it())
		})
	}
}

// Who can read an object of the cluster is not told who uses it.
func TestMessage(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason string
		kind   kind
		want   string
	}{
		"Cluster": {
			reason: "the users of all namespaces can read it", kind: clusterScoped[1],
			want: "deletion waits for 6 instances and 1 binding in 2 namespaces: " +
				"`kubectl get serviceinstances,servicebindings -A --field-selector spec.clusterServicePlanRef.name=it` lists them",
		},
		"Namespaced": {
			reason: "only what is in the namespace can refer to it", kind: namespaced[1],
			want: "deletion waits for 5 instances and 1 binding: instance i0, instance i1, instance i2, instance i3, instance i4, and 1 more",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newTestEnv(t, test.kind)
			for n := range 5 {
				e.create(e.instance("n", fmt.Sprintf("i%d", n)))
			}
			e.create(e.instance("other", "theirs"), e.binding("n", "b"))
			assert.True(t, e.held())
			e.delete(e.it())
			assert.Equal(t, test.want, e.told().Message, test.reason)
		})
	}
}

// What a broker's catalog makes is not held, nor what another controller handles.
func TestNotHeld(t *testing.T) {
	t.Parallel()
	const others = "example.org/hold"
	owned := func(o client.Object) {
		o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v", Kind: "ClusterServiceBroker", Name: "b", UID: "u", Controller: new(true)}})
	}
	for name, test := range map[string]struct {
		reason string
		edit   func(client.Object)
		others bool
		want   bool
	}{
		"UserDefined": {reason: "it is in use", edit: func(client.Object) {}, want: true},
		"Owned":       {reason: "its broker's relist makes it again", edit: owned},
		"TakenOver": {reason: "a broker lists it by now", edit: func(o client.Object) {
			owned(o)
			o.SetFinalizers([]string{others, v1beta1.FinalizerServiceCatalog})
		}},
		"OfAnotherController": {reason: "its broker names that one", edit: func(client.Object) {}, others: true},
		"BeingDeleted": {reason: "the API server takes no finalizer any more", edit: func(o client.Object) {
			o.SetDeletionTimestamp(&metav1.Time{Time: time.Now()})
			o.SetFinalizers([]string{others})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newTestEnv(t, clusterScoped[1], test.edit)
			e.create(e.instance("n", "i"))
			e.reconciler.mine = func(context.Context, *v1beta1.BrokerTarget, string) (bool, error) { return !test.others, nil }
			assert.Equal(t, test.want, e.held(), test.reason)
			assert.Empty(t, e.told())
		})
	}
}
