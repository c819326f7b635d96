package webhook

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// A review is checked to be valid JSON once, and then skimmed: members finds the
// few parts that admission reads, and only those are decoded. Decoding all of it
// with encoding/json, which checks every nested part again, was most of the cost
// of a decision.

// members visits the members of an object in valid JSON, in their order; of
// another value it visits nothing. Key and value are parts of the text. It stops
// when visit returns false, and says whether it came to the end.
func members(object []byte, visit func(key, value []byte) bool) bool {
	at := skipSpace(object, 0)
	if at == len(object) || object[at] != '{' {
		return true
	}
	for at = skipSpace(object, at+1); object[at] != '}'; {
		end := skipString(object, at)
		key := object[at+1 : end-1]
		if bytes.IndexByte(key, '\\') >= 0 {
			key = unescaped(object[at:end])
		}
		at = skipSpace(object, skipSpace(object, end)+1) // the colon
		end = skipValue(object, at)
		if !visit(key, object[at:end]) {
			return false
		}
		if at = skipSpace(object, end); object[at] == ',' {
			at = skipSpace(object, at+1)
		}
	}
	return true
}

func skipSpace(text []byte, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r') {
		at++
	}
	return at
}

// skipString returns the end of the string that begins at a quote.
func skipString(text []byte, at int) int {
	for at++; text[at] != '"'; at++ {
		if text[at] == '\\' {
			at++
		}
	}
	return at + 1
}

// skipValue returns the end of the value that begins at a place.
func skipValue(text []byte, at int) int {
	depth := 0
	for at < len(text) {
		switch text[at] {
		case '"':
			at = skipString(text, at)
		case '{', '[':
			depth++
			at++
			continue
		case '}', ']':
			depth--
			at++
		case ',', ':', ' ', '\n', '\t', '\r':
			at++
			continue
		default:
			at = skipScalar(text, at)
		}
		if depth == 0 {
			return at
		}
	}
	return at
}

// skipScalar returns the end of a number, a boolean or null.
func skipScalar(text []byte, at int) int {
	for at < len(text) && bytes.IndexByte([]byte(",]} \n\t\r"), text[at]) < 0 {
		at++
	}
	return at
}

// unescaped is the text of a JSON string with escapes.
func unescaped(quoted []byte) []byte {
	var text string
	// It is valid JSON, so it can be decoded.
	_ = json.Unmarshal(quoted, &text)
	return []byte(text)
}

// skimText reads a string; null reads like an absent one.
func skimText[T ~string](value []byte, into *T) bool {
	if isNull(value) {
		return true
	}
	if value[0] != '"' || bytes.IndexByte(value, '\\') >= 0 || !utf8.Valid(value) {
		return json.Unmarshal(value, into) == nil
	}
	*into = T(value[1 : len(value)-1])
	return true
}

// skimReview reads what admission needs of a review.
func skimReview(review []byte, is *metav1.TypeMeta, req *admission.Request) bool {
	return members(review, func(key, value []byte) bool {
		switch string(key) {
		case "apiVersion":
			return skimText(value, &is.APIVersion)
		case "kind":
			return skimText(value, &is.Kind)
		case "request":
			return skimRequest(value, req)
		}
		return true
	})
}

// skimRequest reads what admission needs of a review's request.
func skimRequest(request []byte, into *admission.Request) bool {
	return members(request, func(key, value []byte) bool {
		switch string(key) {
		case "uid":
			return skimText(value, &into.UID)
		case "name":
			return skimText(value, &into.Name)
		case "namespace":
			return skimText(value, &into.Namespace)
		case "operation":
			return skimText(value, &into.Operation)
		case "subResource":
			return skimText(value, &into.SubResource)
		case "kind":
			return members(value, func(key, value []byte) bool {
				switch string(key) {
				case "group":
					return skimText(value, &into.Kind.Group)
				case "version":
					return skimText(value, &into.Kind.Version)
				case "kind":
					return skimText(value, &into.Kind.Kind)
				}
				return true
			})
		case "userInfo":
			into.UserInfo = authenticationv1.UserInfo{}
			return json.Unmarshal(value, &into.UserInfo) == nil
		case "object":
			into.Object = runtime.RawExtension{Raw: unlessNull(value)}
		case "oldObject":
			into.OldObject = runtime.RawExtension{Raw: unlessNull(value)}
		case "dryRun":
			return json.Unmarshal(value, &into.DryRun) == nil
		}
		return true
	})
}

func unlessNull(value []byte) []byte {
	if isNull(value) {
		return nil
	}
	return value
}

// skim reads an instance. It returns false for one that has to be decoded in the
// slow way, because a part is of a wrong type or appears twice.
func (i *instance) skim(object []byte) bool {
	return isObject(object) && members(object, func(key, value []byte) bool {
		switch string(key) {
		case "metadata":
			return i.Metadata.skim(value)
		case "spec":
			return i.Spec == nil && i.skimSpec(value)
		case "status":
			return json.Unmarshal(value, &i.Status) == nil
		}
		return true
	})
}

func isObject(value []byte) bool {
	at := skipSpace(value, 0)
	return at < len(value) && value[at] == '{'
}

func (m *objectMeta) skim(metadata []byte) bool {
	if !isObject(metadata) {
		return isNull(metadata)
	}
	return members(metadata, func(key, value []byte) bool {
		var into any
		switch string(key) {
		case "labels":
			into = &m.Labels
		case "annotations":
			into = &m.Annotations
		case "finalizers":
			into = &m.Finalizers
		case "deletionTimestamp":
			into = &m.DeletionTimestamp
		default:
			return true
		}
		return json.Unmarshal(value, into) == nil
	})
}

// skimSpec decodes all of a spec but the parameters, which are kept as text.
func (i *instance) skimSpec(spec []byte) bool {
	if !isObject(spec) {
		return isNull(spec)
	}
	var parameters []byte
	once := members(spec, func(key, value []byte) bool {
		if string(key) != "parameters" {
			return true
		}
		again := parameters != nil
		parameters = value
		return !again
	})
	i.Spec = &v1beta1.ServiceInstanceSpec{}
	if !once || json.Unmarshal(withNull(spec, parameters), i.Spec) != nil {
		return false
	}
	if !isNull(parameters) {
		i.Spec.Parameters = &runtime.RawExtension{Raw: parameters}
	}
	return true
}

// withNull is the text with a null in place of one of its parts.
func withNull(text, part []byte) []byte {
	if part == nil {
		return text
	}
	// Both end with the same array, so that their capacities tell where part begins.
	at := cap(text) - cap(part)
	return slices.Concat(text[:at], []byte("null"), text[at+len(part):])
}
