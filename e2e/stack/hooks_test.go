package stack

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// A listener is a hook that admits everything and remembers what it was called
// for.
type listener struct {
	mu    sync.Mutex
	calls []string
}

// take returns the calls since the last time, as operation and path, each once:
// an update that changes nothing the API server tries twice, first on what it
// has in its cache.
func (l *listener) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	calls := l.calls
	l.calls = nil
	slices.Sort(calls)
	return slices.Compact(calls)
}

func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	review := admissionv1.AdmissionReview{}
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	trial := strings.Contains(string(review.Request.Object.Raw), "stack-trial")
	review.Response = &admissionv1.AdmissionResponse{
		UID: review.Request.UID, Allowed: !trial,
		Result: &metav1.Status{Code: http.StatusUnprocessableEntity, Reason: metav1.StatusReasonInvalid},
	}
	if !trial {
		l.mu.Lock()
		l.calls = append(l.calls, string(review.Request.Operation)+" "+r.URL.Path)
		l.mu.Unlock()
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(review); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// startWithListener is a stack whose hooks, as shipped, reach a listener.
func startWithListener(t *testing.T) (*Stack, *listener) {
	t.Helper()
	s, err := Start(t.Context(), Options{Dir: t.TempDir(), Bin: "../../bin"})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Stop()) })
	hook := &listener{}
	server := httptest.NewTLSServer(hook)
	t.Cleanup(server.Close)
	s.webhooks = []*webhookProcess{{name: "listener"}}
	s.address = server.Listener.Addr().String()
	s.caBundle = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	require.NoError(t, s.InstallHooks(t.Context()))
	return s, hook
}

// Specs of instances, decided or not.
const (
	decided     = `{"serviceType":"mysql","clusterServiceClassRef":{"name":"c"},"clusterServicePlanRef":{"name":"p"},"externalID":"x"}`
	inNamespace = `{"serviceType":"mysql","serviceClassRef":{"name":"c"},"servicePlanRef":{"name":"p"},"externalID":"x"}`
	numbered    = `{"serviceType":"mysql","clusterServiceClassRef":{"name":"c"},"clusterServicePlanRef":{"name":"p"},"externalID":"x","parameters":{"n":9007199254740993,"m":5}}`
	undecided   = `{"serviceType":"mysql"}`
)

// both halves are called for an operation.
func both(operation string) []string {
	return []string{operation + " /mutate/serviceinstances", operation + " /validate/serviceinstances"}
}

// updates are what the hooks are, and are not, called for.
var updates = map[string]struct {
	reason      string
	spec        string
	terminating bool
	patch       string
	want        []string
}{
	"Nothing":              {reason: "a touch of a decided object costs nothing", spec: decided, patch: `{}`},
	"Label":                {reason: "labels decide nothing", spec: decided, patch: `{"metadata":{"labels":{"a":"b"}}}`},
	"LabelInNamespace":     {reason: "a namespaced plan is a decision too", spec: inNamespace, patch: `{"metadata":{"labels":{"a":"b"}}}`},
	"OtherAnnotation":      {reason: "nor do others' annotations", spec: decided, patch: `{"metadata":{"annotations":{"a":"b"}}}`},
	"NoAnnotations":        {reason: "an object without annotations is no error", spec: decided, patch: `{"metadata":{"annotations":null}}`},
	"Finalizer":            {reason: "finalizers decide nothing", spec: decided, patch: `{"metadata":{"finalizers":["example.org/a","example.org/b"]}}`},
	"Spec":                 {reason: "a changed spec is judged", spec: decided, patch: `{"spec":{"parameters":{"a":1}}}`, want: both("UPDATE")},
	"Rounded":              {reason: "CEL compares after rounding: the judging half sees the new generation", spec: numbered, patch: `{"spec":{"parameters":{"n":9007199254740992.0}}}`, want: both("UPDATE")[1:]},
	"SameNumber":           {reason: "which the API server takes for a new generation, and we for nothing", spec: numbered, patch: `{"spec":{"parameters":{"m":5.0}}}`, want: both("UPDATE")[1:]},
	"AppliedDefaults":      {reason: "admission owns it", spec: decided, patch: `{"metadata":{"annotations":{"` + api.AnnotationAppliedDefaults + `":"{}"}}}`, want: both("UPDATE")},
	"Minted":               {reason: "admission owns it", spec: decided, patch: `{"metadata":{"annotations":{"` + api.AnnotationMintedExternalID + `":"y"}}}`, want: both("UPDATE")},
	"Touch":                {reason: "the keeper's touch reaches admission", spec: undecided, patch: `{}`, want: both("UPDATE")},
	"LabelUndecided":       {reason: "whatever comes may decide it", spec: undecided, patch: `{"metadata":{"labels":{"a":"b"}}}`, want: both("UPDATE")},
	"ReleaseDecided":       {reason: "taking the finalizer off passes without us", spec: decided, terminating: true, patch: `{"metadata":{"finalizers":null}}`},
	"ReleaseUndecided":     {reason: "also where nothing was decided", spec: undecided, terminating: true, patch: `{"metadata":{"finalizers":null}}`},
	"TerminatingSpec":      {reason: "a terminating object's spec stays guarded", spec: decided, terminating: true, patch: `{"spec":{"parameters":{"a":1}}}`, want: both("UPDATE")},
	"TerminatingTouch":     {reason: "a terminating object is never decided", spec: undecided, terminating: true, patch: `{}`},
	"ReleaseAndSpec":       {reason: "a finalizer hides no other change", spec: decided, terminating: true, patch: `{"metadata":{"finalizers":null},"spec":{"parameters":{"a":1}}}`, want: both("UPDATE")},
	"ReleaseAndAnnotation": {reason: "nor a forged annotation", spec: decided, terminating: true, patch: `{"metadata":{"finalizers":null,"annotations":{"` + api.AnnotationMintedExternalID + `":"y"}}}`, want: both("UPDATE")},
}

