package broker

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
)

// What fails is told apart, tried again in its time, told once, and forgotten when it
// is over.
func TestBrokerFails(t *testing.T) {
	t.Parallel()
	refused := &osb.Error{Kind: osb.NeverSent, Operation: "fetch catalog", Cause: errors.New("connection refused")}
	cases := map[string]struct {
		reason      string
		failure     error
		secret      bool
		want, event string
		from, to    time.Duration
	}{
		"Refused":    {"A broker that is down is tried again soon.", refused, false, "ErrorFetchingCatalog", "Warning ErrorFetchingCatalog", 5 * time.Second, 6 * time.Second},
		"RetryAfter": {"When it says, but not before.", &osb.Error{Kind: osb.Unavailable, StatusCode: 503, RetryAfter: time.Hour}, false, "ErrorFetchingCatalog", "Warning ErrorFetchingCatalog", time.Hour, time.Hour + time.Second},
		"Auth":       {"Wrong credentials may be put right unseen.", &osb.Error{Kind: osb.Auth, StatusCode: 401}, true, "ErrorFetchingCatalog", "Warning ErrorFetchingCatalog", time.Minute, time.Minute},
		"Secret":     {"So may a Secret that is absent.", errors.New(`the Secret "n/s" is not there`), true, "ErrorGettingAuthCredentials", "Warning ErrorGettingAuthCredentials", time.Minute, time.Minute},
		"NoSecret":   {"Without a Secret, it is not its fault.", errors.New("cannot use caBundle"), false, "ErrorFetchingCatalog", "Warning ErrorFetchingCatalog", 5 * time.Second, 6 * time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newBrokerEnv(t, false)
			if tc.secret {
				b, _ := w.broker().object.(*v1beta1.ClusterServiceBroker)
				b.Spec.AuthInfo = &v1beta1.ClusterServiceBrokerAuthInfo{Basic: &v1beta1.ClusterBasicAuthConfig{SecretRef: &v1beta1.ObjectReference{Namespace: "n", Name: "s"}}}
				require.NoError(t, w.client.Update(t.Context(), b))
			}
			good := w.answer
			w.answer = func(string) (*osb.Catalog, error) { return nil, tc.failure }
			result := w.pass(0)
			assert.Equal(t, "Reconciling=True/"+tc.want+" Ready=False/"+tc.want, w.conditions(), tc.reason)
			assert.Equal(t, tc.event, w.events())
			assert.GreaterOrEqual(t, result.RequeueAfter, tc.from, tc.reason)
			assert.LessOrEqual(t, result.RequeueAfter, tc.to, tc.reason)
			status := w.broker().Status
			assert.Equal(t, int32(1), status.Retries)
			assert.NotNil(t, status.OperationStartTime)
			assert.Nil(t, status.LastCatalogRetrievalTime)
			assert.Equal(t, tc.want, status.LastConditionState)
			w.pass(tc.from - time.Second)
			assert.Len(t, w.etags, 1, "not before its time")
			w.pass(2 * time.Second)
			assert.Len(t, w.etags, 2)
			assert.Empty(t, w.events(), "nothing new")
			assert.Equal(t, int32(2), w.broker().Status.Retries)
			w.answer = good
			w.pass(3 * time.Hour)
			assert.Equal(t, wellDone, w.conditions())
			assert.Equal(t, "Normal FetchedCatalog", w.events())
			status = w.broker().Status
			assert.Zero(t, status.Retries)
			assert.Nil(t, status.NextRetry)
			assert.Nil(t, status.OperationStartTime)
		})
	}
}

// The time between tries grows, up to ten minutes and a tenth.
func TestBrokerBackoff(t *testing.T) {
	t.Parallel()
	b := brokerOf(newBrokerEnv(t, false).newBroker())
	last := time.Duration(0)
	for retries := range int32(40) {
		wait := retryAfter(b, fetching, errors.New("x"), retries)
		assert.LessOrEqual(t, wait, 11*time.Minute)
		if retries < 7 {
			assert.Greater(t, wait, last)
		}
		last = wait
	}
	assert.GreaterOrEqual(t, last, 10*time.Minute)
}

