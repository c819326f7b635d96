package snapshot

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

const canary = "c4n4ry"

// fill puts the canary into everything that can hold a text.
func fill(value reflect.Value, depth int) {
	switch value.Interface().(type) {
	case runtime.RawExtension:
		value.Set(reflect.ValueOf(runtime.RawExtension{Raw: []byte(`{"key":"c4n4ry","list":["c4n4ry",{"deep":"c4n4ry"}]}`)}))
		return
	case metav1.Time, metav1.MicroTime, metav1.Duration, metav1.FieldsV1:
		return
	}
	switch value.Kind() { //nolint:exhaustive // the others hold no text
	case reflect.String:
		value.SetString(canary)
	case reflect.Pointer:
		if depth > 0 {
			value.Set(reflect.New(value.Type().Elem()))
			fill(value.Elem(), depth-1)
		}
	case reflect.Struct:
		for i := range value.NumField() {
			if value.Type().Field(i).IsExported() {
				fill(value.Field(i), depth)
			}
		}
	case reflect.Slice:
		if value.Type().Elem().Kind() == reflect.Uint8 {
			value.SetBytes([]byte(canary))
			return
		}
		value.Set(reflect.MakeSlice(value.Type(), 1, 1))
		fill(value.Index(0), depth)
	case reflect.Map:
		value.Set(reflect.MakeMap(value.Type()))
		element := reflect.New(value.Type().Elem()).Elem()
		fill(element, depth)
		value.SetMapIndex(reflect.ValueOf(canary).Convert(value.Type().Key()), element)
	}
}

// holders are the paths below which an object has the canary, but for metadata.
func holders(at string, value any, found map[string]bool) {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			holders(at+"."+key, inner, found)
		}
	case []any:
		for _, inner := range v {
			holders(at+"[]", inner, found)
		}
	case string:
		if strings.Contains(v, canary) || strings.Contains(v, base64.StdEncoding.EncodeToString([]byte(canary))) {
			found[strings.TrimPrefix(at, ".")] = true
		}
	}
}

func filled(t *testing.T, object client.Object, name string) *unstructured.Unstructured {
	t.Helper()
	fill(reflect.ValueOf(object).Elem(), 8)
	object.SetName("a")
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	require.NoError(t, err)
	one := &unstructured.Unstructured{Object: content}
	one.SetGroupVersionKind(v1beta1.GroupVersion.WithKind(name))
	return one
}

// names are the fields of instances and bindings that hold names, words and references, which a
// snapshot keeps. A field that is new fails the test until it is decided.
var names = strings.Fields(`
	spec.clusterServiceClassExternalID spec.clusterServiceClassExternalName spec.clusterServiceClassName spec.clusterServiceClassRef.name
	spec.clusterServicePlanExternalID spec.clusterServicePlanExternalName spec.clusterServicePlanName spec.clusterServicePlanRef.name
	spec.serviceClassExternalID spec.serviceClassExternalName spec.serviceClassName spec.serviceClassRef.name
	spec.servicePlanExternalID spec.servicePlanExternalName spec.servicePlanName spec.servicePlanRef.name
	spec.serviceType spec.externalID spec.planSelector.matchLabels.c4n4ry spec.planSelector.matchExpressions[].key
	spec.planSelector.matchExpressions[].operator spec.planSelector.matchExpressions[].values[]
	spec.parametersFrom[].secretKeyRef.name spec.parametersFrom[].secretKeyRef.key
	status.conditions[].type status.conditions[].status status.conditions[].reason status.lastConditionState status.currentOperation
	status.externalID status.controllerName status.serviceType`)

var ofInstances = strings.Fields(`
	spec.sharing.namespaces[] spec.sharing.namespaceSelector.matchLabels.c4n4ry spec.sharing.namespaceSelector.matchExpressions[].key
	spec.sharing.namespaceSelector.matchExpressions[].operator spec.sharing.namespaceSelector.matchExpressions[].values[]
	spec.sharing.whenWithdrawn status.provisionStatus status.deprovisionStatus status.userSpecifiedClassName status.userSpecifiedPlanName`)

