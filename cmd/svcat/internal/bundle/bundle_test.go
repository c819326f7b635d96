package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

const (
	canary = "s3cr3t-canary"
	system = "defaultplan-system"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// untar is what is in an archive, by name.
func untar(t *testing.T, a *Archive) map[string]string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, a.Write(&out))
	plain, err := gzip.NewReader(&out)
	require.NoError(t, err)
	files := map[string]string{}
	for archive := tar.NewReader(plain); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		require.NoError(t, err)
		content, err := io.ReadAll(archive)
		require.NoError(t, err)
		files[strings.TrimPrefix(header.Name, folder+"/")] = string(content)
	}
}

// certificate is PEM text of one that holds until a year from now.
func certificate(t *testing.T) []byte {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: now, NotAfter: now.AddDate(1, 0, 0)}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	require.NoError(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
}

// meta is metadata with a canary wherever one fits.
func meta(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"label": canary}, Annotations: map[string]string{
		"kubectl.kubernetes.io/last-applied-configuration": `{"spec":{"parameters":{"password":"` + canary + `"}}}`,
		v1beta1.AnnotationAppliedDefaults:                  canary,
	}}
}

func conditions() []v1beta1.Condition {
	return []v1beta1.Condition{
		{Type: v1beta1.ConditionReady, Status: v1beta1.ConditionFalse, Reason: "BrokerRejected", Message: "the broker said " + canary},
		{Type: "Odd", Status: v1beta1.ConditionTrue, Reason: "a reason of " + canary},
	}
}

// poisoned are objects with canaries in every place that could hold a secret.
func poisoned(t *testing.T) []client.Object {
	t.Helper()
	raw := &runtime.RawExtension{Raw: []byte(`{"password":"` + canary + `"}`)}
	instance := &v1beta1.ServiceInstance{ObjectMeta: meta("shop", "db")}
	instance.Spec.ServiceType, instance.Spec.Parameters = "mysql", raw
	instance.Spec.ParametersFrom = []v1beta1.ParametersFromSource{{SecretKeyRef: &v1beta1.SecretKeyReference{Name: "more", Key: canary}}}
	instance.Spec.ClusterServicePlanRef = &v1beta1.ClusterObjectReference{Name: "mysql-small"}
	instance.Status.Conditions = conditions()
	instance.Status.ExternalProperties = &v1beta1.ServiceInstancePropertiesState{Parameters: raw}
	binding := &v1beta1.ServiceBinding{ObjectMeta: meta("shop", "db")}
	binding.Spec.InstanceRef, binding.Spec.Parameters, binding.Spec.SecretName = &v1beta1.InstanceReference{Name: "db"}, raw, "db"
	binding.Status.Conditions = conditions()
	broker := &v1beta1.ClusterServiceBroker{ObjectMeta: meta("", "azure")}
	broker.Spec.URL = "https://user:" + canary + "@broker.example.com/?token=" + canary
	broker.Spec.CABundle = []byte(canary)
	broker.Spec.AuthInfo = &v1beta1.ClusterServiceBrokerAuthInfo{Basic: &v1beta1.ClusterBasicAuthConfig{SecretRef: &v1beta1.ObjectReference{Namespace: system, Name: "auth"}}}
	broker.Status.Conditions = conditions()
	own := &v1beta1.ServiceBroker{ObjectMeta: meta("shop", "own")}
	own.Spec.URL = broker.Spec.URL
	serviceType := &v1beta1.ClusterServiceType{ObjectMeta: meta("", "mysql")}
	serviceType.Status.DefaultPlan = "azure/sm\nall\u009b\u202e" + strings.Repeat("x", 1000)
	secret := &corev1.Secret{ObjectMeta: meta(system, "auth"), Type: corev1.SecretTypeBasicAuth, Data: map[string][]byte{
		"password": []byte(canary), "tls.crt": append(certificate(t), canary...), "tls.key": []byte(canary),
	}}
	config := &corev1.ConfigMap{ObjectMeta: meta(system, "settings"), Data: map[string]string{"key": canary}}
	event := &corev1.Event{ObjectMeta: meta("shop", "db.1"), Type: "Warning", Reason: "BrokerRejected", Message: canary, InvolvedObject: corev1.ObjectReference{
		APIVersion: v1beta1.GroupVersion.String(), Kind: "ServiceInstance", Namespace: "shop", Name: "db",
	}}
	foreign := &corev1.Event{ObjectMeta: meta("shop", "pod.1"), Type: "Normal", Reason: "Foreign", InvolvedObject: corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "pod"}}
	pod := &corev1.Pod{ObjectMeta: meta(system, "webhook-1")}
	pod.Spec.Containers = []corev1.Container{{Name: "webhook", Ports: []corev1.ContainerPort{{Name: "metrics"}}, Env: []corev1.EnvVar{{Name: "A", Value: canary}}}}
	pod.Labels["app.kubernetes.io/name"] = "defaultplan"
	other := pod.DeepCopy()
	other.Name, other.Labels = "other", nil
	return []client.Object{instance, binding, broker, own, serviceType, secret, config, event, foreign, pod, other, deployment(), hooks(t)}
}

