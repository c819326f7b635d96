package explain

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// written explains the instances and bindings of the files. unread is about those
// that are not of their kind's form: they are explained by what admission says to
// that, and the others all the same.
func (c *command) written(ctx context.Context, asker *Asker, namespace string, report *Report) (unread, err error) {
	documents, err := documentsIn(c.files, c.recursive, namespace)
	if err != nil {
		return nil, err
	}
	if len(documents) == 0 {
		return nil, fmt.Errorf("there is no ServiceInstance and no ServiceBinding in %s", strings.Join(c.files, ", "))
	}
	malformed := 0
	for i := range documents {
		document := &documents[i]
		var told Explanation
		switch asked := document.typed().(type) {
		case *v1beta1.ServiceInstance:
			told, err = asker.writtenInstance(ctx, asked, document)
		case *v1beta1.ServiceBinding:
			told, err = asker.writtenBinding(ctx, asked, document)
		default:
			malformed++
			told, err = asker.admission.malformed(ctx, document)
		}
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

// A document is one object of a file.
type document struct {
	object *unstructured.Unstructured
	file   string
}

// subject is what a document is about.
func (d *document) subject() Subject {
	return Subject{Kind: d.object.GetKind(), Namespace: d.object.GetNamespace(), Name: nameOf(d.object), File: d.file}
}

// typed is the object as its kind; nil where a field is not of its type.
func (d *document) typed() client.Object {
	var read client.Object = &v1beta1.ServiceInstance{}
	if d.object.GetKind() == KindBinding {
		read = &v1beta1.ServiceBinding{}
	}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(d.object.Object, read) != nil {
		return nil
	}
	return read
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
		object.SetNamespace(cmp.Or(object.GetNamespace(), namespace))
		switch object.GetKind() {
		case KindInstance:
			instances = append(instances, document{object, info.Source})
		case KindBinding:
			bindings = append(bindings, document{object, info.Source})
		}
	}
	return append(instances, bindings...), nil
}
