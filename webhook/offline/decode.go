package offline

import (
	"errors"
	"fmt"
	"strings"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kjson "sigs.k8s.io/json"
)

// read is the object of a JSON text with what its Go type makes of it, by the decoder of
// the API's clients.
func (s *store) read(raw []byte) (*stored, error) {
	rest, cut := cutHistory(raw)
	one, err := s.decode(rest)
	if err != nil || cut == nil {
		return one, err
	}
	if len(one.typed.GetManagedFields()) > 0 {
		return s.decode(raw) // it has them twice, and the last ones count
	}
	if one.history, err = s.historyOf(cut); err != nil {
		return nil, fmt.Errorf("cannot read %s %q: %w", one.kind.Kind, one.at.Name, err)
	}
	one.typed.SetManagedFields(one.history.entries)
	return one, nil
}

func (s *store) decode(raw []byte) (*stored, error) {
	kind, err := kindIn(raw)
	if err != nil {
		return nil, err
	}
	made, err := s.scheme.New(kind)
	if err != nil {
		return nil, fmt.Errorf("cannot read a %s: %w", kind.Kind, err)
	}
	typed, ok := made.(client.Object)
	if !ok {
		return nil, fmt.Errorf("cannot read a %s: it has no metadata", kind.Kind)
	}
	// The decoder's own text may quote the object.
	if kjson.UnmarshalCaseSensitivePreserveInts(raw, typed) != nil {
		return nil, fmt.Errorf("cannot read %s %q: a field is not of its type", kind.Kind, typed.GetName())
	}
	if typed.GetObjectKind().GroupVersionKind() != kind {
		return nil, errNoObject // it says so twice, and not the same
	}
	return &stored{kind: kind, at: client.ObjectKeyFromObject(typed), json: raw, typed: typed}, nil
}

// kindIn is the kind of an object as JSON. An encoder of objects puts it first: then the rest is not read.
func kindIn(raw []byte) (schema.GroupVersionKind, error) {
	version, rest, first := strings.Cut(string(raw[:min(len(raw), longestKind)]), `","kind":"`)
	version, begins := strings.CutPrefix(version, `{"apiVersion":"`)
	name, _, ends := strings.Cut(rest, `"`)
	if begins && first && ends && !strings.ContainsAny(version+name, `"\\`) {
		return schema.FromAPIVersionAndKind(unique.Make(version).Value(), unique.Make(name).Value()), nil
	}
	var of metav1.TypeMeta
	if kjson.UnmarshalCaseSensitivePreserveInts(raw, &of) != nil {
		return schema.GroupVersionKind{}, errNoObject
	}
	return of.GroupVersionKind(), nil
}

// longestKind is how far into an object its kind is looked for before all of it is read.
const longestKind = 200

// errNoObject is of what is no object at all. It is not quoted: it may hold anything.
var errNoObject = errors.New("cannot read an object: it is not JSON with apiVersion and kind")
