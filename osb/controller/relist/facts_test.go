package relist

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Metadata and schemas are held as text: it has one spelling for each value, so that a broker that
// spells its catalog otherwise has nothing written, and it is hashed as the value itself.
func TestHashOfFacts(t *testing.T) {
	t.Parallel()
	const metadata = `{"a":{"x":1,"y":[1.5,null,"é<"]},"b":12345678901234567,"c":"\u0085"}`
	hashOf := func(metadata string) (hash string, facts map[string]any) {
		objects, skipped := Wanted(Broker{Name: "b"}, catalogOf(t, `{"services":[{"id":"s","name":"db","metadata":`+metadata+`,"plans":[{"id":"p","name":"small"}]}]}`))
		require.Empty(t, skipped)
		return objects.Classes[0].Hash, objects.Classes[0].Facts
	}
	hash, facts := hashOf(metadata)
	cases := map[string]struct {
		reason, metadata string
		same             bool
	}{
		"Order":    {"An object has no order.", `{"c":"\u0085","b":12345678901234567,"a":{"y":[1.5,null,"é<"],"x":1}}`, true},
		"Spaces":   {"Nor does it matter how it is set.", "{\n \"a\": {\"x\": 1, \"y\": [1.5, null, \"é<\"]}, \"b\": 12345678901234567, \"c\": \"\\u0085\"}", true},
		"Numbers":  {"1.0 is stored as 1.", `{"a":{"x":1.0,"y":[15e-1,null,"é<"]},"b":12345678901234567,"c":"\u0085"}`, true},
		"Escapes":  {"A character is the same, escaped or not.", `{"a":{"x":1,"y":[1.5,null,"\u00e9\u003c"]},"b":12345678901234567,"c":"` + "\u0085" + `"}`, true},
		"Digits":   {"No digit of an integer is lost.", `{"a":{"x":1,"y":[1.5,null,"é<"]},"b":12345678901234568,"c":"\u0085"}`, false},
		"List":     {"A list has an order.", `{"a":{"x":1,"y":[null,1.5,"é<"]},"b":12345678901234567,"c":"\u0085"}`, false},
		"LessNull": {"A null is something.", `{"a":{"x":1,"y":[1.5,"é<"]},"b":12345678901234567,"c":"\u0085"}`, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			other, _ := hashOf(tc.metadata)
			assert.Equal(t, tc.same, hash == other, tc.reason)
		})
	}
	value, err := decode(json.RawMessage(metadata))
	require.NoError(t, err)
	byValue := Object{Kind: ClusterServiceClass, Facts: maps.Clone(facts)}
	byValue.Facts["externalMetadata"] = value
	byValue.seal(&notes{})
	assert.Equal(t, byValue.Hash, hash, "what is stored since a version that held the value is not written again")
}
