package controller

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientevents "k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/broker"
	"github.com/defaultplan/defaultplan/osb/controller/catalog"
	"github.com/defaultplan/defaultplan/osb/controller/credentials"
	"github.com/defaultplan/defaultplan/osb/controller/deposit"
	"github.com/defaultplan/defaultplan/osb/controller/endpoints"
	"github.com/defaultplan/defaultplan/osb/controller/events"
	"github.com/defaultplan/defaultplan/osb/controller/indexes"
	"github.com/defaultplan/defaultplan/osb/controller/metrics"
	"github.com/defaultplan/defaultplan/osb/controller/owned"
	"github.com/defaultplan/defaultplan/osb/controller/parameters"
	"github.com/defaultplan/defaultplan/osb/controller/platform"
	"github.com/defaultplan/defaultplan/osb/controller/policies"
	"github.com/defaultplan/defaultplan/osb/controller/queue"
	"github.com/defaultplan/defaultplan/osb/controller/requests"
	"github.com/defaultplan/defaultplan/osb/controller/resync"
	"github.com/defaultplan/defaultplan/osb/controller/scope"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A bindingWorld has one binding, b, to an instance that is provisioned at a broker.
type bindingWorld struct {
	*testing.T

	broker     *osbtest.Broker
	cache      client.WithWatch
	reconciler *bindings
	exposer    *endpoints.Reconciler
	recorder   *clientevents.FakeRecorder
	registry   *prometheus.Registry
	at         client.ObjectKey
	// requests are those to the API server: all but reads of the cache.
	requests []string
	// fail has the next request of that name fail, and slow has all of them take that long.
	fail map[string]error
	// sees is told of requests before they are made.
	sees func(request string)
	slow map[string]time.Duration
	// may says that users may create EndpointSlices.
	may bool
}

const bindingsCatalog = `{"services":[{"id":"db","name":"mysql","bindable":true,"tags":["ServiceType=mysql"],"plans":[{"id":"small","name":"small"}]}]}`

func newBindingWorld(t *testing.T, edits ...func(*v1beta1.ServiceBinding)) *bindingWorld {
	t.Helper()
	w := &bindingWorld{T: t, at: client.ObjectKey{Namespace: "n", Name: "b"}, recorder: clientevents.NewFakeRecorder(100), registry: prometheus.NewRegistry(), fail: map[string]error{}}
	w.broker = osbtest.Start(t, osbtest.Options{Catalog: []byte(bindingsCatalog)})
	w.broker.Add(osbtest.Instance{ID: "instance-id", ServiceID: "db", PlanID: "small"})
	scheme := runtime.NewScheme()
	require.NoError(t, AddToScheme(scheme))
	w.cache = fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&v1beta1.ServiceBinding{}, &v1beta1.ServiceInstance{}).
		WithIndex(&v1beta1.ClusterServicePlan{}, v1beta1.FieldExternalID, func(o client.Object) []string {
			return []string{o.(*v1beta1.ClusterServicePlan).Spec.ExternalID}
		}).
		WithIndex(&v1beta1.ServicePlan{}, v1beta1.FieldExternalID, func(o client.Object) []string {
			return []string{o.(*v1beta1.ServicePlan).Spec.ExternalID}
		}).
		WithIndex(&v1beta1.ClusterServicePlan{}, v1beta1.FieldClusterServiceClassRefName, func(o client.Object) []string {
			return []string{o.(*v1beta1.ClusterServicePlan).Spec.ClusterServiceClassRef.Name}
		}).
		WithIndex(&v1beta1.ServiceBinding{}, indexes.Instance, indexes.InstanceOf).
		WithIndex(&v1beta1.ServiceBinding{}, v1beta1.FieldInstanceRefName, instanceRefNameOf).
		WithObjects(w.objects(edits)...).Build()
	live := interceptor.NewClient(w.cache, w.counting())
	server := boundServer{requests.Client(live), requests.Reader(live)}
	counted, err := metrics.New(w.registry)
	require.NoError(t, err)
	known := &broker.Clients{
		Reader: w.cache, Live: server, Clock: clock.RealClock{}, Guard: &broker.Guard{Around: around}, Queues: freeQueues(), Reread: time.Minute,
		Config: osb.Config{Timeout: time.Minute}, Relist: func(broker.Key) {},
	}
	w.reconciler = &bindings{
		engine: &engine{
			store: store{client: server, live: server}, brokers: known, events: &events.Events{Recorder: w.recorder}, metrics: counted,
			clock: clock.RealClock{}, timeout: time.Minute, maxPolling: time.Hour, reread: time.Minute,
			names: rate.NewLimiter(resync.PerSecond, resync.PerSecond),
		},
		reader: w.cache, catalog: catalog.NewReader(w.cache), platform: &platform.Profile{Reader: w.cache, ClusterID: "c"},
		policies: &policies.Rules{Cached: w.cache, Live: server}, parameters: parameters.NewReader(server),
	}
	w.reconciler.deposits = deposit.Places{
		Secrets:   credentials.Secrets{Objects: owned.Objects{Client: server, Live: server, Scheme: scheme}, Backoff: patience},
		Endpoints: endpoints.Validator{Clock: clock.RealClock{}}, Current: w.reconciler.engine.store.current,
	}
	w.exposer = &endpoints.Reconciler{
		Services: endpoints.Services{Objects: w.reconciler.deposits.Secrets.Objects, Rules: &endpoints.NetworkRules{Live: server, Clock: clock.RealClock{}, Reread: time.Hour, Beyond: scope.IsBeyond}},
		Cache:    w.cache,
		Mine:     func(context.Context, *v1beta1.ServiceBinding) (bool, error) { return true, nil },
		Pause:    func(*v1beta1.ServiceBinding) time.Duration { return time.Minute },
		Forget:   func(client.ObjectKey) {},
	}
	return w
}

