package moving_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/retired"
)

type object = map[string]any

// An instance is one of the old side, of the plan small of a class.
type instance struct {
	name, class string
	// state is a key of testdata/states.yaml.
	state string
	// parameters and those of a Secret are JSON objects, or empty.
	parameters, secret string
	// moved is the reason of Ready on the new side. If it is empty the instance stays, and why
	// is part of what is told.
	moved, why string
	// copied says that its plan is mine, which a user copied from small.
	copied bool
	// bound says that it moves, and that the old side keeps it: a binding that stays there uses it.
	bound bool
}

// A binding is one of the old side, to an instance there.
type binding struct {
	name, instance, state string
	// renamed says that the key password is called PGPASSWORD in its Secret.
	renamed    bool
	moved, why string
}

// at is a time of the old side.
const at = "2026-01-02T03:04:05Z"

// local says whether a class is one of the namespace.
func local(class string) bool { return class == "local" }

// instanceID and bindingID are the IDs at the brokers.
func (h *house) instanceID(name string) string { return h.Name(name + "-instance") }
func (h *house) bindingID(name string) string  { return h.Name(name + "-binding") }

// ann is the user of the old side.
var ann = object{"username": "ann", "uid": "", "groups": []any{"system:authenticated"}}

// states are the statuses in testdata/states.yaml, by kind and state.
var states = sync.OnceValues(func() (map[string]map[string]object, error) {
	text, err := os.ReadFile(filepath.Join("testdata", "states.yaml"))
	if err != nil {
		return nil, err
	}
	found := map[string]map[string]object{}
	return found, yaml.UnmarshalStrict([]byte(strings.ReplaceAll(string(text), ": AT", `: "`+at+`"`)), &found)
})

// status is a copy of that of a state.
func (h *house) status(kind, state string) object {
	h.Helper()
	all, err := states()
	require.NoError(h, err)
	require.Contains(h, all[kind], state)
	return (&unstructured.Unstructured{Object: all[kind][state]}).DeepCopy().Object
}

// storesCatalog has the brokers, classes and plans of testdata/catalog.yaml.
func (h *house) storesCatalog() {
	h.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "catalog.yaml"))
	require.NoError(h, err)
	objects, err := retired.Read(strings.NewReplacer(
		"NAMESPACE", h.old.Namespace, "SUFFIX", h.Suffix, "CLUSTER", h.cluster.URL, "INHOUSE", h.inhouse.URL, ": AT", `: "`+at+`"`,
	).Replace(string(text)))
	require.NoError(h, err)
	require.NoError(h, retired.Store(h.Context(), h.old.Client(), objects...))
}

// storesInstance has an instance, and the Secret of its parameters.
func (h *house) storesInstance(i instance, operation string) {
	h.Helper()
	spec := object{"externalID": h.instanceID(i.name), "updateRequests": int64(0), "userInfo": ann}
	prefix := "clusterService"
	if local(i.class) {
		prefix = "service"
	}
	plan, ref := "small", h.Name(i.class+"-small")
	if i.copied {
		plan, ref = "mine", h.copiesPlan()
	}
	spec[prefix+"ClassExternalName"], spec[prefix+"PlanExternalName"] = h.Name(i.class), plan
	if i.state != "Undecided" {
		spec[prefix+"ClassRef"], spec[prefix+"PlanRef"] = object{"name": h.Name(i.class)}, object{"name": ref}
	}
	if i.parameters != "" {
		spec["parameters"] = json.RawMessage(i.parameters)
	}
	if i.secret != "" {
		spec["parametersFrom"] = []any{object{"secretKeyRef": object{"name": h.storesParameters(i), "key": "parameters"}}}
	}
	status := h.status("instances", i.state)
	if status["lastOperation"] != nil {
		status["lastOperation"] = operation
	}
	properties := object{
		"clusterServicePlanExternalName": "", "clusterServicePlanExternalID": "",
		prefix + "PlanExternalName": plan, prefix + "PlanExternalID": h.Name(i.class + "-small"), "userInfo": ann,
	}
	if status["provisionStatus"] == string(api.Provisioned) {
		status["externalProperties"] = properties
	}
	if status["currentOperation"] != nil {
		status["inProgressProperties"] = properties
	}
	stored := h.stored("ServiceInstance", i.name, spec, status)
	if i.state == "Adopted" {
		stored.SetAnnotations(map[string]string{api.AnnotationAdopt: "true"})
	}
	require.NoError(h, retired.Store(h.Context(), h.old.Client(), stored))
	if strings.HasPrefix(i.state, "Deprovision") {
		h.old.Delete(stored)
	}
}

