package why

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// A document is one object of a file.
type document struct {
	object *unstructured.Unstructured
	file   string
}

// documentsIn reads the instances and bindings of files, instances first: in a
// chart the bindings come before them. Objects without a namespace are taken to
// be of the given one; those of other kinds are passed over.
func documentsIn(files []string, recursive bool, namespace string) ([]document, error) {
	infos, err := resource.NewLocalBuilder().Unstructured().
		FilenameParam(false, &resource.FilenameOptions{Filenames: files, Recursive: recursive}).
		Flatten().Do().Infos()
	if err != nil {
		return nil, fmt.Errorf("cannot read the files: %w", err)
	}
	var instances, bindings []document
	for _, info := range infos {
		object, ok := info.Object.(*unstructured.Unstructured)
		if !ok || object.GroupVersionKind().Group != v1beta1.GroupName {
			continue
		}
		if object.GetNamespace() == "" {
			object.SetNamespace(namespace)
		}
		switch object.GetKind() {
		case KindInstance:
			instances = append(instances, document{object, info.Source})
		case KindBinding:
			bindings = append(bindings, document{object, info.Source})
		}
	}
	return append(instances, bindings...), nil
}
