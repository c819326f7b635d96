package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"
	serverpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-base/featuregate"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/decision"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// canary is a value that tests put into parameters; the env fails the test when it shows up outside of a patch.
const canary = "canary-5up3r"

// An env is a cluster as admission sees it: the two views of a catalog, and the API server's side of a write.
type env struct {
	tb           testing.TB
	cached, live *reader
	clock        *clocktesting.FakePassiveClock
	options      *options.Options
	shared       *decision.Tools
	reviews      *reviews
	mux          *http.ServeMux
	user         authenticationv1.UserInfo
	dryRun       bool
	// cacheIsCurrent says that the cache was heard of lately.
	cacheIsCurrent bool
	// kind and nameless replace what a review says of its object.
	kind     string
	nameless bool
	uids     int

	mu   sync.Mutex
	logs bytes.Buffer
}

// env is one in which the cache is up to date.
func (s *stock) env() *env { return envOf(s.tb, s, s) }

// envOf is one whose cache has not seen what the API server has.
func envOf(tb testing.TB, cached, live *stock) *env {
	tb.Helper()
	w := &env{
		tb: tb, cached: newReader(tb, "cache", cached.objects), live: newReader(tb, "live", live.objects),
		clock: clocktesting.NewFakePassiveClock(founded.Add(time.Hour)), options: options.New(), mux: http.NewServeMux(),
		user: authenticationv1.UserInfo{Username: "alice", UID: "u-1", Groups: []string{"devs"}, Extra: map[string]authenticationv1.ExtraValue{"scope": {"a"}}},
	}
	w.reviews = &reviews{adopting: true}
	w.cacheIsCurrent = true
	w.shared = share(Readers{Cached: w.cached, Live: w.live, Policies: w.cached.rules(), Access: w.reviews, Current: w.current}, w.options, w.clock)
	serveInstances(w, w.shared)
	serveBindings(w, w.shared, w.clock)
	return w
}

func (w *env) current() bool { return w.cacheIsCurrent }

// Register makes an env a Registrar.
func (w *env) Register(path string, handler http.Handler) { w.mux.Handle(path, handler) }

// restock makes both views show another catalog.
func (w *env) restock(s *stock) {
	w.cached.show(s)
	w.live.show(s)
}

func (w *env) writeLog(_, args string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.logs.WriteString(args + "\n")
}

// log returns what was logged since it was last asked.
func (w *env) log() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.logs.Reset()
	return w.logs.String()
}

// serve is the env's HTTP server, with a logger that the env reads.
func (w *env) serve(writer http.ResponseWriter, request *http.Request) {
	logger := funcr.New(w.writeLog, funcr.Options{})
	w.mux.ServeHTTP(writer, request.WithContext(log.IntoContext(request.Context(), logger)))
}

// post sends a body to one of the endpoints.
func (w *env) post(path string, body []byte) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	request := httptest.NewRequestWithContext(context.Background(), http.MethodPost, path, bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	w.serve(recorder, request)
	return recorder
}

// A reply is what one phase of admission said.
type reply struct {
	*admissionv1.AdmissionResponse

	patched []byte
	// outcome is the outcome that was logged.
	outcome string
}

// An outcome is what the API server makes of a write: the object that is stored, or the answer that refused it.
type outcome struct {
	tb               testing.TB
	mutate, validate reply
	stored           []byte
}

// review is an AdmissionReview of a write, as the API server sends it.
func (w *env) review(object, old []byte) *admissionv1.AdmissionReview {
	w.uids++
	var meta metav1.PartialObjectMetadata
	// An object that cannot be read has no name.
	_ = json.Unmarshal(object, &meta)
	request := &admissionv1.AdmissionRequest{
		UID:       types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", w.uids)),
		Kind:      metav1.GroupVersionKind{Group: v1beta1.GroupName, Version: "v1beta1", Kind: "ServiceInstance"},
		Resource:  metav1.GroupVersionResource{Group: v1beta1.GroupName, Version: "v1beta1", Resource: "serviceinstances"},
		Name:      meta.Name,
		Namespace: "dev",
		Operation: admissionv1.Create,
		UserInfo:  w.user,
		Object:    runtime.RawExtension{Raw: object},
		DryRun:    &w.dryRun,
		Options:   runtime.RawExtension{Raw: []byte(`{"apiVersion":"meta.k8s.io/v1","kind":"CreateOptions"}`)},
	}
	if meta.Kind == "ServiceBinding" {
		request.Kind.Kind, request.Resource.Resource = meta.Kind, "servicebindings"
	}
	if w.kind != "" {
		request.Kind.Kind = w.kind
	}
	if w.nameless {
		request.Name = ""
	}
	if old != nil {
		request.Operation = admissionv1.Update
		request.OldObject = runtime.RawExtension{Raw: old}
	}
	return &admissionv1.AdmissionReview{TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, Request: request}
}