var ofBindings = strings.Fields(`
	spec.instanceRef.name spec.instanceRef.namespace spec.secretName spec.serviceName spec.secretTransformDefaults
	spec.secretTransforms[].renameKey.from spec.secretTransforms[].renameKey.to spec.secretTransforms[].removeKey.key
	spec.secretTransforms[].addKey.key spec.secretTransforms[].addKeysFrom.secretRef.name spec.secretTransforms[].addKeysFrom.secretRef.namespace
	spec.endpointsFrom[].hostKey spec.endpointsFrom[].portKey spec.endpointsFrom[].protocol
	status.unbindStatus status.binding.name status.instanceRef.name status.secrets[] status.configMaps[] status.service
	status.credentials.predecessor status.rotation.role status.rotation.currentOperation status.rotation.externalID
	status.rotation.unbindStatus spec.rotation.policy spec.secretTransforms[].preset.name spec.secretTransforms[].preset.provider
	spec.secretTransforms[].preset.type spec.secretTransforms[].publishKey.key`)

// sent are the fields of what was sent to a broker, and target are those that stay: names, IDs, and
// the checksum of both.
var (
	sent   = regexp.MustCompile(`^status\.(?:rotation\.)?(?:inProgress|external)Properties\.(.*)`)
	target = strings.Fields(`clusterServicePlanExternalName clusterServicePlanExternalID servicePlanExternalName servicePlanExternalID
	planRefName maintenanceVersion contextChecksum classExternalID planExternalID clusterServiceBrokerName serviceBrokerName
	instanceExternalID`)
)

// TestNoValueIsKept: of every text that an instance or binding can hold, only names stay.
func TestNoValueIsKept(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		object client.Object
		kept   []string
	}{
		"ServiceInstance": {&v1beta1.ServiceInstance{}, slices.Concat(names, ofInstances)},
		"ServiceBinding":  {&v1beta1.ServiceBinding{}, slices.Concat(names, ofBindings)},
	} {
		object := filled(t, tc.object, name)
		object.SetAnnotations(map[string]string{"kubectl.kubernetes.io/last-applied-configuration": canary, "other.example.com/values": canary, v1beta1.AnnotationAttributePrefix + "a": canary, v1beta1.AnnotationAppliedDefaults: "{}"})
		object.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: canary, FieldsV1: metav1.NewFieldsV1(`{"f:c4n4ry":{}}`)}})
		(reducer{}).reduce(object)
		found := map[string]bool{}
		for _, field := range []string{"spec", "status"} {
			holders(field, object.Object[field], found)
		}
		var kept []string
		for path := range found {
			if of := sent.FindStringSubmatch(path); of != nil {
				assert.Contains(t, target, of[1], "%s keeps %s", name, path)
				continue
			}
			kept = append(kept, path)
		}
		assert.ElementsMatch(t, tc.kept, kept, name)
		assert.Equal(t, map[string]string{v1beta1.AnnotationAppliedDefaults: "{}"}, object.GetAnnotations(), name)
		assert.Empty(t, object.GetManagedFields(), name)
	}
}

// TestParametersAreKept: their names always, their values where they were asked for.
func TestParametersAreKept(t *testing.T) {
	t.Parallel()
	const given = `{"user":"eve","deep":{"list":[1,{"on":true}]},"none":null}`
	for name, tc := range map[string]struct {
		reason     string
		parameters bool
		want       string
	}{
		"Names":  {"a value is replaced, null stays: it takes a default away", false, `{"user":"<redacted>","deep":{"list":["<redacted>",{"on":"<redacted>"}]},"none":null}`},
		"Values": {"they were asked for", true, given},
	} {
		object := &unstructured.Unstructured{}
		require.NoError(t, object.UnmarshalJSON(fmt.Appendf(nil, `{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":"ServiceInstance","metadata":{"name":"db"},"spec":{"parameters":%s}}`, given)))
		reducer{tc.parameters}.reduce(object)
		text, err := json.Marshal(mapAt(object.Object, "spec")["parameters"])
		require.NoError(t, err)
		assert.JSONEq(t, tc.want, string(text), "%s: %s", name, tc.reason)
	}
}