func deployment() client.Object {
	d := &appsv1.Deployment{ObjectMeta: meta(system, "webhook")}
	d.Spec.Template.ObjectMeta = meta("", "")
	d.Spec.Template.Spec.Containers = []corev1.Container{{
		Name: "webhook", Image: "registry.example.com/webhook:v1", Command: []string{canary},
		Args: []string{
			"--unresolved=wait", "--tracing-endpoint=https://user:" + canary + "@otel.example.com/v1?key=" + canary,
			"--api-token=" + canary, "--otlp-headers=x=" + canary, "--password", canary, "--odd=" + canary + "@host",
		},
		Env: []corev1.EnvVar{{Name: "TOKEN", Value: canary}},
	}}
	return d
}

func hooks(t *testing.T) client.Object {
	t.Helper()
	address := "https://user:" + canary + "@webhook.example.com/mutate"
	return &admissionv1.MutatingWebhookConfiguration{ObjectMeta: meta("", "defaultplan-webhook"), Webhooks: []admissionv1.MutatingWebhook{{
		Name:         "instances",
		ClientConfig: admissionv1.WebhookClientConfig{URL: &address, CABundle: append([]byte(canary+"\n"), certificate(t)...)},
		Rules:        []admissionv1.RuleWithOperations{{Rule: admissionv1.Rule{APIGroups: []string{v1beta1.GroupName}, Resources: []string{"serviceinstances"}}}},
	}}}
}

func collectorOf(t *testing.T, refuse func(list client.ObjectList, namespace string) error, objects ...client.Object) *Collector {
	t.Helper()
	scheme, err := cli.Scheme()
	require.NoError(t, err)
	reader := interceptor.NewClient(fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build(), interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			asked := (&client.ListOptions{}).ApplyOptions(options)
			if err := refuse(list, asked.Namespace); err != nil {
				return err
			}
			return c.List(ctx, list, options...)
		},
	})
	return &Collector{
		Reader: reader, System: system, Namespace: "shop", Now: now,
		Proxy: func(_ context.Context, path string) (io.ReadCloser, error) {
			if strings.Contains(path, "/https:") {
				return nil, errors.New("plain HTTP is served there: https://user:" + canary + "@pod/metrics")
			}
			return io.NopCloser(strings.NewReader("up 1\n")), nil
		},
		ServerVersion: func(context.Context) (string, error) { return "v1.36.0", nil },
	}
}