// ask sends a review and holds the answer against what every answer must be.
func (w *env) ask(path string, review *admissionv1.AdmissionReview) reply {
	w.tb.Helper()
	body, err := json.Marshal(review)
	require.NoError(w.tb, err)
	w.log()
	recorder := w.post(path, body)
	require.Equal(w.tb, http.StatusOK, recorder.Code, recorder.Body.String())
	var answered admissionv1.AdmissionReview
	require.NoError(w.tb, json.Unmarshal(recorder.Body.Bytes(), &answered))
	require.NotNil(w.tb, answered.Response)
	a := reply{AdmissionResponse: answered.Response}
	require.Equal(w.tb, review.Request.UID, a.UID)
	logged := w.log()
	if _, rest, found := strings.Cut(logged, `"outcome"="`); found {
		a.outcome, _, _ = strings.Cut(rest, `"`)
	}
	w.lawful(&a, logged)
	a.patched = applied(w.tb, review.Request.Object.Raw, a.Patch)
	return a
}

// lawful checks what holds for every answer.
func (w *env) lawful(a *reply, logged string) {
	w.tb.Helper()
	for _, warning := range a.Warnings {
		require.LessOrEqual(w.tb, utf8.RuneCountInString(warning), 256, warning)
		require.NotContains(w.tb, warning, canary)
	}
	for key, value := range a.AuditAnnotations {
		require.NotContains(w.tb, key+value, canary)
	}
	require.NotContains(w.tb, logged, canary)
	if a.Allowed {
		return
	}
	require.Empty(w.tb, a.Patch, "a denial has no patch")
	require.NotNil(w.tb, a.Result)
	require.Contains(w.tb, []int32{http.StatusBadRequest, http.StatusForbidden, http.StatusUnprocessableEntity}, a.Result.Code)
	require.NotEmpty(w.tb, a.Result.Details.Causes)
	for _, cause := range a.Result.Details.Causes {
		require.NotContains(w.tb, cause.Field+cause.Message, canary)
	}
	require.NotContains(w.tb, a.Result.Message, canary)
}

// applied applies a patch, which may only add, or remove what says nothing, as the API server does.
func applied(tb testing.TB, object, patch []byte) []byte {
	tb.Helper()
	if len(patch) == 0 {
		return object
	}
	var operations []struct {
		Op   string `json:"op"`
		Path string `json:"path"`
	}
	require.NoError(tb, json.Unmarshal(patch, &operations))
	for _, operation := range operations {
		if operation.Op == "remove" && operation.Path == "/spec/instanceRef" {
			require.JSONEq(tb, `{}`, strings.ReplaceAll(at(tb, object, operation.Path), `"name":""`, ``), "it says nothing")
			continue
		}
		require.Equal(tb, "add", operation.Op)
	}
	// The API server's own library: that of v5 takes the key "" for the document.
	decoded, err := serverpatch.DecodePatch(patch)
	require.NoError(tb, err)
	patched, err := decoded.Apply(object)
	require.NoError(tb, err, "%s on %s", patch, object)
	return patched
}

// write sends a write through both phases; old is nil for a new object.
func (w *env) write(object, old []byte) *outcome {
	w.tb.Helper()
	o := &outcome{tb: w.tb}
	review := w.review(object, old)
	if o.mutate = w.ask("/mutate/"+review.Request.Resource.Resource, review); !o.mutate.Allowed {
		return o
	}
	review = w.review(o.mutate.patched, old)
	if o.validate = w.ask("/validate/"+review.Request.Resource.Resource, review); !o.validate.Allowed {
		return o
	}
	assert.Empty(w.tb, o.validate.Patch)
	o.stored = o.mutate.patched
	return o
}

// unseen sends an update through the validating phase alone.
func (w *env) unseen(object, old []byte) *outcome {
	w.tb.Helper()
	review := w.review(object, old)
	return &outcome{
		tb: w.tb, stored: object,
		mutate:   reply{AdmissionResponse: &admissionv1.AdmissionResponse{Allowed: true}},
		validate: w.ask("/validate/"+review.Request.Resource.Resource, review),
	}
}

// create writes a new instance with this spec.
func (w *env) create(spec string) *outcome {
	w.tb.Helper()
	return w.write(instanceOf(spec), nil)
}

// created is what is stored of a new instance with this spec.
func (w *env) created(spec string) []byte {
	w.tb.Helper()
	return w.create(spec).admitted()
}

func (o *outcome) admitted() []byte {
	o.tb.Helper()
	if denied := o.denied(); denied != nil {
		require.FailNow(o.tb, "denied", denied.Message)
	}
	return o.stored
}

// denied is why the write was refused, nil if it was not.
func (o *outcome) denied() *metav1.Status {
	switch {
	case !o.mutate.Allowed:
		return o.mutate.Result
	case !o.validate.Allowed:
		return o.validate.Result
	}
	return nil
}

func (o *outcome) warnings() []string {
	return append(append([]string{}, o.mutate.Warnings...), o.validate.Warnings...)
}

func instanceOf(spec string) []byte { return instanceWith(`{"name":"mydb","namespace":"dev"}`, spec) }

func instanceWith(meta, spec string) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":"ServiceInstance","metadata":%s,"spec":%s}`, meta, spec)
}

// exhaust uses up what the namespace may have confirmed live, for good.
func exhaust(w *env) {
	w.shared.Resolver.Confirms.Set("dev", rate.NewLimiter(0, 0))
}

func gatesOff(w *env, gates ...featuregate.Feature) {
	for _, gate := range gates {
		require.NoError(w.tb, w.options.Gates.SetFromMap(map[string]bool{string(gate): false}))
	}
}
