package offline

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/equality"
	kjson "sigs.k8s.io/json"
)

const (
	ofInstance = `{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":"ServiceInstance","metadata":{"name":"a"`
	entries    = `[{"manager":"m","operation":"Apply","time":"2026-11-28T10:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:x":{}}}}]`
)

// TestHistory: an object is as it was written, wherever and however it has its managedFields.
func TestHistory(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		// shared says that the JSON is held without them, and number how many entries there are.
		shared bool
		number int
	}{
		"Plain":     {text: ofInstance + `,"managedFields":` + entries + `}}`, shared: true, number: 1},
		"Between":   {text: ofInstance + `,"managedFields":` + entries + `,"uid":"u"},"spec":{"serviceType":"t"}}`, shared: true, number: 1},
		"Brackets":  {text: ofInstance + `,"annotations":{"managedFields":"\"]}","a\\":"\\"},"managedFields":` + entries + `}}`, shared: true, number: 1},
		"Elsewhere": {text: ofInstance + `},"spec":{"parameters":{"metadata":{"managedFields":[1]}}}}`},
		"Deeper":    {text: ofInstance + `,"labels":{"a":"b"}},"spec":{"parameters":{"managedFields":[1]}}}`},
		"Spaces":    {text: ofInstance + `,"managedFields": ` + entries + `}}`, number: 1},
		"Twice":     {text: ofInstance + `,"managedFields":[],"managedFields":` + entries + `}}`, number: 1},
		"Null":      {text: ofInstance + `,"managedFields":null}}`},
		"Empty":     {text: ofInstance + `,"managedFields":[]}}`, shared: true},
		"None":      {text: ofInstance + `}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := newStore()
			require.NoError(t, err)
			one, err := s.read([]byte(tc.text))
			require.NoError(t, err)
			var want map[string]any
			require.NoError(t, json.Unmarshal([]byte(tc.text), &want))
			written, err := json.Marshal(want)
			require.NoError(t, err)
			got, err := json.Marshal(one.object().Object)
			require.NoError(t, err)
			assert.JSONEq(t, string(written), string(got))
			assert.Len(t, one.typed.GetManagedFields(), tc.number)
			assert.Equal(t, tc.shared, one.history != nil)
		})
	}
}

// TestHistoryRefused: what no decoder takes is refused without managedFields as it is with them.
func TestHistoryRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"OfType":   ofInstance + `,"managedFields":{}}}`,
		"Items":    ofInstance + `,"managedFields":[1]}}`,
		"NoComma":  ofInstance + ` "managedFields":[]}}`,
		"Brackets": ofInstance + `,"managedFields":[}}}`,
		"NotEnded": ofInstance + `,"managedFields":[`,
		"Quote":    ofInstance + `,"managedFields`,
		"Escape":   ofInstance + `,"a\`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := newStore()
			require.NoError(t, err)
			_, err = s.read([]byte(text))
			assert.Error(t, err)
		})
	}
}

// TestHistoryShared: objects with the same managedFields hold them once, and what is made of an object
// can be changed without another.
func TestHistoryShared(t *testing.T) {
	t.Parallel()
	s, err := newStore()
	require.NoError(t, err)
	text := ofInstance + `,"managedFields":` + entries + `}}`
	a, err := s.read([]byte(text))
	require.NoError(t, err)
	b, err := s.read([]byte(text))
	require.NoError(t, err)
	require.Same(t, a.history, b.history)
	changed := a.object()
	managed := changed.GetManagedFields()
	managed[0].Manager = "other"
	changed.SetManagedFields(managed)
	assert.Equal(t, "m", b.object().GetManagedFields()[0].Manager)
	assert.Equal(t, "m", b.typed.GetManagedFields()[0].Manager)
}

// FuzzHistory: that managedFields are held apart is seen by no reader of an object, whatever its text.
// What is there twice is left out: decoders of types and of maps differ in it by themselves.
func FuzzHistory(f *testing.F) {
	for _, rest := range []string{
		`,"managedFields":` + entries + `}}`, `,"managedFields":` + entries + `},"metadata":{"uid":"u"}}`, `,"managedFields":{}}}`,
		`,"managedFields":[],"managedFields":` + entries + `}}`, `},"metadata":[]}`, `,"a\\":"\"","managedFields":[null]}}`, `,"managedFields":[`,
	} {
		f.Add([]byte(ofInstance + rest))
	}
	f.Add([]byte(`{"metadata":{"managedFields":[]},"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":"ServiceInstance"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := newStore()
		require.NoError(t, err)
		plain, refused := s.decode(raw)
		got, err := s.read(raw)
		require.Equal(t, refused == nil, err == nil, "%v, and without a cut %v", err, refused)
		var object map[string]any
		if twice, _ := kjson.UnmarshalStrict(raw, &object, kjson.DisallowDuplicateFields); err == nil && len(twice) == 0 {
			assert.True(t, equality.Semantic.DeepEqual(plain.typed, got.typed), "%v\n%v", plain.typed, got.typed)
			assert.Equal(t, plain.object(), got.object())
		}
	})
}
