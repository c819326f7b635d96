package diff

import (
	"fmt"

	"github.com/rogpeppe/go-internal/diff"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/manifest"
)

// title says of an object whether it is new.
func title(stored, merged *unstructured.Unstructured) string {
	if stored == nil {
		return called(merged) + " is new"
	}
	return called(merged) + " changes"
}

func called(object *unstructured.Unstructured) string {
	return object.GetKind() + " " + cli.Qualified(object.GetNamespace(), object.GetName())
}

// hiddenChange is the difference between addresses that differ only in what is not shown of them.
const hiddenChange = "# spec.url changes in a part that is hidden: it may hold a password\n"

// unified is the difference between an object as it is stored, nil where there is none, and as it
// would be; empty: there is none.
func unified(stored, merged *unstructured.Unstructured) (string, error) {
	path := merged.GetKind() + "/" + cli.Qualified(merged.GetNamespace(), merged.GetName())
	was, name := []byte(nil), "/dev/null"
	if stored != nil {
		var err error
		if was, err = shown(stored); err != nil {
			return "", err
		}
		name = "stored/" + path
	}
	is, err := shown(merged)
	if err != nil {
		return "", err
	}
	text := string(diff.Diff(name, was, "applied/"+path, is))
	if text == "" && stored != nil && addressOf(stored) != addressOf(merged) {
		return hiddenChange, nil
	}
	return text, nil
}

// addressOf is that of a broker, empty for other objects.
func addressOf(object *unstructured.Unstructured) string {
	if kind := object.GetKind(); kind != "ClusterServiceBroker" && kind != "ServiceBroker" {
		return ""
	}
	address, _, _ := unstructured.NestedString(object.Object, "spec", "url")
	return address
}

// shown is an object as YAML, without what differs with each write, and without what may be secret
// in the address of a broker.
func shown(object *unstructured.Unstructured) ([]byte, error) {
	bare := &unstructured.Unstructured{Object: manifest.Bare(object)}
	unstructured.RemoveNestedField(bare.Object, "metadata", "annotations", corev1.LastAppliedConfigAnnotation)
	if id, _, _ := unstructured.NestedString(bare.Object, "spec", "externalID"); id != "" && bare.GetAnnotations()[v1beta1.AnnotationMintedExternalID] == id {
		unstructured.RemoveNestedField(bare.Object, "spec", "externalID")
		unstructured.RemoveNestedField(bare.Object, "metadata", "annotations", v1beta1.AnnotationMintedExternalID)
	}
	if address := addressOf(bare); address != "" {
		if err := unstructured.SetNestedField(bare.Object, catalog.ShownURL(address), "spec", "url"); err != nil {
			return nil, fmt.Errorf("cannot show %s: %w", called(object), err)
		}
	}
	if len(bare.GetAnnotations()) == 0 {
		bare.SetAnnotations(nil)
	}
	text, err := yaml.Marshal(bare.Object)
	if err != nil {
		return nil, fmt.Errorf("cannot encode %s: %w", called(object), err)
	}
	return text, nil
}
