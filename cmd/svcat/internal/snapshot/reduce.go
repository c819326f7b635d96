package snapshot

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// metadata are the fields of metadata that a snapshot keeps. The managed fields of instances and
// bindings are left out, too.
var metadata = []string{
	"name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
	"labels", "annotations", "finalizers", "ownerReferences", "managedFields",
}

// annotations are those that a snapshot keeps of every kind. Others may hold what was applied to an
// instance, as kubectl's last-applied-configuration does.
var annotations = []string{
	v1beta1.AnnotationDefaultPlan, v1beta1.AnnotationSuggestedPlan, v1beta1.AnnotationPreventDeletion, v1beta1.AnnotationAppliedDefaults,
	v1beta1.AnnotationMintedExternalID, v1beta1.AnnotationAbandon, v1beta1.AnnotationAdopt, v1beta1.AnnotationCascade,
	v1beta1.AnnotationDeprovisionAdopted, v1beta1.AnnotationManaged, v1beta1.AnnotationCatalogHash, v1beta1.AnnotationClassName,
}

// A reducer leaves out of objects what no decision depends on and what a file should not hold.
type reducer struct {
	// parameters keeps the values of parameters.
	parameters bool
}

// reduce changes the object.
func (r reducer) reduce(object *unstructured.Unstructured) {
	fields := mapAt(object.Object, "metadata")
	keepOnly(fields, metadata...)
	keepAnnotations(fields, keeps(object.GetKind()))
	switch object.GetKind() {
	case namespaceKind:
		keepOnly(object.Object, "apiVersion", "kind", "metadata")
		keepOnly(fields, "name", "uid", "resourceVersion", "labels", "deletionTimestamp")
	case "ServiceInstance", "ServiceBinding":
		delete(fields, "managedFields")
		r.reduceOwned(mapAt(object.Object, "spec"), mapAt(object.Object, "status"))
	case "ClusterServiceBroker", "ServiceBroker":
		reduceBroker(mapAt(object.Object, "spec"), mapAt(object.Object, "status"))
	}
}

// reduceOwned is for what users own: instances and bindings. What their brokers answered is left
// out, and without parameters so are all values, and the checksums that could be guessed from.
func (r reducer) reduceOwned(spec, status map[string]any) {
	delete(spec, "userInfo")
	withoutMessages(status)
	rotation := mapAt(status, "rotation")
	for _, of := range []map[string]any{status, rotation} {
		for _, answered := range []string{"lastOperation", "message", "dashboardURL", "endpoints"} {
			delete(of, answered)
		}
		r.reduceProperties(of)
	}
	if r.parameters {
		return
	}
	withhold(spec, "parameters", "provisionParameters")
	withhold(status, "defaultProvisionParameters")
	transforms, _ := spec["secretTransforms"].([]any)
	for _, one := range transforms {
		transform, _ := one.(map[string]any)
		withholdKey(mapAt(transform, "addKey"))
	}
}

// reduceProperties is for what was sent to a broker.
func (r reducer) reduceProperties(status map[string]any) {
	for _, name := range []string{"inProgressProperties", "externalProperties"} {
		properties := mapAt(status, name)
		delete(properties, "userInfo")
		if !r.parameters {
			withhold(properties, "parameters")
			delete(properties, "parameterChecksum")
		}
	}
	if !r.parameters {
		delete(status, "refusedRequest")
	}
}

// reduceBroker leaves out what a broker answered, and what of its address may be a credential.
func reduceBroker(spec, status map[string]any) {
	withoutMessages(status)
	delete(status, "catalogETag")
	text, _ := spec["url"].(string)
	address, err := url.Parse(text)
	if text == "" || err == nil && address.User == nil && address.RawQuery == "" && address.Fragment == "" {
		return
	}
	spec["url"] = "https://" + v1beta1.GroupName + "/withheld"
	if err == nil && address.Host != "" {
		spec["url"] = address.Scheme + "://" + address.Host + address.EscapedPath()
	}
}

// withoutMessages empties the messages of conditions: they quote brokers.
func withoutMessages(status map[string]any) {
	conditions, _ := status["conditions"].([]any)
	for _, one := range conditions {
		if condition, is := one.(map[string]any); is {
			condition["message"] = ""
		}
	}
}

// withholdKey replaces the value that a transform adds.
func withholdKey(addKey map[string]any) {
	for name, withheld := range map[string]string{
		"value": base64.StdEncoding.EncodeToString([]byte(v1beta1.Redacted)), "stringValue": v1beta1.Redacted, "jsonPathExpression": v1beta1.Redacted,
	} {
		if addKey[name] != nil {
			addKey[name] = withheld
		}
	}
}

// withhold replaces the values in these fields; keys stay.
func withhold(fields map[string]any, names ...string) {
	for _, name := range names {
		if value, has := fields[name]; has {
			fields[name] = withheld(value)
		}
	}
}

// withheld is a value with every scalar in it replaced, but for null, which takes a default away.
func withheld(value any) any {
	switch v := value.(type) {
	case nil:
		return nil
	case map[string]any:
		for key, inner := range v {
			v[key] = withheld(inner)
		}
		return v
	case []any:
		for i, inner := range v {
			v[i] = withheld(inner)
		}
		return v
	}
	return v1beta1.Redacted
}

// keeps says which annotations of a kind are kept besides: the attributes of plans, and what kubectl
// applied where all of the spec is kept, too, by which an apply takes a field away. Instances,
// bindings and brokers have neither.
func keeps(kind string) func(name string) bool {
	switch kind {
	case "ServiceInstance", "ServiceBinding":
		return func(string) bool { return false }
	case "ClusterServiceBroker", "ServiceBroker", namespaceKind:
		return isAttribute
	}
	return func(name string) bool { return isAttribute(name) || name == corev1.LastAppliedConfigAnnotation }
}

func isAttribute(name string) bool { return strings.HasPrefix(name, v1beta1.AnnotationAttributePrefix) }

// keepAnnotations takes away annotations, but those that every kind keeps and those of this one.
func keepAnnotations(fields map[string]any, kept func(name string) bool) {
	all := mapAt(fields, "annotations")
	for name := range all {
		if !slices.Contains(annotations, name) && !kept(name) {
			delete(all, name)
		}
	}
	if applied, is := all[corev1.LastAppliedConfigAnnotation].(string); is {
		all[corev1.LastAppliedConfigAnnotation] = reduceApplied(applied, kept)
	}
}

// reduceApplied is a manifest that was applied, with the annotations that the object keeps. Of one that is
// no JSON nothing is left: an apply goes by none of it. Numbers stay as they are.
func reduceApplied(text string, kept func(name string) bool) string {
	var object map[string]any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if shallow([]byte(text)) != nil || decoder.Decode(&object) != nil {
		return "{}"
	}
	fields := mapAt(object, "metadata")
	delete(mapAt(fields, "annotations"), corev1.LastAppliedConfigAnnotation) // it has none of its own
	keepAnnotations(fields, kept)
	reduced, err := json.Marshal(object)
	if err != nil {
		return "{}"
	}
	return string(reduced) + "\n"
}

// mapAt is the object in a field, nil if it holds none: deleting from that does nothing.
func mapAt(fields map[string]any, name string) map[string]any {
	inner, _ := fields[name].(map[string]any)
	return inner
}

func keepOnly(fields map[string]any, names ...string) {
	kept := make(map[string]bool, len(names))
	for _, name := range names {
		kept[name] = true
	}
	for name := range fields {
		if !kept[name] {
			delete(fields, name)
		}
	}
}
