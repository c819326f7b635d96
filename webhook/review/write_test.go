package review

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Whether there was a spec is what the object shows, and nothing in it can say so.
func TestSpeclessIsNoField(t *testing.T) {
	t.Parallel()
	type spec struct {
		A string `json:"a"`
	}
	for name, tc := range map[string]struct {
		reason, raw string
		want        bool
	}{
		"Spec":   {reason: "there is one", raw: `{"spec":{"a":"x"}}`},
		"Absent": {reason: "there is none", raw: `{"metadata":{}}`, want: true},
		"Null":   {reason: "there is none", raw: `{"spec":null}`, want: true},
		"Forged": {reason: "Attack: the webhook would write an empty spec over it", raw: `{"spec":{"a":"x"},"Specless":true}`},
		"Odd":    {reason: "a field that admission does not read", raw: `{"spec":{"a":"x"},"Specless":"yes"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			decoded, wrong := decodeObject[spec, struct{}]([]byte(tc.raw))
			require.Nil(t, wrong, tc.reason)
			assert.Equal(t, tc.want, decoded.Specless, tc.reason)
		})
	}
}