// A boundServer is a client that reads and writes in bounded time.
type boundServer struct {
	client.Client

	reads client.Reader
}

// Get reads one object.
func (s boundServer) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	return s.reads.Get(ctx, key, o, options...)
}

// List reads objects.
func (s boundServer) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return s.reads.List(ctx, list, options...)
}

// objects are those that are there.
func (w *bindingWorld) objects(edits []func(*v1beta1.ServiceBinding)) []client.Object {
	broker := &v1beta1.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: "broker", UID: "broker-uid"}}
	broker.Spec.URL = w.broker.URL
	class := &v1beta1.ClusterServiceClass{ObjectMeta: metav1.ObjectMeta{Name: "db"}}
	class.Spec.ClusterServiceBrokerName, class.Spec.ExternalID, class.Spec.ExternalName = "broker", "db", "mysql"
	class.Spec.Bindable, class.Spec.ServiceType = true, "mysql"
	plan := &v1beta1.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: "small"}}
	plan.Spec.ClusterServiceBrokerName, plan.Spec.ExternalID, plan.Spec.ExternalName = "broker", "small", "small"
	plan.Spec.ClusterServiceClassRef.Name = "db"
	instance := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "i"}}
	instance.Spec.ClusterServiceClassRef, instance.Spec.ClusterServicePlanRef = &v1beta1.ClusterObjectReference{Name: "db"}, &v1beta1.ClusterObjectReference{Name: "small"}
	instance.Status.ProvisionStatus, instance.Status.ExternalID = v1beta1.Provisioned, "instance-id"
	instance.Status.ExternalProperties = &v1beta1.ServiceInstancePropertiesState{
		BrokerTarget: v1beta1.BrokerTarget{ClusterServiceBrokerName: "broker", ClassExternalID: "db", PlanExternalID: "small"},
	}
	binding := &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{
		Namespace: "n", Name: "b", UID: "binding-uid", Generation: 1, Finalizers: []string{v1beta1.FinalizerServiceCatalog},
		Annotations: map[string]string{v1beta1.AnnotationMintedExternalID: "binding-id"},
	}}
	binding.Spec.InstanceRef, binding.Spec.ExternalID = &v1beta1.InstanceReference{Name: "i"}, "binding-id"
	binding.Spec.UserInfo = &v1beta1.UserInfo{Username: "u"}
	binding.Spec.ClusterServiceClassRef, binding.Spec.ClusterServicePlanRef = instance.Spec.ClusterServiceClassRef, instance.Spec.ClusterServicePlanRef
	for _, edit := range edits {
		edit(binding)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "n-uid"}}
	return []client.Object{broker, class, plan, instance, binding, namespace}
}

