package keeper_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/keeper"
)

// A house is a cluster in memory, in a bubble of virtual time: an object store
// with real shared informers over it, a Lease, and hooks that answer touches.
// It allows no write but touches and those of status.
type house struct {
	client.WithWatch

	t         *testing.T
	informers map[string]toolscache.SharedIndexInformer
	leases    *leases
	registry  *prometheus.Registry

	mu      sync.Mutex
	touches []touch
	events  []string
	// statuses are the objects whose status was written, once for each write.
	statuses []statusWrite
	// hooks and bindingHooks answer a touch: they may change the object, or
	// refuse. By default they leave it undecided.
	hooks        func(*v1beta1.ServiceInstance) error
	bindingHooks func(*v1beta1.ServiceBinding) error
}

// A touch is one empty patch that arrived.
type touch struct {
	// object is namespace/name, after "binding " if it is one.
	object string
	after  time.Duration
}

// A statusWrite is one write of a status that arrived.
type statusWrite struct {
	kind, name string
	after      time.Duration
}

// inHouse runs a test in a house that holds objects, and then sees to it that
// nothing is left running.
func inHouse(t *testing.T, objects []client.Object, test func(context.Context, *house)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		h := newHouse(ctx, t, objects)
		test(ctx, h)
		cancel()
		// The bubble fails the test if a goroutine never ends. What is under way may take its
		// time, which stops when the test returns.
		h.pass(time.Minute)
	})
}

// houseScheme is the scheme of all houses.
var houseScheme = sync.OnceValues(func() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(v1beta1.AddToScheme(scheme), corev1.AddToScheme(scheme))
})

func newHouse(ctx context.Context, t *testing.T, objects []client.Object) *house {
	t.Helper()
	scheme, err := houseScheme()
	require.NoError(t, err)
	// With no converter given, Build makes a scheme of all of Kubernetes for each client.
	builder := fake.NewClientBuilder().WithScheme(scheme).WithTypeConverters(managedfields.NewDeducedTypeConverter()).WithObjects(objects...).
		WithStatusSubresource(&v1beta1.ProvisioningPolicy{}, &v1beta1.BindingPolicy{}, &v1beta1.ClusterServiceType{}, &v1beta1.ServiceType{})
	require.NoError(t, keeper.AddIndexes(ctx, indexes{builder}))
	addCatalogIndexes(builder)
	h := &house{
		WithWatch:    builder.Build(),
		t:            t,
		informers:    map[string]toolscache.SharedIndexInformer{},
		leases:       &leases{},
		registry:     prometheus.NewRegistry(),
		hooks:        func(*v1beta1.ServiceInstance) error { return nil },
		bindingHooks: func(*v1beta1.ServiceBinding) error { return nil },
	}
	for _, kind := range []struct {
		object client.Object
		list   client.ObjectList
	}{
		{&v1beta1.ClusterServiceClass{}, &v1beta1.ClusterServiceClassList{}},
		{&v1beta1.ServiceClass{}, &v1beta1.ServiceClassList{}},
		{&v1beta1.ClusterServicePlan{}, &v1beta1.ClusterServicePlanList{}},
		{&v1beta1.ServicePlan{}, &v1beta1.ServicePlanList{}},
		{&v1beta1.ClusterServiceType{}, &v1beta1.ClusterServiceTypeList{}},
		{&v1beta1.ServiceType{}, &v1beta1.ServiceTypeList{}},
		{&v1beta1.ServiceInstance{}, &v1beta1.ServiceInstanceList{}},
		{&v1beta1.ServiceBinding{}, &v1beta1.ServiceBindingList{}},
		{&v1beta1.ProvisioningPolicy{}, &v1beta1.ProvisioningPolicyList{}},
		{&v1beta1.BindingPolicy{}, &v1beta1.BindingPolicyList{}},
		{&corev1.Namespace{}, &corev1.NamespaceList{}},
	} {
		informer := toolscache.NewSharedIndexInformer(listWatch{h.WithWatch, kind.list}, kind.object, time.Hour, nil)
		h.informers[fmt.Sprintf("%T", kind.object)] = informer
		go informer.RunWithContext(ctx)
	}
	synctest.Wait()
	return h
}

// options are those of a keeper in the house.
func (h *house) options() keeper.Options {
	return keeper.Options{
		Lease:  h.candidate("keeper"),
		Client: h, Live: h, Recorder: h, Registerer: h.registry,
	}
}

// candidate is the hold of a process on the Lease.
func (h *house) candidate(identity string) *resourcelock.LeaseLock {
	return &resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Namespace: "defaultplan-system", Name: keeper.DefaultLeaseName},
		Client:    h.leases, LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
	}
}

// keep starts a keeper, and returns what ends it and waits for its end.
func (h *house) keep(ctx context.Context, options keeper.Options) func() {
	h.t.Helper()
	return h.keepIn(ctx, options, houseCache{h})
}

// keepIn starts a keeper that listens to a cache.
func (h *house) keepIn(ctx context.Context, options keeper.Options, of cache.Cache) func() {
	h.t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	ended := h.start(ctx, options, of)
	return func() {
		cancel()
		require.NoError(h.t, <-ended)
	}
}

