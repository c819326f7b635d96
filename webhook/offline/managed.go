package offline

import (
	"bytes"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	kjson "sigs.k8s.io/json"
)

// A history is the managedFields of objects: half of the text of a plan, and the same for the plans that
// a relist wrote in the same second. All objects with that text share it, so nothing of it may be changed.
type history struct {
	json    string
	entries []metav1.ManagedFieldsEntry
}

// errNoHistory is of managedFields that are not of their type.
var errNoHistory = errors.New("a field is not of its type")

// historyOf reads managedFields, each text once.
func (s *store) historyOf(text []byte) (*history, error) {
	if known := s.histories[string(text)]; known != nil {
		return known, nil
	}
	read := &history{json: string(text)}
	if kjson.UnmarshalCaseSensitivePreserveInts(text, &read.entries) != nil {
		return nil, errNoHistory
	}
	s.share(read.entries)
	s.histories[read.json] = read
	return read, nil
}

// share has entries hold the texts of fields that others hold, too: other times do not make other fields.
func (s *store) share(entries []metav1.ManagedFieldsEntry) {
	for i := range entries {
		fields := entries[i].FieldsV1
		if fields == nil {
			continue
		}
		known, is := s.owned[string(fields.GetRawBytes())]
		if !is {
			known = fields
			s.owned[fields.GetRawString()] = known
		}
		entries[i].FieldsV1 = known
	}
}

// writeTo puts the managedFields into an object that lacks them. They are the object's own.
func (h *history) writeTo(object *unstructured.Unstructured) {
	metadata, _ := object.Object["metadata"].(map[string]any)
	if h == nil || metadata == nil {
		return
	}
	var entries []any
	_ = utiljson.Unmarshal([]byte(h.json), &entries) // it was read before
	metadata["managedFields"] = entries
}

// cutHistory is the JSON of an object with null for its managedFields, and what they were: nothing if
// it has none, or is not written as encoders of objects do.
func cutHistory(raw []byte) (rest, cut []byte) {
	const none = "null"
	from, to := member(raw, "metadata")
	begin, end := member(raw[from:to], "managedFields")
	if begin == end {
		return raw, nil
	}
	begin, end = from+begin, from+end
	rest = make([]byte, 0, begin+len(none)+len(raw)-end)
	rest = append(rest, raw[:begin]...)
	rest = append(rest, none...)
	return append(rest, raw[end:]...), raw[begin:end]
}

// member is where the object or list begins and ends that a JSON object has under a name; both are 0 for
// none. It looks at brackets and quotes alone.
func member(object []byte, name string) (from, to int) {
	depth := 0
	for i := 0; i < len(object); i++ {
		switch object[i] {
		case '"':
			end := closing(object, i)
			if from == 0 && depth == 1 && string(object[i+1:end]) == name && opens(object[end:]) {
				from = end + len(`":`)
			}
			i = end
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 1 && from > 0 {
				return from, i + 1
			}
		}
	}
	return 0, 0
}

// opens says that what follows a quote makes a name of the quoted, with an object or list as its value.
func opens(rest []byte) bool {
	return bytes.HasPrefix(rest, []byte(`":{`)) || bytes.HasPrefix(rest, []byte(`":[`))
}

// closing is where the string ends that begins at a quote: at the other quote, or with the text.
func closing(text []byte, quote int) int {
	for i := quote + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(text)
}
