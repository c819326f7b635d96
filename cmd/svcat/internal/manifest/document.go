package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "sigs.k8s.io/json"
)

// StandardInput is what standard input is called among files.
const StandardInput = "standard input"

// A Reader makes objects of documents.
type Reader struct {
	// Other makes an object of a document, as JSON, that is of a form of its own, and nil of any
	// other; OtherName is what errors call that form. Both may be left out.
	Other     func(text []byte) *unstructured.Unstructured
	OtherName string
}

// A Document is one of the documents of a file, with where it stands.
type Document struct {
	// File is its name, or "standard input".
	File string

	// number counts the documents that are not empty; line is where it begins. Both
	// count from one.
	number, line int

	Object *unstructured.Unstructured
}

// At is where a document stands, for people.
func (d *Document) At() string {
	return fmt.Sprintf("%s, document %d (line %d)", d.File, d.number, d.line)
}

// Fail is an error about a document.
func (d *Document) Fail(err error) error { return fmt.Errorf("%s: %w", d.At(), err) }

// Split reads the documents of a file. A list is its items.
func (r *Reader) Split(file string, text []byte) ([]Document, error) {
	var found []Document
	number := 0
	for _, part := range parts(text) {
		number++
		one := Document{File: file, number: number, line: part.line}
		objects, err := r.decode(part)
		if errors.Is(err, errNoObject) && r.OtherName != "" {
			err = fmt.Errorf("%w, nor %s", err, r.OtherName)
		}
		if err != nil {
			return nil, one.Fail(err)
		}
		for _, object := range objects {
			one.Object = object
			found = append(found, one)
		}
	}
	return found, nil
}

// errNoObject quotes nothing: what it is said of may be a Secret.
var errNoObject = errors.New("it is no object with apiVersion and kind")

// decode reads a document, which may be a list.
func (r *Reader) decode(p part) ([]*unstructured.Unstructured, error) {
	text, err := p.asJSON()
	if err != nil {
		return nil, err
	}
	if string(text) == "null" {
		return nil, nil
	}
	if r.Other != nil {
		if object := r.Other(text); object != nil {
			return []*unstructured.Unstructured{object}, nil
		}
	}
	object := &unstructured.Unstructured{}
	if object.UnmarshalJSON(text) != nil {
		return nil, errNoObject
	}
	return items(object)
}

// asJSON is the document as JSON, without a key that is there twice.
func (p part) asJSON() ([]byte, error) {
	if !json.Valid(p.text) {
		return fromYAML(p)
	}
	var value any
	repeated, err := kjson.UnmarshalStrict(p.text, &value, kjson.DisallowDuplicateFields)
	switch {
	case err != nil:
		return nil, errors.New("it is JSON of a form that cannot be read")
	case len(repeated) > 0:
		return nil, fmt.Errorf("it cannot be read: %w", repeated[0])
	}
	return bytes.TrimSpace(p.text), nil
}

// items are the objects of a list, or the object itself. As with kubectl, an item that
// says nothing of its kind is of the kind that the list is a list of.
func items(object *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	if object.GetAPIVersion() == "" || object.GetKind() == "" {
		return nil, errNoObject
	}
	if !object.IsList() {
		return []*unstructured.Unstructured{object}, nil
	}
	text, err := object.MarshalJSON()
	list := &unstructured.UnstructuredList{}
	if err != nil || list.UnmarshalJSON(text) != nil {
		return nil, errors.New("it is a list of something that is no object")
	}
	var all []*unstructured.Unstructured
	for i := range list.Items {
		found, err := items(&list.Items[i])
		if err != nil {
			return nil, fmt.Errorf("item %d of the list: %w", i+1, err)
		}
		all = append(all, found...)
	}
	return all, nil
}