// TestAppliedIsKept: of what is kept whole, so that an apply takes away what a manifest has no more.
func TestAppliedIsKept(t *testing.T) {
	t.Parallel()
	for kind, kept := range map[string]int{
		"ProvisioningPolicy": 1, "BindingPolicy": 1, "ClusterServicePlan": 1, "ServicePlan": 1, "ClusterServiceClass": 1,
		"ServiceClass": 1, "ClusterServiceType": 1, "ServiceType": 1,
		"ServiceInstance": 0, "ServiceBinding": 0, "ClusterServiceBroker": 0, "ServiceBroker": 0, namespaceKind: 0,
	} {
		object := &unstructured.Unstructured{Object: map[string]any{"kind": kind}}
		object.SetAnnotations(map[string]string{corev1.LastAppliedConfigAnnotation: "{}"})
		(reducer{}).reduce(object)
		assert.Len(t, object.GetAnnotations(), kept, kind)
	}
}

// TestAnnotationsOfTheAppliedAreReduced: a manifest has those of other tools, too, and they are left out of
// what was applied as they are of the object. The rest is what an apply is compared with.
func TestAnnotationsOfTheAppliedAreReduced(t *testing.T) {
	t.Parallel()
	const annotation = `"servicecatalog.kubernetes.io/is-default-plan":"true"`
	for name, tc := range map[string]struct{ applied, want string }{
		"OfOthers": {`{"metadata":{"annotations":{"vault.example.com/token":"c4n4ry",` + annotation + `},"name":"p"},"spec":{"weight":12345678901234567890}}`,
			`{"metadata":{"annotations":{` + annotation + `},"name":"p"},"spec":{"weight":12345678901234567890}}`},
		"None":    {`{"spec":{}}`, `{"spec":{}}`},
		"NoJSON":  {`c4n4ry`, `{}`},
		"Applied": {`{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"c4n4ry"}}}`, `{"metadata":{"annotations":{}}}`},
		"Deep":    {strings.Repeat("[", maxDepth+1), `{}`},
	} {
		object := &unstructured.Unstructured{Object: map[string]any{"kind": "ClusterServicePlan"}}
		object.SetAnnotations(map[string]string{corev1.LastAppliedConfigAnnotation: tc.applied, "vault.example.com/token": canary})
		(reducer{}).reduce(object)
		require.Len(t, object.GetAnnotations(), 1, name)
		assert.Equal(t, tc.want, strings.TrimSpace(object.GetAnnotations()[corev1.LastAppliedConfigAnnotation]), name)
	}
}

// TestOthersAreReduced: namespaces to names and labels, brokers to what is no answer and no
// credential.
func TestOthersAreReduced(t *testing.T) {
	t.Parallel()
	namespace := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "spec": map[string]any{"finalizers": []any{canary}}, "status": map[string]any{"phase": canary},
		"metadata": map[string]any{"name": "dev", "labels": map[string]any{"env": "dev"}, "annotations": map[string]any{"a": canary}},
	}}
	(reducer{}).reduce(namespace)
	assert.Equal(t, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "dev", "labels": map[string]any{"env": "dev"}}}, namespace.Object)
	for _, address := range []string{"https://user:c4n4ry@b.example.com/x", "https://b.example.com/x?token=c4n4ry", "https://b.example.com/x#c4n4ry", "://c4n4ry"} {
		broker := filled(t, &v1beta1.ClusterServiceBroker{}, "ClusterServiceBroker")
		mapAt(broker.Object, "spec")["url"] = address
		(reducer{}).reduce(broker)
		found := map[string]bool{}
		holders("", broker.Object["spec"], found)
		assert.NotContains(t, found, "url", address)
		found = map[string]bool{}
		holders("", broker.Object["status"], found)
		assert.NotContains(t, found, "conditions[].message")
		assert.NotContains(t, found, "catalogETag")
	}
	plain := filled(t, &v1beta1.ServiceBroker{}, "ServiceBroker")
	mapAt(plain.Object, "spec")["url"] = "https://b.example.com/v"
	(reducer{}).reduce(plain)
	assert.Equal(t, "https://b.example.com/v", mapAt(plain.Object, "spec")["url"])
}
