package moving

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// Write writes a file: to its owner alone, encrypted where there are recipients. A file that is
// there already is replaced as a whole, and never written to: it may be a link, or be open
// elsewhere.
func Write(path string, contents *Contents, seal Seal) error {
	file := cli.NewFile{Flag: "output", Path: path, Force: true}
	if err := file.Validate(); err != nil {
		return err
	}
	text, err := contents.encode()
	if err != nil {
		return err
	}
	if _, err := decode(text); err != nil {
		return fmt.Errorf("cannot write the file, which svcat import would refuse: %w", err)
	}
	if text, err = seal.encrypt(text); err != nil {
		return err
	}
	if err := file.Store(text); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
}

// encode is the text of a file. The documents are JSON, so that numbers in parameters stay as
// they are written.
func (c *Contents) encode() ([]byte, error) {
	objects := c.Objects()
	c.Header.APIVersion, c.Header.Kind, c.Header.Objects = Version, kindHeader, len(objects)
	var text bytes.Buffer
	if err := document(&text, c.Header); err != nil {
		return nil, err
	}
	limits := newCheck()
	for i, object := range objects {
		const header = 1
		begun := text.Len()
		err := typed(&text, object)
		if err == nil {
			err = limits.size(header+1+i, text.Bytes()[begun:])
		}
		if err != nil {
			return nil, fmt.Errorf("cannot write %s: %w", Title(object), err)
		}
	}
	if text.Len() > maxFile {
		return nil, fmt.Errorf("cannot write the file: it would have %d bytes, and %d are allowed: export fewer namespaces at once", text.Len(), maxFile)
	}
	return text.Bytes(), nil
}

// Refused is why no file can have an object; nil: one can.
func Refused(object client.Object) error {
	var text bytes.Buffer
	if err := typed(&text, object); err != nil {
		return err
	}
	const second = 2 // the first is the header
	limits := newCheck()
	if err := limits.size(second, text.Bytes()); err != nil {
		return err
	}
	return limits.object(object, KindOf(object))
}

// typed writes an object with its kind.
func typed(w io.Writer, object client.Object) error {
	kind := KindOf(object)
	group, _ := schema.ParseGroupVersion(versionOf(kind))
	object.GetObjectKind().SetGroupVersionKind(group.WithKind(kind))
	return document(w, object)
}

// separator is the line between two documents.
const separator = "---\n"

// document writes a value, each field on a line of its own. None is indented: a user may nest parameters
// thousands of levels deep, and 50 kB of them would become 160 MB.
func document(w io.Writer, value any) error {
	text, err := json.MarshalIndent(value, "", "")
	if err != nil {
		return fmt.Errorf("cannot write a document: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s%s\n", separator, text)
	return err
}

// ownPrefix begins the annotations that admission, the controller and users give an object for
// the cluster that it is in.
const ownPrefix = "servicecatalog.kubernetes.io/"

// Strip takes off an object what counts only in the cluster that it is in. The UID and the
// generation stay: by them the release tells whether the object changed since. So do the
// owners of an instance of a binding's own, which tell that it is one.
func Strip(object client.Object) {
	object.SetManagedFields(nil)
	object.SetFinalizers(nil)
	object.SetResourceVersion("")
	object.SetSelfLink("")
	if instance, is := object.(*v1beta1.ServiceInstance); !is || !dedicated(instance) {
		object.SetOwnerReferences(nil)
	}
	object.SetAnnotations(without(object.GetAnnotations(), func(key string) bool {
		return key == "kubectl.kubernetes.io/last-applied-configuration" || key == "reconciliationTriggered" ||
			strings.HasPrefix(key, ownPrefix) && !carried[key]
	}))
	object.SetLabels(without(object.GetLabels(), func(key string) bool {
		return strings.HasPrefix(key, v1beta1.GroupName+"/")
	}))
}

// carried are the annotations of ours that an object keeps in the file: what its user said of
// its deletion.
var carried = map[string]bool{v1beta1.AnnotationPreventDeletion: true, v1beta1.AnnotationDeprovisionAdopted: true}

func dedicated(instance *v1beta1.ServiceInstance) bool {
	_, is := instance.DedicatedTo()
	return is
}

// without are entries but for those of a kind; nil if none is left.
func without(entries map[string]string, drop func(key string) bool) map[string]string {
	kept := maps.Clone(entries)
	maps.DeleteFunc(kept, func(key, _ string) bool { return drop(key) })
	if len(kept) == 0 {
		return nil
	}
	return kept
}
