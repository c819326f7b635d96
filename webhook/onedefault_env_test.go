package webhook

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/resolvetest"
)

// A defaultsEnv is an env in which types and policies are admitted, too.
type defaultsEnv struct{ *catalogEnv }

// defaultsEnv is one whose cache is up to date, and in which alice may decide the defaults of these types.
func (s *stock) defaultsEnv(may ...string) *defaultsEnv {
	w := &defaultsEnv{s.catalogEnv()}
	serveServiceTypes(w, w.shared)
	servePolicies(w, w.shared)
	for _, serviceType := range may {
		w.reviews.granted = append(w.reviews.granted, "alice update clusterservicetypes "+serviceType, "alice update servicetypes dev/"+serviceType)
	}
	return w
}

// asked are the types whose right was asked for since it was last asked.
func (w *defaultsEnv) asked() string {
	var types []string
	for _, right := range w.reviews.taken() {
		types = append(types, right[strings.LastIndexAny(right, " /")+1:])
	}
	return strings.Join(types, " ")
}

// validate sends a write to the validating phase; old is nil for a new object.
func (w *defaultsEnv) validate(object, old client.Object) *outcome {
	w.tb.Helper()
	path, review := w.reviewOf(object, old)
	return w.validated(path, review)
}

// validated is what the validating phase makes of a review, whatever the other phase does.
func (w *defaultsEnv) validated(path string, review *admissionv1.AdmissionReview) *outcome {
	w.tb.Helper()
	allowed := reply{AdmissionResponse: &admissionv1.AdmissionResponse{Allowed: true}}
	return &outcome{tb: w.tb, mutate: allowed, validate: w.ask(path, review)}
}

// status is the HTTP status that the validating phase answers a write with.
func (w *defaultsEnv) status(object, old client.Object) int {
	w.tb.Helper()
	path, review := w.reviewOf(object, old)
	body, err := json.Marshal(review)
	require.NoError(w.tb, err)
	return w.post(path, body).Code
}

// reviewOf is the review of a write, and where it goes.
func (w *defaultsEnv) reviewOf(object, old client.Object) (string, *admissionv1.AdmissionReview) {
	w.tb.Helper()
	raw, err := json.Marshal(object)
	require.NoError(w.tb, err)
	var before []byte
	if old != nil {
		before, err = json.Marshal(old)
		require.NoError(w.tb, err)
	}
	path, review := w.reviewIn(kindOf(object), raw, before)
	review.Request.Namespace = object.GetNamespace()
	return path, review
}

// reviewIn is the review of a write of a kind of the cluster, and where it goes.
func (w *defaultsEnv) reviewIn(kind string, object, old []byte) (string, *admissionv1.AdmissionReview) {
	w.tb.Helper()
	review := w.review(object, old)
	resource := plurals[kind]
	if resource == "" {
		resource = resources[kind]
	}
	review.Request.Kind.Kind, review.Request.Resource.Resource, review.Request.Namespace = kind, resource, ""
	return "/validate/" + resource, review
}

// plurals are what the API server calls types and policies in paths.
var plurals = map[string]string{
	"ClusterServiceType": "clusterservicetypes", "ServiceType": "servicetypes",
	"ProvisioningPolicy": "provisioningpolicies", "BindingPolicy": "bindingpolicies",
}

// A catalogWrite is a write of a class, a plan or a type, in a text such as "plan db-large default": the object by its
// Kubernetes name, and edits. "new mysql/db: huge*" writes a new plan, "new mysql/db:" a new class, each as
// resolvetest.Catalog reads it.
type catalogWrite string

// objects are the object as it is written, and as it was.
func (text catalogWrite) objects(s *stock) (written, old client.Object) {
	s.tb.Helper()
	if fresh, ok := strings.CutPrefix(string(text), "new "); ok {
		cat := resolvetest.Catalog(s.tb, fresh)
		if len(cat.Plans) == 0 {
			return classObject(&cat.Classes[0]), nil
		}
		return planObject(&cat.Plans[0]), nil
	}
	words := strings.Fields(string(text))
	old = s.object(words[1], map[string]func(client.Object) bool{"plan": isPlan, "class": isClass, "type": isType}[words[0]])
	written, _ = old.DeepCopyObject().(client.Object)
	for _, word := range words[2:] {
		edit(s.tb, written, word)
	}
	return written, old
}

