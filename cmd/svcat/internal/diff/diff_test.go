package diff

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

func objectOf(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &object.Object))
	return object
}

// TestExitCodes: those of kubectl diff, where 1 is no error.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		err    error
		code   int
	}{
		"Nothing":     {"nothing changes", nil, 0},
		"Changes":     {"something changes", &cli.Failure{Code: exitChanges}, 1},
		"Error":       {"an error is more than 1", errors.New("x"), 2},
		"Usage":       {"and so is a wrong command line", cli.Usagef("x"), 2},
		"Interrupted": {"Ctrl-C is as ever", context.Canceled, cli.ExitInterrupted},
	} {
		assert.Equal(t, tc.code, cli.ExitCode(coded(tc.err)), "%s: %s", name, tc.reason)
	}
	assert.Empty(t, cli.Message(&cli.Failure{Code: exitChanges}), "the exit code is all that is said")
}

// TestCommandLines: what is wrong with one is said before anything is asked.
func TestCommandLines(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"NoFiles":   {[]string{}, "diff needs files: -f FILE"},
		"Arguments": {[]string{"a.yaml"}, `diff takes no arguments, and was given "a.yaml"; name files with -f`},
		"Twice":     {[]string{"-f", "-", "-f", "-"}, "standard input can be read only once: -f - is given 2 times"},
		"Force":     {[]string{"-f", "-", "--force-conflicts"}, "--force-conflicts goes with --server-side only"},
		"NoManager": {[]string{"-f", "-", "--field-manager="}, "--field-manager is empty"},
		"NotOurs":   {[]string{"-f", "-"}, "there is no object of servicecatalog.k8s.io in the files"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			streams, in, _, told := genericiooptions.NewTestIOStreams()
			in.WriteString("apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {password: aHVudGVyMg==}\n")
			cmd := New(cli.NewEnv(streams))
			cmd.SilenceErrors, cmd.SilenceUsage = true, true
			cmd.SetArgs(tc.args)
			err := cmd.ExecuteContext(t.Context())
			assert.Equal(t, 2, cli.ExitCode(err))
			require.ErrorContains(t, err, tc.want)
			assert.NotContains(t, told.String()+err.Error(), "aHVudGVyMg")
		})
	}
}

// TestUnified: what differs with each write is no change, and what a user wrote is.
func TestUnified(t *testing.T) {
	t.Parallel()
	const stored = `
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ServiceInstance
metadata: {name: db, namespace: dev, uid: u, resourceVersion: "1", generation: 1, managedFields: [{manager: a}],
  annotations: {servicecatalog.kubernetes.io/minted-external-id: id, kubectl.kubernetes.io/last-applied-configuration: "{}"}}
spec: {externalID: id, parameters: {size: 1}, userInfo: {username: eve}}
status: {provisionStatus: Provisioned}
`
	was, is := objectOf(t, stored), objectOf(t, stored)
	is.SetGeneration(2)
	is.SetResourceVersion("2")
	is.SetAnnotations(nil)
	for _, field := range [][]string{{"status"}, {"spec", "userInfo"}, {"spec", "externalID"}, {"metadata", "managedFields"}} {
		unstructured.RemoveNestedField(is.Object, field...)
	}
	text, err := unified(was, is)
	require.NoError(t, err)
	assert.Empty(t, text)

	require.NoError(t, unstructured.SetNestedField(is.Object, int64(2), "spec", "parameters", "size"))
	text, err = unified(was, is)
	require.NoError(t, err)
	assert.Equal(t, `diff stored/ServiceInstance/dev/db applied/ServiceInstance/dev/db
--- stored/ServiceInstance/dev/db
+++ applied/ServiceInstance/dev/db
@@ -5,4 +5,4 @@
   namespace: dev
 spec:
   parameters:
-    size: 1
+    size: 2
`, text)

	text, err = unified(nil, was)
	require.NoError(t, err)
	assert.Contains(t, text, "--- /dev/null\n")
	assert.Contains(t, text, "+    size: 1\n")
	assert.NotContains(t, text, "\n- ")
	assert.Equal(t, "ServiceInstance dev/db is new", title(nil, was))
	assert.Equal(t, "ServiceInstance dev/db changes", title(was, is))
}

