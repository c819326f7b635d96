package review

import (
	"encoding/json"
	"fmt"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/uuid"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/bench/catalog"
)

// Namespace is where our hooks admit.
const Namespace = "bench-ours"

// UserParameters are what a chart writes: a third of a KB.
const UserParameters = `{"location":"westus","storageGB":128,"tags":{"team":"payments","cost-center":"4711","environment":"staging"},` +
	`"maintenanceWindow":{"dayOfWeek":0,"startHour":3,"startMinute":30},"parameters":{"max_connections":"250","slow_query_log":"ON","long_query_time":"2"},` +
	`"alerts":["dba@example.org","payments-oncall@example.org"]}`

// A Spec is what an instance asks for, as JSON, with the parameters last.
type Spec string

// Named asks for a plan by class and plan.
func Named(f *catalog.Family) Spec {
	return Spec(fmt.Sprintf(`"clusterServiceClassExternalName":"ext-%s","clusterServicePlanExternalName":"ext-%s"`, f.Name, f.PlanName(0)))
}

// ByClass is a spec that names the class alone.
func ByClass(f *catalog.Family) Spec {
	return Spec(fmt.Sprintf(`"clusterServiceClassExternalName":"ext-%s"`, f.Name))
}

// ByType is a spec that names the type alone.
func ByType(f *catalog.Family) Spec { return Spec(fmt.Sprintf(`"serviceType":%q`, f.Name)) }

// Manifest is what a user posts.
func Manifest(namespace, name string, s Spec, parameters string) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":"ServiceInstance","metadata":{"name":%q,"namespace":%q},"spec":{%s,"parameters":%s}}`,
		name, namespace, s, parameters)
}

// Arriving is the object of a manifest as the API server hands it to a mutating
// hook: with the fields' manager, and the metadata of a chart. It is about 1 KB
// with UserParameters.
func Arriving(s Spec, parameters string) []byte {
	const metadata = `{"name":"payments-db","namespace":%q,"labels":{"app.kubernetes.io/managed-by":"Helm","app.kubernetes.io/name":"payments"},` +
		`"annotations":{"meta.helm.sh/release-name":"payments"},"creationTimestamp":null,"managedFields":[{"manager":"helm","operation":"Update",` +
		`"apiVersion":"servicecatalog.k8s.io/v1beta1","time":"2026-11-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{".":{},"f:parameters":{}}}}]}`
	return fmt.Appendf(nil, `{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":"ServiceInstance","metadata":`+metadata+`,"spec":{%s,"parameters":%s}}`,
		Namespace, s, parameters)
}

// OfInstance is the body of a request to a hook, as the API server sends it of an
// instance in Namespace.
func OfInstance(object []byte) ([]byte, error) {
	return Of("ServiceInstance", "serviceinstances", object)
}

// Of is review of an object of another kind.
func Of(kindName, plural string, object []byte) ([]byte, error) {
	kind := metav1.GroupVersionKind{Group: api.GroupName, Version: "v1beta1", Kind: kindName}
	resource := metav1.GroupVersionResource{Group: api.GroupName, Version: "v1beta1", Resource: plural}
	dryRun := false
	body, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: catalog.UID("review", uuid.NewString()), Kind: kind, Resource: resource, RequestKind: &kind, RequestResource: &resource,
			Name: "payments-db", Namespace: Namespace, Operation: admissionv1.Create,
			UserInfo: authenticationv1.UserInfo{Username: "system:serviceaccount:ci:deployer", UID: catalog.ID("user", "deployer"), Groups: []string{
				"system:serviceaccounts", "system:serviceaccounts:ci", "system:authenticated",
			}},
			Object: runtime.RawExtension{Raw: object}, DryRun: &dryRun,
			Options: runtime.RawExtension{Raw: []byte(`{"kind":"CreateOptions","apiVersion":"meta.k8s.io/v1","fieldManager":"helm","fieldValidation":"Strict"}`)},
		},
	})
	if err != nil {
		return nil, fmt.Errorf("cannot encode a review: %w", err)
	}
	return body, nil
}

// PatchOf is the patch of a mutating hook's answer.
func PatchOf(answer []byte) ([]byte, error) {
	var decoded admissionv1.AdmissionReview
	if err := json.Unmarshal(answer, &decoded); err != nil || decoded.Response == nil || len(decoded.Response.Patch) == 0 {
		return nil, fmt.Errorf("the answer has no patch: %s", answer)
	}
	return decoded.Response.Patch, nil
}

// Mutated is the object after the patch of a mutating hook's answer.
func Mutated(object, answer []byte) ([]byte, error) {
	text, err := PatchOf(answer)
	if err != nil {
		return nil, err
	}
	patch, err := jsonpatch.DecodePatch(text)
	if err != nil {
		return nil, fmt.Errorf("cannot read the patch %q: %w", text, err)
	}
	patched, err := patch.Apply(object)
	if err != nil {
		return nil, fmt.Errorf("cannot apply the patch %q: %w", text, err)
	}
	return patched, nil
}

// Grown is a JSON object of parameters of about that many bytes: UserParameters
// over and over.
func Grown(size int) string {
	var text strings.Builder
	text.WriteByte('{')
	for i := 0; text.Len() < size; i++ {
		if i > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, `"part-%d":%s`, i, UserParameters)
	}
	text.WriteByte('}')
	return text.String()
}
