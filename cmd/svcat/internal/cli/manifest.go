package cli

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// printNew prints an object that was to be created, as -o asks. One that was not
// sent is printed as the manifest that a person would write: without the zeros of
// our types.
func (w *WriteFlags) printNew(env *Env, object client.Object) error {
	if w.Sends() {
		return w.Print(env, object)
	}
	manifest, err := manifestOf(object)
	if err != nil {
		return err
	}
	return w.Print(env, manifest)
}

func manifestOf(object client.Object) (*unstructured.Unstructured, error) {
	scheme, err := Scheme()
	if err != nil {
		return nil, err
	}
	kind, err := apiutil.GVKForObject(object, scheme)
	if err != nil {
		return nil, fmt.Errorf("cannot print %T: %w", object, err)
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, fmt.Errorf("cannot print %s %q: %w", kind.Kind, object.GetName(), err)
	}
	manifest := &unstructured.Unstructured{Object: fields}
	manifest.SetGroupVersionKind(kind)
	unstructured.RemoveNestedField(fields, "status")
	unstructured.RemoveNestedField(fields, "metadata", "creationTimestamp")
	if id, _, _ := unstructured.NestedString(fields, "spec", "externalID"); id == "" {
		unstructured.RemoveNestedField(fields, "spec", "externalID")
	}
	return manifest, nil
}

// tellDryRun says on standard error, before sentences about an object that is not
// stored, that it is not. With -o nothing is said.
func (w *WriteFlags) tellDryRun(env *Env) error {
	if w.Stores() || w.Output != "" {
		return nil
	}
	_, err := fmt.Fprintf(env.ErrOut, "%s dry run: nothing was stored\n", w.DryRun)
	return err
}
