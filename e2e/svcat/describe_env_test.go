package svcat_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// displayCatalog is what the broker of a display offers: a class db of type mysql, whose
// plan small is suggested. SUFFIX makes names unique, ID does so in IDs.
const displayCatalog = `{"services": [{
  "id": "db-ID", "name": "db-SUFFIX", "description": "Databases", "bindable": true, "plan_updateable": true,
  "tags": ["ServiceType=mysql-SUFFIX", "sql"],
  "metadata": {
    "defaultProvisionParameters": {"location": "eastus", "firewall": {"ips": ["10.1.1.1"], "open": false}},
    "defaultBindParameters": {"role": "reader"},
    "defaultSecretTransforms": [{"renameKey": {"from": "uri", "to": "DATABASE_URL"}}]
  },
  "plans": [
    {"id": "small-ID", "name": "small", "description": "A small one", "free": true,
     "metadata": {"tags": ["SuggestedPlan=true", "Cores=4", "Memory=16Gi"], "defaultProvisionParameters": {"backup": "1d"}},
     "schemas": {"service_instance": {"create": {"parameters": {"type": "object", "properties": {"location": {"type": "string"}}}}}}},
    {"id": "large-ID", "name": "large", "free": false, "metadata": {"tags": ["Cores=64"]},
     "description": "A large one for those who have much to keep and want it back within the second, day and night, in every region"}
  ]
}]}`

// A display is an environment with a broker, an instance mydb and a binding mydb-admin, both
// ready.
type display struct{ *testEnv }

// newDisplay waits until all of it is ready.
func newDisplay(t *testing.T) *display {
	t.Helper()
	s := &display{newEnv(t)}
	catalog := strings.NewReplacer("SUFFIX", s.Suffix, "ID", strings.ReplaceAll(s.Suffix, "z", "8")).Replace(displayCatalog)
	broker := osbtest.Start(t, osbtest.Options{Catalog: []byte(catalog)})
	registered := &v1beta1.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: s.Name("broker")}}
	registered.Spec.URL = broker.URL
	require.NoError(t, s.Client().Create(t.Context(), registered))
	s.isReady(registered, func() []v1beta1.Condition { return registered.Status.Conditions })
	// kubectl apply leaves a null out of what it creates.
	instance := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "mydb"}}
	instance.Spec.ServiceType = s.Name("mysql")
	instance.Spec.Parameters = &runtime.RawExtension{Raw: []byte(`{"location": "westus", "firewall": {"open": null}, "tags": ["a", "b"]}`)}
	instance.Spec.ParametersFrom = []v1beta1.ParametersFromSource{{SecretKeyRef: &v1beta1.SecretKeyReference{Name: "extra", Key: "more"}}}
	require.NoError(t, s.Client().Create(t.Context(), instance))
	s.Apply(`
apiVersion: v1
kind: Secret
metadata: {name: extra}
stringData: {more: '{"password": "never-to-be-seen"}'}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ServiceBinding
metadata: {name: mydb-admin}
spec:
  instanceRef: {name: mydb}
  parameters: {user: admin}
  secretTransforms: [{addKey: {key: DB_TIER, stringValue: never-to-be-told}}]
`)
	s.isReady(instance, func() []v1beta1.Condition { return instance.Status.Conditions })
	binding := &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "mydb-admin"}}
	s.isReady(binding, func() []v1beta1.Condition { return binding.Status.Conditions })
	return s
}

// isReady waits until an object is so.
func (s *display) isReady(object client.Object, conditions func() []v1beta1.Condition) {
	s.Helper()
	s.Eventually(func() (bool, error) {
		s.Get(object)
		ready, _ := v1beta1.FindCondition(conditions(), v1beta1.ConditionReady)
		return ready.Status == v1beta1.ConditionTrue, nil
	})
}

// secretOf is the Secret of the binding.
func (s *display) secretOf(name string) map[string][]byte {
	s.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name}}
	s.Get(secret)
	return secret.Data
}

// These differ from run to run.
var (
	sizes     = regexp.MustCompile(`\d+ bytes`)
	addresses = regexp.MustCompile(`127\.0\.0\.1:\d+/\d+`)
	stamps    = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d`)
	digits    = regexp.MustCompile(`\d`)
	// ages are the last column of tables that have one, with their header and rule.
	ages = regexp.MustCompile(`(?m) +AGE$|\+-+\+$|( {3,})(?:\d+[dhms])+$`)
)

// in is the display of a part of its test.
func (s *display) in(t *testing.T) *display {
	return &display{&testEnv{s.In(t)}}
}

// plain is text without what differs from run to run. What stands in its place has
// its length: tables keep their columns.
func (s *display) plain(text string) string {
	text, _, _ = strings.Cut(text, "\nEvents:\n")
	if strings.Contains(text, " AGE\n") {
		text = ages.ReplaceAllStringFunc(text, func(found string) string {
			switch found[len(found)-1] {
			case 'E':
				return "   AGE"
			case '+':
				return "+-----+"
			}
			return strings.Repeat(" ", len(found)-len(strings.TrimLeft(found, " "))) + "0s"
		})
	}
	id := strings.ReplaceAll(s.Suffix, "z", "8")
	text = strings.NewReplacer(s.Suffix, "suffixed", id, "suffixed", s.Namespace, "a-namespace").Replace(text)
	zeros := func(found string) string { return digits.ReplaceAllString(found, "0") }
	for _, of := range []*regexp.Regexp{addresses, stamps} {
		text = of.ReplaceAllStringFunc(text, zeros)
	}
	return sizes.ReplaceAllString(volatile.ReplaceAllString(text, "00000000-0000-0000-0000-000000000000"), "N bytes")
}

// prints is what a command writes to standard output; it must exit with 0.
func (s *display) prints(args ...string) string {
	s.Helper()
	got := s.run("", append([]string{"-n", s.Namespace}, args...)...)
	require.Zero(s, got.code, "svcat %v: %s%s", args, got.out, got.err)
	return got.out
}