func TestBundleHoldsNoSecret(t *testing.T) {
	t.Parallel()
	all := func(client.ObjectList, string) error { return nil }
	archive := collectorOf(t, all, poisoned(t)...).Collect(t.Context(), map[string]string{"whole": "no"}, true)
	files := untar(t, archive)
	for name, text := range files {
		for _, form := range []string{canary, base64.StdEncoding.EncodeToString([]byte(canary)), `password":`} {
			assert.NotContains(t, text, form, name)
		}
	}
	for name, wants := range map[string][]string{
		"README.txt":                 {"Files:\n", "serviceinstances.json ", "Left out on purpose", "nothing: all of it could be read"},
		"check.json":                 {`"whole": "no"`},
		"versions.json":              {`"apiServer": "v1.36.0"`, `"registry.example.com/webhook:v1"`},
		"deployments.json":           {`"--unresolved=wait"`, `"--tracing-endpoint=https://otel.example.com"`, `"--api-token=(left out)"`, `"TOKEN"`},
		"webhooks.json":              {`"url": "https://webhook.example.com"`, `"notAfter": "2027-03-01T12:00:00Z"`},
		"secrets.json":               {`"name": "auth"`, `"kubernetes.io/basic-auth"`, `"tls.key"`, `"notAfter": "2027-03-01T12:00:00Z"`},
		"configmaps.json":            {`"settings"`},
		"clusterservicebrokers.json": {`"azure"`, `"BrokerRejected"`},
		"servicebrokers.json":        {`"own"`},
		"clusterservicetypes.json":   {`"mysql"`, `"status.defaultPlan": "azure/sm all` + "\ufffd\ufffdx", "x…\""},
		"serviceinstances.json":      {`"spec.clusterServicePlanRef.name": "mysql-small"`, `"BrokerRejected"`, `"(left out)"`},
		"servicebindings.json":       {`"spec.secretName": "db"`},
		"events.json":                {`"ServiceInstance shop/db"`, `"BrokerRejected"`},
		"metrics/webhook-1.txt":      {"up 1\n"},
	} {
		for _, want := range wants {
			assert.Contains(t, files[name], want, name)
		}
		if strings.HasSuffix(name, ".json") {
			assert.True(t, json.Valid([]byte(files[name])), name)
		}
	}
	assert.NotContains(t, files, "metrics/other.txt", "nor is a Pod that is not the installation's")
	assert.NotContains(t, files["events.json"], "Foreign", "what is not of the catalog is not support's affair")
}

func TestBundleOfWhoMayReadLittle(t *testing.T) {
	t.Parallel()
	little := func(list client.ObjectList, namespace string) error {
		if namespace == "shop" {
			return nil
		}
		return apierrors.NewForbidden(schema.GroupResource{Resource: "things"}, "", errors.New(`user "jane" may not`))
	}
	archive := collectorOf(t, little, poisoned(t)...).Collect(t.Context(), nil, true)
	files := untar(t, archive)
	assert.Contains(t, files["serviceinstances.json"], `"name": "db"`, "of the namespace that may be read")
	for _, absent := range []string{"secrets.json", "clusterservicebrokers.json", "webhooks.json"} {
		assert.NotContains(t, files, absent)
		assert.Contains(t, files["README.txt"], "- "+absent, "it says so")
	}
	for _, line := range []string{"- serviceinstances.json of namespaces other than shop: ", "- metrics of the Pods of namespace defaultplan-system: ", `user "jane" may not`} {
		assert.Contains(t, files["README.txt"], line)
	}
	assert.Contains(t, archive.Summary(), "could not be read, README.txt lists them")
}

func TestBundleWithoutCluster(t *testing.T) {
	t.Parallel()
	asked := func(client.ObjectList, string) error {
		t.Error("the cluster is not asked again")
		return nil
	}
	files := untar(t, collectorOf(t, asked).Collect(t.Context(), []string{"cluster"}, false))
	assert.Len(t, files, 3)
	assert.Contains(t, files["README.txt"], "- everything of the cluster: the API server cannot be reached: check.json says why")
	assert.Contains(t, files["versions.json"], `"svcat":`)
}

func TestMetricsSayWhyNot(t *testing.T) {
	t.Parallel()
	all := func(client.ObjectList, string) error { return nil }
	c := collectorOf(t, all, poisoned(t)...)
	c.Proxy = func(context.Context, string) (io.ReadCloser, error) {
		return nil, errors.New("not https://user:" + canary + "@pod/metrics")
	}
	files := untar(t, c.Collect(t.Context(), nil, true))
	assert.Contains(t, files["README.txt"], "- metrics of Pod webhook-1: not https://pod/metrics")
	assert.NotContains(t, files, "metrics/webhook-1.txt")
}

// TestMetricsAreBounded: what a process serves fills no disk, and is not asked for twice.
func TestMetricsAreBounded(t *testing.T) {
	t.Parallel()
	c := collectorOf(t, func(client.ObjectList, string) error { return nil }, poisoned(t)...)
	var asked []string
	c.Proxy = func(_ context.Context, path string) (io.ReadCloser, error) {
		asked = append(asked, path)
		return io.NopCloser(endless{}), nil
	}
	files := untar(t, c.Collect(t.Context(), nil, true))
	assert.Contains(t, files["README.txt"], "- metrics of Pod webhook-1: they are more than 8 MiB")
	assert.NotContains(t, files, "metrics/webhook-1.txt")
	assert.Equal(t, []string{"/api/v1/namespaces/" + system + "/pods/https:webhook-1:metrics/proxy/metrics"}, asked)
}