// What cannot be applied is stalled until the spec changes.
func TestBrokerRestrictions(t *testing.T) {
	t.Parallel()
	w := newBrokerEnv(t, false)
	w.respec(func(s *v1beta1.CommonServiceBrokerSpec) {
		s.CatalogRestrictions = &v1beta1.CatalogRestrictions{ServicePlan: []string{"a in b"}}
	})
	assert.Zero(t, w.pass(0).RequeueAfter)
	const reason = "/InvalidCatalogRestrictions"
	assert.Equal(t, "Stalled=True"+reason+" Ready=False"+reason+" Failed=True"+reason, w.conditions())
	assert.Equal(t, "Failed", w.broker().Status.LastConditionState)
	w.pass(time.Hour)
	assert.Empty(t, w.etags)
	w.respec(func(s *v1beta1.CommonServiceBrokerSpec) { s.CatalogRestrictions.ServicePlan[0] = "spec.free=true" })
	w.pass(0)
	assert.Equal(t, wellDone, w.conditions())
	assert.Contains(t, w.broker().Status.Conditions[1].Message, "classes: 1, plans: 1")
}

// What a catalog has wrong is said, and the rest is ready.
func TestBrokerIncomplete(t *testing.T) {
	t.Parallel()
	w := newBrokerEnv(t, false)
	bad := strings.Replace(brokersCatalog, `"small"`, `""`, 1)
	w.answer = func(string) (*osb.Catalog, error) { return brokerCatalog(t, bad, `"1"`), nil }
	w.pass(0)
	assert.Equal(t, "CatalogComplete=False/PartsSkipped Ready=True/FetchedCatalog", w.conditions())
	assert.Equal(t, `plan "plans[0]" of service "mysql": it has no name; its id is "s"`, w.broker().Status.Conditions[0].Message)
	assert.Equal(t, "Normal FetchedCatalog, Warning PartsSkipped", w.events())
	assert.Empty(t, w.broker().Status.CatalogETag)
	assert.Equal(t, int64(1), w.broker().Status.ReconciledGeneration)
	w.pass(30 * time.Hour)
	assert.Empty(t, w.events(), "told once")
	assert.Equal(t, []string{"", ""}, w.etags)
}

// Whether the catalog changed is only asked where the last one was taken over
// completely, for the spec as it is; and what was damaged since is repaired all the
// same.
func TestBrokerETag(t *testing.T) {
	t.Parallel()
	w := newBrokerEnv(t, false)
	w.answer = func(etag string) (*osb.Catalog, error) {
		if etag == `"1"` {
			return nil, nil
		}
		return brokerCatalog(t, brokersCatalog, `"1"`), nil
	}
	w.pass(0)
	assert.Equal(t, `"1"`, w.broker().Status.CatalogETag)
	plan := &v1beta1.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: "s"}}
	require.NoError(t, w.client.Delete(t.Context(), plan))
	w.pass(30 * time.Hour)
	require.NoError(t, w.client.Get(t.Context(), client.ObjectKey{Name: "s"}, plan))
	assert.Equal(t, wellDone, w.conditions())
	assert.Equal(t, `"1"`, w.broker().Status.CatalogETag)
	w.respec(func(s *v1beta1.CommonServiceBrokerSpec) { s.URL = "https://c" })
	w.pass(0)
	again := newReconciler(w.reconciler.Options, w.reconciler.newBroker, &heldCatalogs{most: heldInSum})
	w.reconciler = again // another process has no catalog
	w.pass(30 * time.Hour)
	assert.Equal(t, []string{"", `"1"`, "", ""}, w.etags)
}

