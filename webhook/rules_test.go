package webhook

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/webhook/options"
)

// What is admitted is admitted again as it is; the patch only adds, and applies; the order of the catalog does not matter;
// and what the mutating phase makes, the validating phase accepts, but for what only the latter can know.
func FuzzAdmission(f *testing.F) {
	for seed := range repeated(120) {
		f.Add(seed, seed%7)
	}
	f.Fuzz(func(t *testing.T, seed, stream uint64) {
		w, shuffled := newGenerator(t, seed, stream).env(), newGenerator(t, seed, stream).env()
		shuffled.cached.shuffle = rand.New(rand.NewPCG(stream, seed))
		shuffled.live.shuffle = rand.New(rand.NewPCG(seed, 1))
		g := newGenerator(t, seed, stream+1)
		w.options.Unresolved = g.one(options.UnresolvedReject, options.UnresolvedWait)
		shuffled.options.Unresolved = w.options.Unresolved

		stored := both(t, w, shuffled, instanceOf(g.spec()), nil)
		for range 3 {
			if stored == nil {
				return
			}
			again := both(t, w, shuffled, stored, stored)
			require.Equal(t, string(stored), string(again), "what was admitted is admitted, unchanged")
			next := instanceOf(g.spec())
			if g.IntN(2) == 0 {
				next = changed(t, stored, fmt.Sprintf(`{"spec":%s}`, g.spec()))
			}
			if after := both(t, w, shuffled, next, stored); after != nil {
				stored = after
			}
		}
	})
}

// A binding is decided once, by any order of its catalog; what the mutating phase makes of it, the validating phase accepts,
// but for what only the latter looks at; a touch of a settled one changes nothing, and one of another is never refused.
func FuzzBindingAdmission(f *testing.F) {
	for seed := range repeated(200) {
		f.Add(seed, seed%7)
	}
	f.Fuzz(func(t *testing.T, seed, stream uint64) {
		w, shuffled := newGenerator(t, seed, stream).bindingStock().env(), newGenerator(t, seed, stream).bindingStock().env()
		shuffled.cached.shuffle = rand.New(rand.NewPCG(stream, seed))
		shuffled.live.shuffle = rand.New(rand.NewPCG(seed, 1))
		g := newGenerator(t, seed, stream+1)
		granted := []string{"alice get secrets dev/extra", "alice get secrets dev/creds", "alice get secrets infra/extra"}[:g.IntN(4)]
		w.reviews.granted, shuffled.reviews.granted = granted, granted

		stored := bothBindings(t, w, shuffled, bindingOf(g.bindingSpec()), nil)
		for range 3 {
			if stored == nil {
				return
			}
			touched := bothBindings(t, w, shuffled, stored, stored)
			require.Equal(t, string(stored), string(touched), "what was admitted is admitted, unchanged")
			if g.IntN(4) == 0 {
				later := newGenerator(t, seed+1, stream).bindingStock()
				w.restock(later)
				shuffled.restock(later)
				touched = bothBindings(t, w, shuffled, stored, stored)
				require.NotNil(t, touched, "a touch is not refused, whatever has come")
				require.Equal(t, at(t, stored, "/spec/userInfo"), at(t, touched, "/spec/userInfo"))
				stored = touched
			}
			next := bindingOf(g.bindingSpec())
			if g.IntN(2) == 0 {
				next = changed(t, stored, fmt.Sprintf(`{"spec":%s}`, g.bindingSpec()))
			}
			after := bothBindings(t, w, shuffled, next, stored)
			if settled := at(t, stored, "/spec/clusterServicePlanRef/name") != "absent"; settled && after != nil {
				require.Equal(t, meant(t, stored), meant(t, after), "a settled binding does not change")
			}
			if after != nil {
				stored = after
			}
		}
	})
}

// repeated is how many envs of that many a test tries.
func repeated(envs uint64) uint64 {
	if testing.Short() {
		return envs / 5
	}
	return envs
}

// bothBindings is both for bindings.
func bothBindings(t *testing.T, w, shuffled *env, object, old []byte) []byte {
	t.Helper()
	one, other := w.write(object, old), shuffled.write(object, old)
	require.Empty(t, cmp.Diff(one.mutate.AdmissionResponse, other.mutate.AdmissionResponse), "the order of the catalog decides nothing")
	require.Empty(t, cmp.Diff(one.validate.AdmissionResponse, other.validate.AdmissionResponse), "the order of the catalog decides nothing")
	if one.stored == nil && one.mutate.Allowed {
		expected := []string{"InvalidReference", "SecretReserved", "SecretForbidden", "SchemaViolation", "PolicyDenied", "Immutable", "Disagreement"}
		require.Contains(t, expected, one.validate.outcome, "the validating phase refuses what the other phase made: %s\n%s\n%s", one.validate.Result, one.mutate.patched, old)
	}
	return one.stored
}

