package snapshot

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
)

// What a file may have at most: it may come from anyone.
const (
	maxBytes   = 1 << 30 // of the whole text, after gzip
	maxLine    = 4 << 20
	maxObjects = 500_000
	maxDepth   = 500
)

// Write writes the file; zipped compresses it.
func (s *Snapshot) Write(w io.Writer, zipped bool) error {
	if !zipped {
		return s.write(w)
	}
	packed := gzip.NewWriter(w)
	return errors.Join(s.write(packed), packed.Close())
}

func (s *Snapshot) write(w io.Writer) error {
	out := bufio.NewWriter(w)
	if err := json.NewEncoder(out).Encode(s.Header); err != nil {
		return fmt.Errorf("cannot write the header: %w", err)
	}
	for _, object := range s.Objects {
		// An error of a writer that buffers stays.
		_, _ = out.Write(object)
		_ = out.WriteByte('\n')
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("cannot write the snapshot: %w", err)
	}
	return nil
}

// encode is an object as a line of a file; the error says why it could not be read back.
func encode(object *unstructured.Unstructured) ([]byte, error) {
	text, err := json.Marshal(object.Object)
	switch {
	case err != nil:
		return nil, errors.New("it cannot be encoded")
	case len(text) > maxLine:
		return nil, fmt.Errorf("it has %d bytes, and at most %d are taken", len(text), maxLine)
	}
	return text, shallow(text)
}

// Read reads a file, zipped or not. Errors name the line.
func Read(r io.Reader) (*Snapshot, error) {
	buffered := bufio.NewReader(r)
	if begin, _ := buffered.Peek(2); bytes.Equal(begin, []byte{0x1f, 0x8b}) {
		unpacked, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, errors.New("it begins as gzip does, and is not")
		}
		r = unpacked
	} else {
		r = buffered
	}
	bounded := &io.LimitedReader{R: r, N: maxBytes + 1}
	lines := bufio.NewScanner(bounded)
	lines.Buffer(make([]byte, 64<<10), maxLine+1)
	read := reading{snapshot: &Snapshot{}, counts: map[string]int{}, lines: map[string]int{}}
	for lines.Scan() {
		read.line++
		if err := read.take(lines.Bytes()); err != nil {
			return nil, fmt.Errorf("line %d: %w", read.line, err)
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("line %d: it is longer than %d bytes", read.line+1, maxLine)
	case err != nil:
		return nil, fmt.Errorf("line %d: cannot read it: %w", read.line+1, err)
	case bounded.N == 0:
		return nil, fmt.Errorf("it has more than %d MiB of text", maxBytes>>20)
	}
	return read.end()
}

// A reading is how far a file is read.
type reading struct {
	snapshot *Snapshot
	line     int
	counts   map[string]int
	// lines are where objects are, by kind and name.
	lines map[string]int
}

func (r *reading) take(text []byte) error {
	if r.line == 1 {
		return r.header(text)
	}
	if len(r.snapshot.Objects) == maxObjects {
		return fmt.Errorf("there are more than %d objects", maxObjects)
	}
	name, err := nameIn(text)
	if err == nil {
		err = known(&name)
	}
	if err == nil {
		err = r.once(&name)
	}
	if err != nil {
		return err
	}
	r.counts[name.Kind]++
	r.snapshot.Objects = append(r.snapshot.Objects, bytes.Clone(text))
	return nil
}

// once refuses a second line of an object: which one counts would be a guess.
func (r *reading) once(of *Name) error {
	at := of.Metadata.Name
	if of.Metadata.Namespace != nil {
		at = *of.Metadata.Namespace + "/" + at
	}
	key := of.Kind + " " + at
	if first, is := r.lines[key]; is {
		return fmt.Errorf("%s %.130q is there twice, and first in line %d: the file was edited; take it again", of.Kind, at, first)
	}
	r.lines[key] = r.line
	return nil
}

// header reads the first line.
func (r *reading) header(text []byte) error {
	var begin struct {
		Kind    string `json:"kind"`
		Version string `json:"version"`
	}
	if json.Unmarshal(text, &begin) != nil || begin.Kind != headerKind {
		return fmt.Errorf("it is no snapshot: the header has kind %s; take one with svcat snapshot -o FILE", headerKind)
	}
	if begin.Version != headerVersion {
		return fmt.Errorf("version of the header is %.40q, and this svcat reads %s: use the svcat that took it, or take it again with this one", begin.Version, headerVersion)
	}
	if json.Unmarshal(text, &r.snapshot.Header) != nil {
		return errors.New("the header cannot be read: a field is not of its type; take the snapshot again")
	}
	_, err := r.snapshot.Options()
	return err
}

// end says whether all that the header tells of is there.
func (r *reading) end() (*Snapshot, error) {
	if r.line == 0 {
		return nil, errors.New("it is empty: take a snapshot with svcat snapshot -o FILE")
	}
	for _, list := range r.snapshot.Lists {
		if r.counts[list.Kind] != list.Count {
			return nil, fmt.Errorf("the header tells of %d %.60q, and there are %d: the file was cut or edited; take it again", list.Count, list.Kind, r.counts[list.Kind])
		}
	}
	return r.snapshot, nil
}

// known says what is wrong with an object of a file.
func known(of *Name) error {
	gvk := schema.FromAPIVersionAndKind(of.APIVersion, of.Kind)
	name, namespace := of.Metadata.Name, of.Metadata.Namespace
	for _, k := range kinds {
		if k.GroupVersionKind != gvk {
			continue
		}
		switch {
		case name == "":
			return fmt.Errorf("%s has no metadata.name", gvk.Kind)
		case !k.namespaced && namespace != nil:
			return fmt.Errorf("metadata.namespace of %s %.60q is %.60q; the kind is of no namespace", gvk.Kind, name, *namespace)
		case k.namespaced && (namespace == nil || len(validation.IsDNS1123Label(*namespace)) > 0):
			return fmt.Errorf("metadata.namespace of %s %.60q is missing or wrong; give the name of a namespace", gvk.Kind, name)
		}
		return nil
	}
	return fmt.Errorf("apiVersion and kind are %.60q and %.60q, which no snapshot has", of.APIVersion, of.Kind)
}