// TestHooksAreCalledForDecisionsOnly proves the matchConditions as shipped, on
// the real API server.
func TestHooksAreCalledForDecisionsOnly(t *testing.T) { //nolint:tparallel // the cases share the listener
	t.Parallel()
	s, hook := startWithListener(t)
	for name, tc := range updates {
		t.Run(name, func(t *testing.T) { // one after the other: they share the listener
			instance := &api.ServiceInstance{}
			require.NoError(t, json.Unmarshal([]byte(`{"spec":`+tc.spec+`}`), instance))
			instance.Namespace, instance.Name = "default", strings.ToLower(name)
			instance.Finalizers = []string{"example.org/a"}
			require.NoError(t, s.Client().Create(t.Context(), instance))
			assert.Equal(t, both("CREATE"), hook.take(), "each create is decided and judged")
			if tc.terminating {
				s.deleteHeld(t, instance)
			}
			require.NoError(t, s.Client().Patch(t.Context(), instance, client.RawPatch(types.MergePatchType, []byte(tc.patch))))
			assert.Equal(t, tc.want, hook.take(), tc.reason)
		})
	}
	t.Run("Huge", func(t *testing.T) {
		// Comparing specs costs the API server; beyond its budget it would refuse
		// the request, even one that only takes a finalizer off.
		parameters := map[string]any{}
		for i := range 20_000 {
			parameters[fmt.Sprintf("key-%d", i)] = map[string]any{"list": []int{i, i + 1}, "text": "0123456789"}
		}
		content, err := json.Marshal(parameters)
		require.NoError(t, err)
		require.Greater(t, len(content), 1<<20)
		instance := &api.ServiceInstance{}
		require.NoError(t, json.Unmarshal([]byte(`{"spec":`+decided+`}`), instance))
		instance.Namespace, instance.Name = "default", "huge"
		instance.Spec.Parameters = &runtime.RawExtension{Raw: content}
		require.NoError(t, s.Client().Create(t.Context(), instance))
		hook.take()
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`))
		require.NoError(t, s.Client().Patch(t.Context(), instance, patch))
		assert.Empty(t, hook.take())
	})
	t.Run("Status", func(t *testing.T) {
		instance := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "touch"}}
		patch := client.RawPatch(types.MergePatchType, []byte(`{"status":{"provisionStatus":"Provisioned"}}`))
		require.NoError(t, s.Client().Status().Patch(t.Context(), instance, patch))
		assert.Empty(t, hook.take(), "status is not ours to judge")
	})
	t.Run("Kinds", func(t *testing.T) { hooksOfEachKind(t, s, hook) })
	t.Run("Bindings", func(t *testing.T) { bindingsAreCalledWhileUndecided(t, s, hook) })
	t.Run("Uninstalled", func(t *testing.T) {
		require.NoError(t, s.UninstallHooks(t.Context()))
		require.NoError(t, s.UninstallHooks(t.Context()), "twice is no error")
		instance := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "free"}}
		require.NoError(t, s.Client().Create(t.Context(), instance))
		assert.Empty(t, hook.take())
	})
}

func TestReleaserLetsInstancesGo(t *testing.T) {
	t.Parallel()
	s, hook := startWithListener(t)
	releaser, err := NewReleaser(s.RESTConfig())
	require.NoError(t, err)
	go func() { assert.NoError(t, releaser.Run(t.Context())) }()

	held := func(name string, finalizers ...string) *api.ServiceInstance {
		instance := &api.ServiceInstance{}
		instance.Namespace, instance.Name, instance.Finalizers = "default", name, finalizers
		require.NoError(t, s.Client().Create(t.Context(), instance))
		return instance
	}
	kept := held("kept", api.FinalizerServiceCatalog)
	others := held("others", "example.org/a", api.FinalizerServiceCatalog)
	gone := held("gone", api.FinalizerServiceCatalog)
	hook.take()
	require.NoError(t, s.Client().Delete(t.Context(), others))
	require.NoError(t, s.Client().Delete(t.Context(), gone))

	require.NoError(t, wait.Eventually(t.Context(), func() (bool, error) {
		err := s.Client().Get(t.Context(), client.ObjectKeyFromObject(gone), gone)
		return err != nil && client.IgnoreNotFound(err) == nil, nil
	}))
	require.NoError(t, wait.Eventually(t.Context(), func() (bool, error) {
		err := s.Client().Get(t.Context(), client.ObjectKeyFromObject(others), others)
		return len(others.Finalizers) == 1, err
	}))
	assert.Equal(t, []string{"example.org/a"}, others.Finalizers, "others' finalizers are not ours to take")
	require.NoError(t, s.Client().Get(t.Context(), client.ObjectKeyFromObject(kept), kept))
	assert.Equal(t, []string{api.FinalizerServiceCatalog}, kept.Finalizers, "only what is being deleted is released")
	assert.Empty(t, hook.take(), "the hooks are not called for it")
}

func TestWebhookHasTheShippedRights(t *testing.T) {
	t.Parallel()
	s, err := Start(t.Context(), Options{Dir: t.TempDir(), Bin: "../../bin"})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Stop()) })
	cases := map[string]struct {
		reason  string
		args    []string
		allowed bool
	}{
		"ReadPlans":     {reason: "it resolves", args: []string{"list", "clusterserviceplans"}, allowed: true},
		"Touch":         {reason: "that is the keeper's", args: []string{"patch", "serviceinstances", "-A"}},
		"Lease":         {reason: "the keeper is elected, in pods of its own", args: []string{"update", "lease/defaultplan-keeper", "-n", "defaultplan-system"}},
		"OtherLease":    {reason: "by that Lease only", args: []string{"update", "lease/other", "-n", "defaultplan-system"}},
		"Secrets":       {reason: "it reads no Secret", args: []string{"get", "secrets", "-A"}},
		"DeleteObjects": {reason: "it deletes nothing", args: []string{"delete", "serviceinstances", "-A"}},
		"Reviews":       {reason: "it asks what a writer may do elsewhere", args: []string{"create", "subjectaccessreviews"}, allowed: true},
		"Tokens":        {reason: "it asks who reads its metrics", args: []string{"create", "tokenreviews"}, allowed: true},
		"Metrics":       {reason: "that it serves them is no right to read them", args: []string{"get", "/metrics"}},
		"Policies":      {reason: "it judges by them", args: []string{"list", "provisioningpolicies"}, allowed: true},
		"Namespaces":    {reason: "whose labels policies select", args: []string{"watch", "namespaces"}, allowed: true},
		"Hooks":         {reason: "its own configuration is not its to write", args: []string{"patch", "mutatingwebhookconfigurations"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stdout, stderr, err := s.Kubectl(t.Context(), "", append([]string{"--kubeconfig", s.webhookKubeconfig, "auth", "can-i"}, tc.args...)...)
			if tc.allowed {
				require.NoError(t, err, tc.reason+stderr)
				return
			}
			require.Error(t, err, tc.reason)
			assert.Equal(t, "no\n", stdout, tc.reason)
		})
	}
	info, err := os.Stat(s.webhookKubeconfig)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "a token is its owner's only")
}