// TestDocumentsThatFail: one that is wrong does not keep the others from being compared; without
// an API server none can be, which is said.
func TestDocumentsThatFail(t *testing.T) {
	t.Parallel()
	kubeconfig := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(kubeconfig, nil, 0o600))
	const document = "---\napiVersion: servicecatalog.k8s.io/v1beta1\nkind: ServiceInstance\n"
	manifests := document + "metadata: {generateName: db-}\n" + document + "metadata: {name: db, namespace: other}\n" +
		document + "metadata: {name: first}\n" + document + "metadata: {name: second}\n"
	answer := func(closed bool) (told, wrong string) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			_ = json.NewEncoder(w).Encode(metav1.Status{
				TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: http.StatusForbidden,
				Reason: metav1.StatusReasonForbidden, Message: "no right to " + path.Base(r.URL.Path),
			})
		}))
		defer server.Close()
		if closed {
			server.Close()
		}
		streams, in, _, errOut := genericiooptions.NewTestIOStreams()
		in.WriteString(manifests)
		env := cli.NewEnv(streams)
		*env.Flags.KubeConfig, *env.Flags.APIServer, *env.Flags.Namespace = kubeconfig, server.URL, "dev"
		cmd := New(env)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetArgs([]string{"-f", "-"})
		err := cmd.ExecuteContext(t.Context())
		assert.Equal(t, exitFailed, cli.ExitCode(err))
		return errOut.String(), err.Error()
	}
	told, wrong := answer(false)
	for _, part := range []string{"has no metadata.name", `is in namespace "other", and --namespace is "dev"`, "no right to first", "no right to second"} {
		assert.Contains(t, wrong, part)
	}
	assert.Empty(t, told)

	told, wrong = answer(true)
	assert.Contains(t, wrong, `is in namespace "other"`)
	assert.Contains(t, wrong, "first")
	assert.NotContains(t, wrong, "second")
	assert.Equal(t, "not compared: 1 more in the files\n", told)
}

// TestAddressesAreHidden: of a broker's address neither a user nor a token is shown, and yet it is
// told that one changes.
func TestAddressesAreHidden(t *testing.T) {
	t.Parallel()
	broker := func(kind, address string) *unstructured.Unstructured {
		return objectOf(t, "apiVersion: servicecatalog.k8s.io/v1beta1\nkind: "+kind+"\nmetadata: {name: azure}\nspec: {url: \""+address+"\"}\n")
	}
	for _, kind := range []string{"ClusterServiceBroker", "ServiceBroker"} {
		stored := broker(kind, "https://user:hunter2@h/")
		for name, tc := range map[string]struct{ address, want string }{
			"Moved":    {"https://h/", "-  url: https://xxxxx@h/\n+  url: https://h/\n"},
			"Token":    {"https://h/?token=hunter3", "+  url: '(hidden: it may hold a password)'\n"},
			"Hidden":   {"https://user:hunter3@h/", hiddenChange},
			"HalfRead": {"https://user:hunt@er3@h/%zz", "+  url: (not a URL)\n"},
		} {
			text, err := unified(stored, broker(kind, tc.address))
			require.NoError(t, err)
			assert.Contains(t, text, tc.want, name)
			assert.NotContains(t, text, "hunt", name)
		}
		text, err := unified(stored, stored.DeepCopy())
		require.NoError(t, err)
		assert.Empty(t, text, "nothing changes")
	}
}

// TestDropNulls: as kubectl apply creates.
func TestDropNulls(t *testing.T) {
	t.Parallel()
	object := objectOf(t, "a: null\nb: {c: null, d: [null, {e: null, f: 1}]}\n").Object
	dropNulls(object)
	assert.Equal(t, map[string]any{"b": map[string]any{"d": []any{nil, map[string]any{"f": 1.0}}}}, object)
}

