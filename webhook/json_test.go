package webhook

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
)

// jsonPointer writes a key as a segment of a JSON pointer (RFC 6901).
var jsonPointer = strings.NewReplacer("~", "~0", "/", "~1")

// changed is an object after a merge patch.
func changed(tb testing.TB, object []byte, patch string) []byte {
	tb.Helper()
	if patch == "" {
		return object
	}
	merged, err := jsonpatch.MergePatch(object, []byte(patch))
	require.NoError(tb, err)
	return merged
}

// change is the merge patch from one object to another.
func change(tb testing.TB, from, to []byte) string {
	tb.Helper()
	patch, err := jsonpatch.CreateMergePatch(from, to)
	require.NoError(tb, err)
	return string(patch)
}

// at is the canonical text of what an object has at a pointer, "absent" for nothing.
func at(tb testing.TB, object []byte, pointer string) string {
	tb.Helper()
	decoder := json.NewDecoder(bytes.NewReader(object))
	decoder.UseNumber()
	var values map[string]any
	require.NoError(tb, decoder.Decode(&values))
	value, present := merge.Pointer(pointer).Get(values)
	if !present {
		return "absent"
	}
	text, err := merge.Canonical(value)
	require.NoError(tb, err)
	return string(text)
}

// recordOf is the record of applied defaults that an object carries.
func recordOf(tb testing.TB, object []byte) v1beta1.AppliedDefaults {
	tb.Helper()
	var meta metav1.PartialObjectMetadata
	require.NoError(tb, json.Unmarshal(object, &meta))
	record, err := v1beta1.ParseAppliedDefaults(meta.Annotations[v1beta1.AnnotationAppliedDefaults])
	require.NoError(tb, err)
	return record
}

// hashes replaces "<hash of x>" by the value of a hashed label.
func hashes(text string) string {
	return regexp.MustCompile(`<hash of ([^>]*)>`).ReplaceAllStringFunc(text, func(found string) string {
		return v1beta1.HashLabelValue(strings.TrimSuffix(strings.TrimPrefix(found, "<hash of "), ">"))
	})
}

// listAt is a list in an object's spec, nil if it is absent.
func listAt(tb testing.TB, object []byte, field string) []any {
	tb.Helper()
	var decoded struct {
		Spec map[string]any `json:"spec"`
	}
	require.NoError(tb, json.Unmarshal(object, &decoded))
	list, _ := decoded.Spec[field].([]any)
	return list
}
