package schema

import (
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Coerce makes of what a client sent what the API server reads of it: unknown fields
// are pruned, and the schema's defaults filled in. It returns the paths of what was
// pruned. The error is of metadata that cannot be read.
func (k *Kind) Coerce(object *unstructured.Unstructured) ([]string, error) {
	metadata, found, unknown, err := objectmeta.GetObjectMetaWithOptions(object.Object, objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		return nil, err
	}
	unknown = append(unknown, k.Prune(object.Object)...)
	if found {
		if err := objectmeta.SetObjectMeta(object.Object, metadata); err != nil {
			return nil, fmt.Errorf("cannot write metadata: %w", err)
		}
	}
	k.Default(object.Object)
	return unknown, nil
}