// TestLastApplied: what cannot be read is as if nothing was recorded.
func TestLastApplied(t *testing.T) {
	t.Parallel()
	object := &unstructured.Unstructured{Object: map[string]any{}}
	assert.Nil(t, lastApplied(object))
	object.SetAnnotations(map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "{"})
	assert.Nil(t, lastApplied(object))
	object.SetAnnotations(map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "{}"})
	assert.Equal(t, []byte("{}"), lastApplied(object))
}

// provisioned is an instance that its broker has, of plan small with these parameters.
func provisioned(parameters string) *v1beta1.ServiceInstance {
	instance := &v1beta1.ServiceInstance{}
	instance.Generation = 2
	instance.Name, instance.Namespace, instance.Spec.ExternalID = "db", "dev", "id"
	instance.Status.ProvisionStatus, instance.Status.ExternalID = v1beta1.Provisioned, "id"
	instance.Status.ObservedGeneration, instance.Status.ReconciledGeneration = 1, 1
	instance.Spec.Parameters = &runtime.RawExtension{Raw: []byte(parameters)}
	return instance
}

// sent records what the broker was sent.
func sent(t *testing.T, instance *v1beta1.ServiceInstance, shown string) {
	t.Helper()
	set, err := plain(t.Context(), instance)
	require.NoError(t, err)
	instance.Status.ExternalProperties = &v1beta1.ServiceInstancePropertiesState{
		BrokerTarget:                 v1beta1.BrokerTarget{ClassExternalID: "class", PlanExternalID: "small"},
		ClusterServicePlanExternalID: "small", ClusterServicePlanExternalName: "small", ParameterChecksum: set.Checksum,
		Parameters: &runtime.RawExtension{Raw: []byte(shown)},
	}
}