// What is not taken over wholly is not held, nor is what brokers that are gone sent; and all
// that is held has a bound.
func TestBrokerHoldsCatalogs(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		breaks func(w *brokerEnv)
	}{
		"Skipped": {"The rest is asked for whether it changed or not.", func(w *brokerEnv) {
			w.answer = func(string) (*osb.Catalog, error) {
				return brokerCatalog(w.T, strings.Replace(brokersCatalog, `"small"`, `""`, 1), `"2"`), nil
			}
			w.pass(30 * time.Hour)
		}},
		"Failed": {"So is what was not written.", func(w *brokerEnv) {
			w.answer = func(string) (*osb.Catalog, error) {
				return brokerCatalog(w.T, strings.Replace(brokersCatalog, `"small"`, `"tiny"`, 1), `"2"`), nil
			}
			w.reconciler.Engine.Client = interceptor.NewClient(w.client.(client.WithWatch), interceptor.Funcs{
				Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
					return errors.New("down")
				},
			})
			w.pass(30 * time.Hour)
		}},
		"Stripped": {"Someone took the finalizer off.", func(w *brokerEnv) {
			b := w.broker().object
			b.SetFinalizers([]string{"example.com/other"})
			require.NoError(w, w.client.Update(w.Context(), b))
			require.NoError(w, w.client.Delete(w.Context(), b))
			w.pass(0)
		}},
		"Gone": {"It went while this process did not look.", func(w *brokerEnv) {
			b := w.broker().object
			b.SetFinalizers(nil)
			require.NoError(w, w.client.Update(w.Context(), b))
			require.NoError(w, w.client.Delete(w.Context(), b))
			w.reconciler.ask(Key{Namespace: w.at.Namespace, Name: w.at.Name})
			w.pass(0)
			assert.Empty(w, w.reconciler.asked, "no broker is to be asked")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newBrokerEnv(t, false)
			w.answer = func(string) (*osb.Catalog, error) { return brokerCatalog(t, brokersCatalog, `"1"`), nil }
			w.pass(0)
			require.Len(t, w.reconciler.held.all, 1)
			tc.breaks(w)
			assert.Empty(t, w.reconciler.held.all, tc.reason)
			assert.Zero(t, w.reconciler.held.bytes)
		})
	}
}

func TestHeldCatalogsAreBounded(t *testing.T) {
	t.Parallel()
	h := &heldCatalogs{most: 10}
	named := func(name string) Broker {
		return brokerOf(&v1beta1.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "1", Generation: 1}})
	}
	for _, name := range []string{"a", "b", "a", "c"} {
		h.hold(named(name), &osb.Catalog{Size: 4})
		require.LessOrEqual(t, h.bytes, h.most)
	}
	assert.Nil(t, h.of(named("b")), "the oldest")
	assert.NotNil(t, h.of(named("a")))
	assert.NotNil(t, h.of(named("c")))
	other := named("a")
	other.object.SetUID("2")
	assert.Nil(t, h.of(other), "another broker of that name")
	h.hold(named("d"), &osb.Catalog{Size: 11})
	assert.Empty(t, h.all, "more than all may have")
	assert.Zero(t, h.bytes)
}

// Objects that cannot be written make the broker not ready, and are tried again.
func TestBrokerObjectsFail(t *testing.T) {
	t.Parallel()
	w := newBrokerEnv(t, false)
	w.reconciler.Engine.Client = interceptor.NewClient(w.client.(client.WithWatch), interceptor.Funcs{
		Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
			return errors.New("down")
		},
	})
	result := w.pass(0)
	assert.Equal(t, "CatalogComplete=True/FetchedCatalog Reconciling=True/ErrorSyncingCatalog Ready=False/ErrorSyncingCatalog", w.conditions())
	assert.Contains(t, w.broker().Status.Conditions[2].Message, `cannot apply ClusterServicePlan "l": down; cannot apply ClusterServicePlan "s": down`)
	assert.Less(t, result.RequeueAfter, 6*time.Second)
	assert.Zero(t, w.broker().Status.ReconciledGeneration)
	w.reconciler.Engine.Client = w.client
	w.pass(6 * time.Second)
	assert.Equal(t, wellDone, w.conditions())
}
