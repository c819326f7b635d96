package explain

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// written explains the instances and bindings of the files. unread is about those
// that are not of their kind's form: they are explained by what admission says to
// that, and the others all the same.
func (c *command) written(ctx context.Context, x *explainer, namespace string, report *Report) (unread, err error) {
	documents, err := documentsIn(c.files, c.recursive, namespace)
	if err != nil {
		return nil, err
	}
	if len(documents) == 0 {
		return nil, fmt.Errorf("there is no ServiceInstance and no ServiceBinding in %s", strings.Join(c.files, ", "))
	}
	malformed := 0
	for _, document := range documents {
		explain := x.writtenInstance
		switch {
		case !wellFormed(document.object):
			malformed++
			explain = x.malformed
		case document.object.GetKind() == KindBinding:
			explain = x.writtenBinding
		}
		told, err := explain(ctx, document.object, document.file)
		if err != nil {
			return nil, err
		}
		report.Explanations = append(report.Explanations, told)
	}
	if malformed > 0 {
		unread = fmt.Errorf("cannot read %d of %d objects: a field is not of its type", malformed, len(documents))
	}
	return unread, nil
}

// wellFormed says that an object can be read as its kind: every field is of its
// type.
func wellFormed(object *unstructured.Unstructured) bool {
	var read any = &v1beta1.ServiceInstance{}
	if object.GetKind() == KindBinding {
		read = &v1beta1.ServiceBinding{}
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, read) == nil
}

// malformed explains an object that cannot be read: nothing is chosen for it.
func (x *explainer) malformed(ctx context.Context, written *unstructured.Unstructured, file string) (Explanation, error) {
	told := Explanation{
		Subject: Subject{Kind: written.GetKind(), Namespace: written.GetNamespace(), Name: nameOf(written), File: file}, Asks: map[string]string{}, Now: &Now{},
	}
	_, err := x.apply(ctx, told.Now, nil, written)
	return told, err
}

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