// TestInstanceCalls: the controller's own decision, in words, and never a value.
func TestInstanceCalls(t *testing.T) {
	t.Parallel()
	fromSecret := []v1beta1.ParametersFromSource{{SecretKeyRef: &v1beta1.SecretKeyReference{Name: "s", Key: "k"}}}
	for name, tc := range map[string]struct {
		reason      string
		before, now string
		shown, plan string
		change      func(stored, merged *v1beta1.ServiceInstance)
		want        string
	}{
		"Same":       {reason: "metadata is no broker's affair", before: `{"a":1}`, now: `{"a":1}`, shown: `{"a":1}`, plan: "small", want: "nothing"},
		"Order":      {reason: "the order of keys is no change", before: `{"a":1,"b":2}`, now: `{"b":2,"a":1}`, shown: `{"a":1,"b":2}`, plan: "small", want: "nothing"},
		"Plan":       {reason: "another plan", before: `{"a":1}`, now: `{"a":1}`, shown: `{"a":1}`, plan: "large", want: "PATCH of plan small → large"},
		"Parameters": {reason: "by name, at any depth", before: `{"a":"hunter2","b":{"c":1},"d":1}`, now: `{"a":"hunter3","b":{"c":2},"e":1}`, shown: `{"a":"hunter2","b":{"c":1},"d":1}`, plan: "small", want: "PATCH of parameters /a, /b/c, /d, /e"},
		"Both":       {reason: "in one call", before: `{}`, now: `{"a":1}`, shown: ``, plan: "large", want: "PATCH of plan small → large, parameters /a"},
		"Secrets": {
			reason: "presumed unchanged, as the controller does", before: `{"a":1}`, now: `{"a":1}`, shown: `{"a":1,"p":"<redacted>"}`, plan: "small", want: "nothing",
			change: func(stored, merged *v1beta1.ServiceInstance) {
				stored.Spec.ParametersFrom, merged.Spec.ParametersFrom = fromSecret, fromSecret
				merged.Status.ExternalProperties.ParameterChecksum = "of all"
			},
		},
		"SecretsBeside": {
			reason: "a plain one changes beside them", before: `{"a":1}`, now: `{"a":2}`, shown: `{"a":1,"p":"<redacted>"}`, plan: "small", want: "PATCH of parameters /a, those from Secrets, if their values changed",
			change: func(stored, merged *v1beta1.ServiceInstance) {
				stored.Spec.ParametersFrom, merged.Spec.ParametersFrom = fromSecret, fromSecret
				merged.Status.ExternalProperties.ParameterChecksum = "of all"
			},
		},
		"SecretGone": {
			reason: "the Secret is not named any more", before: `{}`, now: `{}`, shown: `{"p":"<redacted>"}`, plan: "small", want: "PATCH of parameters /p",
			change: func(stored, merged *v1beta1.ServiceInstance) {
				stored.Spec.ParametersFrom = fromSecret
				merged.Status.ExternalProperties.ParameterChecksum = "of all"
			},
		},
		"New": {
			reason: "the broker has nothing yet", before: `{}`, now: `{}`, plan: "small", want: "provision, of plan small",
			change: func(_, merged *v1beta1.ServiceInstance) {
				merged.Status = v1beta1.ServiceInstanceStatus{}
				merged.Annotations = map[string]string{v1beta1.AnnotationMintedExternalID: "id"}
			},
		},
		"UnderWay": {
			reason: "one after the other", before: `{}`, now: `{}`, plan: "large", want: "the operation that is under way is waited for, then PATCH of plan small → large",
			change: func(_, merged *v1beta1.ServiceInstance) {
				merged.Status.CurrentOperation, merged.Status.AsyncOpInProgress = v1beta1.InstanceUpdate, true
				merged.Status.InProgressProperties = merged.Status.ExternalProperties
			},
		},
		"Maintenance": {
			reason: "an update that was asked for", before: `{}`, now: `{}`, plan: "small", want: "PATCH of maintenance version 2.0.0",
			change: func(_, merged *v1beta1.ServiceInstance) { merged.Spec.UpdateRequests = 1 },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stored, merged := provisioned(tc.before), provisioned(tc.now)
			sent(t, stored, tc.shown)
			merged.Status = *stored.Status.DeepCopy()
			if tc.change != nil {
				tc.change(stored, merged)
			}
			resource := lifecycle.OfInstance(merged)
			w, err := wantedOf(t.Context(), stored, merged, &resource)
			require.NoError(t, err)
			w.desired.BrokerTarget = v1beta1.BrokerTarget{ClassExternalID: "class", PlanExternalID: tc.plan}
			w.desired.PlanName, w.desired.PlanUpdatable, w.desired.MaintenanceVersion = tc.plan, true, "2.0.0"
			for _, request := range []*lifecycle.Request{resource.Record.Applied, resource.Record.InProgress} {
				if request != nil && name != "Maintenance" {
					request.MaintenanceVersion = "2.0.0"
				}
			}
			got := w.call(&resource, lifecycle.Facts{Desired: &w.desired, Settled: true, NewID: "id"})
			assert.Equal(t, tc.want, got, tc.reason)
			assert.NotContains(t, got, "hunter", "no value")
		})
	}
}

// TestBindingCalls: credentials are asked for once.
func TestBindingCalls(t *testing.T) {
	t.Parallel()
	waits, decided := &v1beta1.ServiceBinding{}, &v1beta1.ServiceBinding{}
	waits.Spec.InstanceRef, decided.Spec.InstanceRef = &v1beta1.InstanceReference{Name: "db"}, &v1beta1.InstanceReference{Name: "db"}
	decided.Spec.ClusterServicePlanRef = &v1beta1.ClusterObjectReference{Name: "small"}
	decided.Spec.ClusterServiceClassRef = &v1beta1.ClusterObjectReference{Name: "mysql"}
	own := decided.DeepCopy()
	own.Spec.InstanceRef = nil
	assert.Equal(t, "bind", bindingCall(false, &v1beta1.ServiceBinding{}, decided))
	assert.Equal(t, "bind", bindingCall(true, waits, decided), "it was waited for")
	assert.Equal(t, undecided, bindingCall(false, &v1beta1.ServiceBinding{}, waits))
	assert.Equal(t, "provision an instance of its own, then bind", bindingCall(false, &v1beta1.ServiceBinding{}, own))
	assert.Equal(t, "nothing: a binding is never changed at its broker", bindingCall(true, decided, decided))
}
