package doctor

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/defaultplan/defaultplan/deploy"
)

// shipped are the objects of a folder of deploy, in the order of the files.
func shipped(folder string) ([]*unstructured.Unstructured, error) {
	files, err := fs.Glob(deploy.Manifests, path.Join(folder, "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("cannot list manifests %q: %w", folder, err)
	}
	var objects []*unstructured.Unstructured
	for _, file := range files {
		content, err := fs.ReadFile(deploy.Manifests, file)
		if err != nil {
			return nil, fmt.Errorf("cannot read manifest %q: %w", file, err)
		}
		for document := range bytes.SplitSeq(content, []byte("\n---\n")) {
			object := &unstructured.Unstructured{}
			if err := yaml.Unmarshal(document, &object.Object); err != nil {
				return nil, fmt.Errorf("cannot decode manifest %q: %w", file, err)
			}
			if len(object.Object) > 0 {
				objects = append(objects, object)
			}
		}
	}
	return objects, nil
}

// shippedAs reads the shipped objects of one kind as values of its type.
func shippedAs[T any](folder, kind string) ([]T, error) {
	objects, err := shipped(folder)
	if err != nil {
		return nil, err
	}
	var all []T
	for _, object := range objects {
		if object.GetKind() != kind {
			continue
		}
		var one T
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &one); err != nil {
			return nil, fmt.Errorf("cannot decode %s %q: %w", kind, object.GetName(), err)
		}
		all = append(all, one)
	}
	return all, nil
}
