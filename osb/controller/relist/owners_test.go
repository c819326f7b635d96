package relist

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A text of managedFields is read once while it is among the last ones, and what objects own of
// several texts does not change what is kept of one.
func TestLeavesOf(t *testing.T) { //nolint:paralleltest // the texts that are kept are the process's
	const begin, end = `{"f:spec":{"f:`, `":{}}}`
	sized := func(bytes int) (text string, leaves fieldSet) {
		name := strings.Repeat("x", bytes-len(begin+end))
		return begin + name + end, fieldSet{pathOf("spec", name): true}
	}
	longest, ofLongest := sized(longestText)
	tooLong, ofTooLong := sized(longestText + 1)
	cases := map[string]struct {
		reason, text string
		want         fieldSet
		kept         bool
	}{
		"Leaves":  {"A dot is its container, and another empty object a leaf.", `{"f:metadata":{"f:labels":{".":{},"f:a":{}}},"f:spec":{"f:b":{}}}`, fieldSet{pathOf("metadata", "labels", "a"): true, pathOf("spec", "b"): true}, true},
		"Similar": {"Another text of the same length is another.", `{"f:metadata":{"f:labels":{".":{},"f:a":{}}},"f:spec":{"f:c":{}}}`, fieldSet{pathOf("metadata", "labels", "a"): true, pathOf("spec", "c"): true}, true},
		"Broken":  {"It owns nothing.", `{"f:spec":{"f:b":{}}`, fieldSet{}, true},
		"Longest": {"It is the longest that is kept.", longest, ofLongest, true},
		"TooLong": {"It is read each time.", tooLong, ofTooLong, false},
	}
	read := func(text string) (fieldSet, uintptr) {
		leaves := leavesOf(text)
		return leaves, reflect.ValueOf(leaves).Pointer()
	}
	for name, tc := range cases { //nolint:paralleltest // see above
		t.Run(name, func(t *testing.T) {
			first, at := read(tc.text)
			require.Equal(t, tc.want, first, tc.reason)
			again, then := read(tc.text)
			require.Equal(t, tc.want, again, tc.reason)
			assert.Equal(t, tc.kept, at == then, tc.reason)

			entry := func(text string) metav1.ManagedFieldsEntry {
				return metav1.ManagedFieldsEntry{Manager: "m", Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1(text)}
			}
			all := appliedBy([]metav1.ManagedFieldsEntry{entry(tc.text), entry(`{"f:spec":{"f:y":{}}}`), entry(`{"f:spec":{"f:z":{}}}`)}, "m")
			assert.Len(t, all, len(tc.want)+2)
			assert.Equal(t, tc.want, leavesOf(tc.text), "what is kept does not change")
			for i := range 2 * keptTexts {
				leavesOf(fmt.Sprintf(`{"f:spec":{"f:other%d":{}}}`, i))
			}
			assert.LessOrEqual(t, knownLeaves.Len(), keptTexts)
			_, known := knownLeaves.Get(tc.text)
			assert.False(t, known, "the last ones are kept")
		})
	}
}

func TestHolds(t *testing.T) {
	t.Parallel()
	owned := fieldSet{pathOf("spec", "tags"): true, pathOf("metadata", "labels", "a"): true}
	cases := map[string]struct {
		reason, path string
		want         bool
	}{
		"Itself":    {"The field is in the set.", pathOf("spec", "tags"), true},
		"Within":    {"It is within a field of the set.", pathOf("spec", "tags", "x"), true},
		"Around":    {"A field of the set is within it.", pathOf("metadata", "labels"), true},
		"Longer":    {"Another field's name begins with that of one in the set.", pathOf("spec", "tagsOf"), false},
		"Shorter":   {"The name of one in the set begins with its own.", pathOf("spec", "tag"), false},
		"BesideOne": {"It is beside one of the set.", pathOf("metadata", "labels", "b"), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, owned.holds(tc.path), tc.reason)
		})
	}
}