func isType(object client.Object) bool {
	switch object.(type) {
	case *v1beta1.ClusterServiceType, *v1beta1.ServiceType:
		return true
	}
	return false
}

func edit(tb testing.TB, object client.Object, word string) {
	tb.Helper()
	verb, value, _ := strings.Cut(word, "=")
	switch verb {
	case "default":
		annotations := map[string]string{v1beta1.AnnotationDefaultPlan: "true"}
		if value != "" {
			annotations[v1beta1.AnnotationDefaultPlan] = value
		}
		object.SetAnnotations(annotations)
	case "suggested":
		object.SetAnnotations(map[string]string{v1beta1.AnnotationSuggestedPlan: "true"})
	case "plain":
		object.SetAnnotations(nil)
	case "label":
		object.SetLabels(map[string]string{"tier": value})
	case "going":
		object.SetDeletionTimestamp(&metav1.Time{Time: founded})
	case "nameless":
		object.SetName("")
		object.SetGenerateName("any-")
	case "type":
		setType(object, value)
	case "record":
		setRecord(object, value)
	default:
		require.FailNow(tb, "no such edit", word)
	}
}

func setType(object client.Object, value string) {
	switch o := object.(type) {
	case *v1beta1.ClusterServiceClass:
		o.Spec.ServiceType = value
	case *v1beta1.ServiceClass:
		o.Spec.ServiceType = value
	default:
		planSpec(object).ServiceType = value
	}
}

func setRecord(object client.Object, plan string) {
	var ref *v1beta1.PlanObjectReference
	if plan != "" {
		ref = &v1beta1.PlanObjectReference{Name: plan}
	}
	switch o := object.(type) {
	case *v1beta1.ClusterServiceType:
		o.Spec.DefaultPlanRef = ref
	case *v1beta1.ServiceType:
		o.Spec.DefaultPlanRef = ref
	}
}

// removed marks a plan or class as removed from its broker's catalog.
func removed(name string) func(*stock) {
	return func(s *stock) {
		for _, object := range s.objects {
			if object.GetName() != name {
				continue
			}
			switch o := object.(type) {
			case *v1beta1.ClusterServicePlan:
				o.Status.RemovedFromBrokerCatalog = true
			case *v1beta1.ServicePlan:
				o.Status.RemovedFromBrokerCatalog = true
			case *v1beta1.ClusterServiceClass:
				o.Status.RemovedFromBrokerCatalog = true
			case *v1beta1.ServiceClass:
				o.Status.RemovedFromBrokerCatalog = true
			}
		}
	}
}

// classless takes the class away, of which the plans stay.
func classless(class string) func(*stock) {
	return func(s *stock) {
		s.objects = slices.DeleteFunc(s.objects, func(object client.Object) bool { return isClass(object) && object.GetName() == class })
	}
}

// emptyType adds a type that records nothing.
func emptyType(name string) func(*stock) {
	return func(s *stock) {
		object := recordObject(resolve.Record{Type: name, Plan: resolve.Ref{Namespace: s.objects[0].GetNamespace()}})
		setRecord(object, "")
		s.objects = append(s.objects, object)
	}
}

// inNamespace is a catalog of one scope, moved to the namespace dev.
func inNamespace(catalog string) string {
	return "dev|" + strings.ReplaceAll(strings.ReplaceAll(catalog, ";", ";dev|"), "dev|record ", "record dev|")
}

// inNamespace is the write, moved to the namespace dev.
func (text catalogWrite) inNamespace() catalogWrite {
	if fresh, ok := strings.CutPrefix(string(text), "new "); ok {
		return catalogWrite("new " + inNamespace(fresh))
	}
	kind, rest, _ := strings.Cut(string(text), " ")
	return catalogWrite(kind + " dev/" + rest)
}

// agreed makes the record of a type one that the keeper has seen agree with the annotation.
func agreed(name string) func(*stock) {
	return func(s *stock) {
		for _, object := range s.objects {
			switch kept := object.(type) {
			case *v1beta1.ClusterServiceType:
				if kept.Name == name {
					kept.Generation, kept.Status.Confirmed, kept.Status.ObservedGeneration = 3, true, 3
				}
			case *v1beta1.ServiceType:
				if kept.Name == name {
					kept.Generation, kept.Status.Confirmed, kept.Status.ObservedGeneration = 3, true, 3
				}
			}
		}
	}
}
