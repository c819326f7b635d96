package offline

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// TestReadKind: the kind of an object is found wherever it stands, and is said once.
func TestReadKind(t *testing.T) {
	t.Parallel()
	const version = `"apiVersion":"servicecatalog.k8s.io/v1beta1"`
	for name, tc := range map[string]struct {
		text  string
		fails bool
	}{
		"First":     {text: `{` + version + `,"kind":"ServiceInstance","metadata":{"name":"a"}}`},
		"Last":      {text: `{"metadata":{"name":"a"},"kind":"ServiceInstance",` + version + `}`},
		"Spaces":    {text: `{ ` + version + `, "kind": "ServiceInstance", "metadata": {"name": "a"}}`},
		"Escaped":   {text: `{` + version + `,"kind":"Service\u0049nstance","metadata":{"name":"a"}}`},
		"Twice":     {text: `{` + version + `,"kind":"ServiceInstance","metadata":{"name":"a"},"kind":"ServiceBinding"}`, fails: true},
		"NotEnded":  {text: `{` + version + `,"kind":"ServiceInstance`, fails: true},
		"NotQuoted": {text: `{` + version + `,"kind":1}`, fails: true},
		"None":      {text: `{"metadata":{"name":"a"}}`, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := newStore()
			require.NoError(t, err)
			read, err := s.read([]byte(tc.text))
			if tc.fails {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, v1beta1.GroupVersion.WithKind("ServiceInstance"), read.kind)
			assert.Equal(t, client.ObjectKey{Name: "a"}, read.at)
		})
	}
}

// TestShareOwned: objects with the same managedFields hold them once.
func TestShareOwned(t *testing.T) {
	t.Parallel()
	s, err := newStore()
	require.NoError(t, err)
	read := func(name, owned string) *stored {
		one, err := s.read([]byte(`{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":"ServiceInstance","metadata":{"name":"` + name +
			`","managedFields":[{"manager":"m","operation":"Apply","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"` + owned + `":{}}}}]}}`))
		require.NoError(t, err)
		return one
	}
	of := func(one *stored) any { return one.typed.GetManagedFields()[0].FieldsV1 }
	a, b, other := read("a", "f:x"), read("b", "f:x"), read("c", "f:y")
	assert.Same(t, of(a), of(b))
	assert.NotEqual(t, of(a), of(other))
}