// endless is text without an end.
type endless struct{}

func (endless) Read(into []byte) (int, error) { return len(into), nil }

func TestRedacted(t *testing.T) {
	t.Parallel()
	for arg, want := range map[string]string{
		"--unresolved=wait":                        "--unresolved=wait",
		"--leader-elect":                           "--leader-elect",
		"--api-key=x":                              "--api-key=(left out)",
		"--db-pass=x":                              "--db-pass=(left out)",
		"--pwd=x":                                  "--pwd=(left out)",
		"--DSN=x":                                  "--DSN=(left out)",
		"--cookie=x":                               "--cookie=(left out)",
		"--session-id=x":                           "--session-id=(left out)",
		"--endpoint=https://h:4317/T0K3N?a=b#c":    "--endpoint=https://h:4317",
		"--endpoint=https://u:p@h/T0K3N":           "--endpoint=https://h",
		"--endpoint=https://u:p@h%zz/T0K3N":        "--endpoint=(left out)",
		"--endpoints=https://a/T0K3N,https://b/":   "--endpoints=https://a",
		"--named=hook=https://hooks.example/T0K3N": "--named=(left out)",
		"--dial=u:p@tcp(h)/db":                     "--dial=(left out)",
		"positional":                               "(left out)",
	} {
		assert.Equal(t, []string{want}, redacted([]string{arg}), arg)
	}
}

// TestEventsAreNotForged: an editor of a namespace brings neither text nor times to come into a
// bundle.
func TestEventsAreNotForged(t *testing.T) {
	t.Parallel()
	event := func(name string, of corev1.ObjectReference) client.Object {
		of.APIVersion = v1beta1.GroupVersion.String()
		return &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, InvolvedObject: of, Type: "Normal", Reason: "Made",
			FirstTimestamp: metav1.NewTime(now.AddDate(10, 0, 0)), LastTimestamp: metav1.NewTime(now.AddDate(100, 0, 0)),
		}
	}
	c := collectorOf(t, func(client.ObjectList, string) error { return nil },
		event("a", corev1.ObjectReference{Kind: "read this: " + canary, Namespace: "shop", Name: "db"}),
		event("b", corev1.ObjectReference{Kind: "ServiceInstance", Namespace: "shop", Name: canary + "\n\u202e"}),
		event("c", corev1.ObjectReference{Kind: "ServiceInstance", Namespace: canary + " ", Name: "db"}),
	)
	text := untar(t, c.Collect(t.Context(), nil, true))["events.json"]
	for _, want := range []string{`"? shop/db"`, `"ServiceInstance shop/?"`, `"ServiceInstance ?/db"`, `"first": "2026-03-01T12:00:00Z"`, `"last": "2026-03-01T12:00:00Z"`} {
		assert.Contains(t, text, want)
	}
	assert.NotContains(t, text, canary)
	assert.NotContains(t, text, "2126")
	assert.NotContains(t, text, "2036")
}

// TestEventsAreBounded: the last ones are there, and README.txt counts the others.
func TestEventsAreBounded(t *testing.T) {
	t.Parallel()
	var found occurrences
	const all = 5*shownEvents + 7
	for i := range all {
		found.add(occurrence{Count: int32(i), Last: metav1.NewTime(now.Add(-time.Duration(i*11%all) * time.Second))})
		require.Less(t, len(found.last), 2*shownEvents)
	}
	found.cut()
	require.Len(t, found.last, shownEvents)
	assert.Equal(t, all-shownEvents, found.left)
	for i := range found.last {
		require.Equal(t, now.Add(-time.Duration(i)*time.Second), found.last[i].Last.Time)
	}
	objects := make([]client.Object, 0, shownEvents+3)
	for i := range cap(objects) {
		objects = append(objects, &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: fmt.Sprintf("e%d", i)}})
	}
	c := collectorOf(t, func(client.ObjectList, string) error { return nil }, objects...)
	assert.Contains(t, untar(t, c.Collect(t.Context(), nil, true))["README.txt"], "the last 1000, older ones are left out: 3\n")
}