// requested notes a request, lets it take its time, and says how it is to fail.
func (w *bindingWorld) requested(ctx context.Context, verb string, o any) error {
	kind := reflect.TypeOf(o).Elem().Name()
	request := verb + " " + kind
	w.requests = append(w.requests, request)
	if w.sees != nil {
		w.sees(request)
	}
	if takes := w.slow[request]; takes > 0 {
		select {
		case <-time.After(takes):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	err := w.fail[request]
	delete(w.fail, request)
	return err
}

func (w *bindingWorld) counting() interceptor.Funcs {
	return interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
			if err := w.requested(ctx, "get", o); err != nil {
				return err
			}
			return c.Get(ctx, key, o, options...)
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
			if err := w.requested(ctx, "create", o); err != nil {
				return err
			}
			if review, ok := o.(*authorizationv1.LocalSubjectAccessReview); ok {
				review.Status.Allowed = w.may
				return nil
			}
			return c.Create(ctx, o, options...)
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.UpdateOption) error {
			if err := w.requested(ctx, "update", o); err != nil {
				return err
			}
			return c.Update(ctx, o, options...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, options ...client.PatchOption) error {
			if err := w.requested(ctx, "patch", o); err != nil {
				return err
			}
			return c.Patch(ctx, o, p, options...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
			if err := w.requested(ctx, "delete", o); err != nil {
				return err
			}
			return c.Delete(ctx, o, options...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, options ...client.SubResourcePatchOption) error {
			if err := w.requested(ctx, "patch "+sub, o); err != nil {
				return err
			}
			return c.SubResource(sub).Patch(ctx, o, p, options...)
		},
	}
}

// pass is one pass, and the binding after it; nil if it is gone.
func (w *bindingWorld) pass() (*v1beta1.ServiceBinding, reconcile.Result) {
	w.Helper()
	turn := w.turn()
	result, err := w.reconciler.Reconcile(queue.NewContext(w.Context(), turn), reconcile.Request{NamespacedName: w.at})
	turn.End(nil)
	require.NoError(w, err)
	var b v1beta1.ServiceBinding
	if err := w.cache.Get(w.Context(), w.at, &b); client.IgnoreNotFound(err) != nil || err != nil {
		require.NoError(w, client.IgnoreNotFound(err))
		return nil, result
	}
	return &b, result
}

// exposes is one look of the reconciler of Services, and the binding after it; nil if it is
// gone.
func (w *bindingWorld) exposes() *v1beta1.ServiceBinding {
	w.Helper()
	_, err := w.exposer.Reconcile(w.Context(), reconcile.Request{NamespacedName: w.at})
	require.NoError(w, err)
	b := &v1beta1.ServiceBinding{}
	if err := w.cache.Get(w.Context(), w.at, b); err != nil {
		require.NoError(w, client.IgnoreNotFound(err))
		return nil
	}
	return b
}

// took are the requests since it was last asked.
func (w *bindingWorld) took() []string {
	took := w.requests
	w.requests = nil
	return took
}

// An olderReader has not seen what became of a binding.
type olderReader struct {
	client.Reader

	binding *v1beta1.ServiceBinding
}

func (r olderReader) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	if b, ok := o.(*v1beta1.ServiceBinding); ok {
		r.binding.DeepCopyInto(b)
		return nil
	}
	return r.Reader.Get(ctx, key, o, options...)
}