// copiesPlan has a user's copy of the plan small of the class open, and returns its name.
func (h *house) copiesPlan() string {
	h.Helper()
	plan := &unstructured.Unstructured{Object: object{"spec": object{
		"clusterServiceBrokerName": h.Name("broker"), "clusterServiceClassRef": object{"name": h.Name("open")},
		"externalName": "mine", "externalID": h.Name("open-small"), "description": "mine", "free": false,
	}}}
	plan.SetGroupVersionKind(api.GroupVersion.WithKind("ClusterServicePlan"))
	plan.SetName(h.Name("mine"))
	require.NoError(h, retired.Store(h.Context(), h.old.Client(), plan))
	return plan.GetName()
}

// storesParameters has the Secret of an instance's parameters, and returns its name.
func (h *house) storesParameters(i instance) string {
	h.Helper()
	name := i.name + "-parameters"
	h.old.Create(&corev1.Secret{ObjectMeta: h.old.Meta(name), StringData: map[string]string{"parameters": i.secret, "unused": canary + "unused"}})
	return name
}

// storesBinding has a binding, and the Secret with its credentials if it has some.
func (h *house) storesBinding(b binding, operation string, credentials object) {
	h.Helper()
	spec := object{"instanceRef": object{"name": b.instance}, "externalID": h.bindingID(b.name), "secretName": b.name, "userInfo": ann}
	if b.renamed {
		spec["secretTransforms"] = []any{object{"renameKey": object{"from": "password", "to": "PGPASSWORD"}}}
	}
	status := h.status("bindings", b.state)
	if status["lastOperation"] != nil {
		status["lastOperation"] = operation
	}
	stored := h.stored("ServiceBinding", b.name, spec, status)
	require.NoError(h, retired.Store(h.Context(), h.old.Client(), stored))
	if credentials != nil && b.state == "Ready" {
		h.old.Create(secretOf(stored, b, credentials))
	}
	if b.state == "Unbinding" {
		h.old.Delete(stored)
	}
}

// secretOf is the Secret of a binding.
func secretOf(owner *unstructured.Unstructured, b binding, credentials object) *corev1.Secret {
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: owner.GetNamespace(), Name: b.name,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, api.GroupVersion.WithKind("ServiceBinding"))},
		},
		StringData: map[string]string{},
	}
	for key, value := range credentials {
		if key == "password" && b.renamed {
			key = "PGPASSWORD"
		}
		secret.StringData[key] = fmt.Sprint(value)
	}
	return secret
}

// stored is an object of the old side.
func (h *house) stored(kind, name string, spec, status object) *unstructured.Unstructured {
	h.Helper()
	content, err := json.Marshal(object{
		"apiVersion": api.GroupVersion.String(), "kind": kind, "spec": spec, "status": status,
		"metadata": object{"namespace": h.old.Namespace, "name": name, "finalizers": []string{api.FinalizerServiceCatalog}},
	})
	require.NoError(h, err)
	stored := &unstructured.Unstructured{}
	require.NoError(h, stored.UnmarshalJSON(content)) // with integers of 64 bits, as a client reads them
	return stored
}

// uid is that of the namespace on the old side.
func (h *house) uid() types.UID {
	h.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: h.old.Namespace}}
	h.old.Get(namespace)
	return namespace.UID
}