// start starts a keeper in a manager of its own, as a process does, and returns how that
// ends.
func (h *house) start(ctx context.Context, options keeper.Options, of cache.Cache) <-chan error {
	h.t.Helper()
	managed := manager.Options{
		Scheme: h.Scheme(), Metrics: server.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: new(true)},
		NewCache:       func(*rest.Config, cache.Options) (cache.Cache, error) { return of, nil },
		NewClient:      func(*rest.Config, client.Options) (client.Client, error) { return h, nil },
		MapperProvider: func(*rest.Config, *http.Client) (apimeta.RESTMapper, error) { return h.RESTMapper(), nil },
		Logger:         logr.Discard(),
	}
	keeper.Elect(&managed, options.Lease)
	mgr, err := manager.New(&rest.Config{}, managed)
	require.NoError(h.t, err)
	k, err := keeper.New(options)
	require.NoError(h.t, err)
	require.NoError(h.t, k.AddTo(mgr))
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	// It looks ten times a second whether it has heard of all that was there.
	h.pass(110 * time.Millisecond)
	return ended
}

// pass lets virtual time pass, until everything that is due has happened.
func (*house) pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// settled starts a keeper and lets it be done with what waits.
func (h *house) settled(ctx context.Context) {
	h.t.Helper()
	h.keep(ctx, h.options())
	h.pass(time.Minute)
	h.forget()
}

// touched are the objects touched since forget, sorted, as with touch.
func (h *house) touched() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	names := make([]string, 0, len(h.touches))
	for _, touch := range h.touches {
		names = append(names, touch.object)
	}
	slices.Sort(names)
	return names
}

func (h *house) told() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Sorted(slices.Values(h.events))
}

func (h *house) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.touches, h.events, h.statuses = nil, nil, nil
}

// A houseCache is what the house has, as a manager's cache.
type houseCache struct{ *house }

// Start does nothing: the informers run as long as the house stands.
func (houseCache) Start(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

func (houseCache) WaitForCacheSync(context.Context) bool { return true }

// GetInformer gives the informer of a kind, once it has synced.
func (c houseCache) GetInformer(ctx context.Context, object client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	informer := c.informers[fmt.Sprintf("%T", object)]
	if !toolscache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return nil, ctx.Err()
	}
	return listenedTo{informer, ctx}, nil
}

func (houseCache) GetInformerForKind(context.Context, schema.GroupVersionKind, ...cache.InformerGetOption) (cache.Informer, error) {
	return nil, errors.New("asked for by none")
}

func (houseCache) RemoveInformer(context.Context, client.Object) error { return nil }

func (houseCache) IndexField(context.Context, client.Object, string, client.IndexerFunc) error {
	return nil
}

// listenedTo is an informer that outlives those who listen to it: they are processes.
type listenedTo struct {
	toolscache.SharedIndexInformer

	// ctx is that of who listens.
	ctx context.Context
}

// AddEventHandlerWithOptions removes the handler when its process ends.
func (i listenedTo) AddEventHandlerWithOptions(h toolscache.ResourceEventHandler, options toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	registration, err := i.SharedIndexInformer.AddEventHandlerWithOptions(h, options)
	context.AfterFunc(i.ctx, func() { _ = i.RemoveEventHandler(registration) })
	return registration, err
}

// A listWatch serves an informer from the store.
type listWatch struct {
	client client.WithWatch
	list   client.ObjectList
}

func (l listWatch) List(metav1.ListOptions) (runtime.Object, error) {
	list, _ := l.list.DeepCopyObject().(client.ObjectList)
	return list, l.client.List(context.Background(), list)
}

func (l listWatch) Watch(metav1.ListOptions) (watch.Interface, error) {
	list, _ := l.list.DeepCopyObject().(client.ObjectList)
	return l.client.Watch(context.Background(), list)
}

// IsWatchListSemanticsUnSupported has the informer list before it watches.
func (listWatch) IsWatchListSemanticsUnSupported() bool { return true }

// indexes registers the keeper's index with the store.
type indexes struct {
	builder *fake.ClientBuilder
}

func (i indexes) IndexField(_ context.Context, object client.Object, field string, value client.IndexerFunc) error {
	i.builder.WithIndex(object, field, value)
	return nil
}

// addCatalogIndexes registers those that the webhook registers for itself.
func addCatalogIndexes(builder *fake.ClientBuilder) {
	builder.
		WithIndex(&v1beta1.ClusterServiceClass{}, v1beta1.FieldServiceType, func(o client.Object) []string {
			return []string{o.(*v1beta1.ClusterServiceClass).Spec.ServiceType}
		}).
		WithIndex(&v1beta1.ServiceClass{}, v1beta1.FieldServiceType, func(o client.Object) []string {
			return []string{o.(*v1beta1.ServiceClass).Spec.ServiceType}
		}).
		WithIndex(&v1beta1.ClusterServicePlan{}, v1beta1.FieldServiceType, func(o client.Object) []string {
			return []string{o.(*v1beta1.ClusterServicePlan).Spec.ServiceType}
		}).
		WithIndex(&v1beta1.ServicePlan{}, v1beta1.FieldServiceType, func(o client.Object) []string {
			return []string{o.(*v1beta1.ServicePlan).Spec.ServiceType}
		}).
		WithIndex(&v1beta1.ClusterServicePlan{}, v1beta1.FieldExternalID, func(o client.Object) []string {
			return []string{o.(*v1beta1.ClusterServicePlan).Spec.ExternalID}
		}).
		WithIndex(&v1beta1.ServicePlan{}, v1beta1.FieldExternalID, func(o client.Object) []string {
			return []string{o.(*v1beta1.ServicePlan).Spec.ExternalID}
		}).
		WithIndex(&v1beta1.ClusterServicePlan{}, v1beta1.FieldClusterServiceClassRefName, func(o client.Object) []string {
			return []string{o.(*v1beta1.ClusterServicePlan).Spec.ClusterServiceClassRef.Name}
		}).
		WithIndex(&v1beta1.ServicePlan{}, v1beta1.FieldServiceClassRefName, func(o client.Object) []string {
			return []string{o.(*v1beta1.ServicePlan).Spec.ServiceClassRef.Name}
		})
}
