package manifest

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// Bare is an object without what a cluster adds about the write.
func Bare(object *unstructured.Unstructured) map[string]any {
	fields := object.DeepCopy().Object
	for _, noise := range [][]string{
		{"metadata", "uid"}, {"metadata", "resourceVersion"}, {"metadata", "generation"},
		{"metadata", "creationTimestamp"}, {"metadata", "managedFields"}, {"spec", "userInfo"}, {"status"},
	} {
		unstructured.RemoveNestedField(fields, noise...)
	}
	return fields
}