// both sends a write to two envs that differ only in the order of their catalogs, and returns what is stored, nil for a
// refusal.
func both(t *testing.T, w, shuffled *env, object, old []byte) []byte {
	t.Helper()
	one, other := w.write(object, old), shuffled.write(object, old)
	require.Empty(t, cmp.Diff(one.mutate.AdmissionResponse, other.mutate.AdmissionResponse), "the order of the catalog decides nothing")
	require.Empty(t, cmp.Diff(one.validate.AdmissionResponse, other.validate.AdmissionResponse), "the order of the catalog decides nothing")
	if one.stored == nil && one.mutate.Allowed {
		// Contradictory names beside references are told by the phase that judges the shape.
		expected := []string{"InvalidReference"}
		if old != nil {
			expected = append(expected, "Immutable", "UpdateRequests", "PlanNotUpdatable")
		}
		require.Contains(t, expected, one.validate.outcome, "the validating phase refuses what the other phase made: %s\n%s\n%s", one.validate.Result, one.mutate.patched, old)
	}
	return one.stored
}

// Any bytes at the endpoints give a well-formed review with the request's UID, or HTTP 4xx.
func FuzzEndpoint(f *testing.F) {
	w := stocked(f, "mysql/db: small* large\ndev|redis/cache: c{tier=gold}=3", planDefaults("db-small", `{"a":{"b":1}}`)).env()
	stored := w.created(byType)
	for _, review := range []*admissionv1.AdmissionReview{
		w.review(instanceOf(byType), nil), w.review(instanceOf(byName), nil), w.review(instanceOf(`{"planSelector":{"matchLabels":{"tier":"gold"}},"parameters":{"a":null}}`), nil),
		w.review(stored, stored), w.review(changed(f, stored, `{"spec":{"clusterServicePlanExternalName":"large","parameters":{"x":[{}]}}}`), stored),
		w.review(instanceOf(`{"parametersFrom":[{"secretKeyRef":{"name":"s","key":"k"}}]}`), stored),
		w.review(bindingOf(rich), nil), w.review(bindingOf(`{"instanceRef":{"name":"mydb"},"externalID":"e-1",`+bindRefs+`}`), nil), w.review(bindingOf(rich), bindingOf(toMydb)),
	} {
		body, err := json.Marshal(review)
		require.NoError(f, err)
		f.Add(body)
	}
	for _, body := range []string{``, `{`, `null`, `[]`, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"x"}}`,
		`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"x","operation":"UPDATE","kind":{"group":"servicecatalog.k8s.io","kind":"ServiceInstance"},"object":{},"oldObject":null}}`} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, path := range []string{MutateInstances, ValidateInstances, MutateBindings, ValidateBindings} {
			answered(t, w, path, body)
		}
	})
}

// answered holds one answer of an endpoint against what any answer is.
func answered(t *testing.T, w *env, path string, body []byte) {
	t.Helper()
	recorder := w.post(path, body)
	if recorder.Code != http.StatusOK {
		require.GreaterOrEqual(t, recorder.Code, 400, recorder.Body.String())
		require.Less(t, recorder.Code, 500, recorder.Body.String())
		return
	}
	var asked, answer admissionv1.AdmissionReview
	require.NoError(t, json.Unmarshal(body, &asked))
	require.NoError(t, json.Unmarshal(recorder.Body.Bytes(), &answer))
	assert.Equal(t, "admission.k8s.io/v1", answer.APIVersion)
	assert.Equal(t, "AdmissionReview", answer.Kind)
	assert.Nil(t, answer.Request)
	require.NotNil(t, answer.Response)
	assert.Equal(t, asked.Request.UID, answer.Response.UID)
	if answer.Response.Allowed {
		return
	}
	require.NotNil(t, answer.Response.Result)
	assert.NotEmpty(t, answer.Response.Result.Message)
	assert.Empty(t, answer.Response.Patch)
}

// shuffleList puts a list in another order.
func shuffleList(list client.ObjectList, order *rand.Rand) error {
	items, err := meta.ExtractList(list)
	if err != nil {
		return fmt.Errorf("cannot shuffle %T: %w", list, err)
	}
	order.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	return meta.SetList(list, items)
}
