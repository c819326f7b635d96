package broker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientevents "k8s.io/client-go/tools/events"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/indexes"
	"github.com/defaultplan/defaultplan/osb/controller/indexes/indextest"
	"github.com/defaultplan/defaultplan/osb/controller/relist"
)

const brokersCatalog = `{"services":[{"id":"db","name":"mysql","plans":[{"id":"s","name":"small"},{"id":"l","name":"large","free":false}]}]}`

// A brokerEnv is a broker that is reconciled, with a clock that stands still.
type brokerEnv struct {
	*testing.T

	client     client.Client
	clock      *testclock.FakePassiveClock
	recorder   *clientevents.FakeRecorder
	reconciler *reconciler
	at         client.ObjectKey
	namespaced bool
	// writes counts requests that would write, statuses those of brokers among them.
	writes, statuses int
	// refuseStatus says that a write of a broker's status fails; nil: none does.
	refuseStatus func() bool
	// deletion is what comes of a deletion, which it may carry out; nil: it is carried out.
	deletion func(carryOut func() error) error
	// marked are the kinds of classes and plans whose status was written, in that order.
	marked []string
	// progress is what the broker's condition Reconciling said at each write of its status.
	progress []string

	// answer is what the broker says; etags are what it was asked with.
	answer func(etag string) (*osb.Catalog, error)
	etags  []string
}

func newBrokerEnv(t *testing.T, namespaced bool, objects ...client.Object) *brokerEnv {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, errors.Join(v1beta1.AddToScheme(scheme), corev1.AddToScheme(scheme)))
	w := &brokerEnv{
		T: t, clock: testclock.NewFakePassiveClock(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)), recorder: clientevents.NewFakeRecorder(100),
		at: client.ObjectKey{Name: "b"}, namespaced: namespaced,
	}
	if namespaced {
		w.at.Namespace = "n"
	}
	builder := fake.NewClientBuilder().WithScheme(scheme).WithReturnManagedFields().WithStatusSubresource(
		&v1beta1.ClusterServiceBroker{}, &v1beta1.ServiceBroker{}, &v1beta1.ClusterServiceClass{}, &v1beta1.ServiceClass{}, &v1beta1.ClusterServicePlan{}, &v1beta1.ServicePlan{}, &v1beta1.ServiceInstance{})
	builder = builder.WithInterceptorFuncs(w.counts())
	require.NoError(t, indexes.Add(t.Context(), indextest.Fake{Builder: builder}))
	w.client = builder.WithObjects(append(objects, w.newBroker())...).Build()
	w.answer = func(string) (*osb.Catalog, error) { return brokerCatalog(t, brokersCatalog, ""), nil }
	w.reconciler = newReconciler(Options{
		Client: w.client, Engine: &relist.Engine{Client: w.client, Reader: w.client, Live: w.client, Workers: 1}, Recorder: w.recorder, Clock: w.clock, Interval: 24 * time.Hour,
		Gone: func(Key) {}, Secrets: SecretKeeper{Client: w.client, Live: w.client},
		Fetch: func(_ context.Context, _ client.Object, etag string) (*osb.Catalog, error) {
			w.etags = append(w.etags, etag)
			return w.answer(etag)
		},
	}, w.emptyBroker, &heldCatalogs{most: heldInSum})
	return w
}

func (w *brokerEnv) emptyBroker() client.Object {
	if w.namespaced {
		return &v1beta1.ServiceBroker{}
	}
	return &v1beta1.ClusterServiceBroker{}
}

func (w *brokerEnv) newBroker() client.Object {
	meta := metav1.ObjectMeta{Namespace: w.at.Namespace, Name: "b", UID: "uid-b", Generation: 1, Finalizers: []string{v1beta1.FinalizerServiceCatalog}}
	spec := v1beta1.CommonServiceBrokerSpec{URL: "https://b"}
	if w.namespaced {
		return &v1beta1.ServiceBroker{ObjectMeta: meta, Spec: v1beta1.ServiceBrokerSpec{CommonServiceBrokerSpec: spec}}
	}
	return &v1beta1.ClusterServiceBroker{ObjectMeta: meta, Spec: v1beta1.ClusterServiceBrokerSpec{CommonServiceBrokerSpec: spec}}
}

func (w *brokerEnv) counts() interceptor.Funcs {
	return interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, options ...client.PatchOption) error {
			w.writes++
			return c.Patch(ctx, o, p, options...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, options ...client.SubResourcePatchOption) error {
			w.writes++
			if brokerOf(o).Status == nil {
				w.marked = append(w.marked, fmt.Sprintf("%T", o))
			} else {
				w.statuses++
				reconciling, _ := v1beta1.FindCondition(brokerOf(o).Status.Conditions, v1beta1.ConditionReconciling)
				w.progress = append(w.progress, reconciling.Message)
				if w.refuseStatus != nil && w.refuseStatus() {
					return errors.New("connection refused")
				}
			}
			return c.SubResource(sub).Patch(ctx, o, p, options...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
			w.writes++
			carryOut := func() error { return c.Delete(ctx, o, options...) }
			if w.deletion == nil {
				return carryOut()
			}
			return w.deletion(carryOut)
		},
	}
}

func brokerCatalog(t *testing.T, text, etag string) *osb.Catalog {
	t.Helper()
	catalog := &osb.Catalog{}
	require.NoError(t, json.Unmarshal([]byte(text), catalog))
	catalog.ETag, catalog.Size = etag, len(text)
	return catalog
}

// pass is one pass over the broker, after some time.
func (w *brokerEnv) pass(after time.Duration) reconcile.Result {
	w.Helper()
	w.clock.SetTime(w.clock.Now().Add(after))
	result, err := w.reconciler.Reconcile(w.Context(), reconcile.Request{NamespacedName: w.at})
	require.NoError(w, err)
	return result
}

func (w *brokerEnv) broker() Broker {
	w.Helper()
	o := w.emptyBroker()
	require.NoError(w, w.client.Get(w.Context(), w.at, o))
	return brokerOf(o)
}

// respec changes the broker's spec, as the API server would store it.
func (w *brokerEnv) respec(change func(*v1beta1.CommonServiceBrokerSpec)) {
	w.Helper()
	b := w.broker()
	change(b.Spec)
	b.object.SetGeneration(b.object.GetGeneration() + 1)
	require.NoError(w, w.client.Update(w.Context(), b.object))
}

// conditions are those of the broker, as "Ready=True/FetchedCatalog".
func (w *brokerEnv) conditions() string {
	var all []string
	for _, c := range w.broker().Status.Conditions {
		all = append(all, fmt.Sprintf("%s=%s/%s", c.Type, c.Status, c.Reason))
		assert.Equal(w, w.broker().object.GetGeneration(), c.ObservedGeneration, c.Type)
	}
	return strings.Join(all, " ")
}

// events are those since the last look, as "Normal FetchedCatalog".
func (w *brokerEnv) events() string {
	var all []string
	for len(w.recorder.Events) > 0 {
		words := strings.SplitN(<-w.recorder.Events, " ", 3)
		all = append(all, words[0]+" "+words[1])
	}
	return strings.Join(all, ", ")
}
