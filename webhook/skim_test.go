package webhook

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Skimming finds in any valid JSON what decoding all of it finds.
func FuzzMembers(f *testing.F) {
	for _, text := range []string{
		`{}`, ` { } `, `[]`, `null`, `5`, `"x"`, `{"a":1}`, "{ \"a\" :\t[1, {\"b\":\"}\"} ] ,\n\"c\": -1.5e3 }", `{"a\"b":"\\","\u0063":{"d":null},"":true}`,
		`{"a":1,"a":{"b":[[],{}]}}`, `{"k":"\\\""}`, `{"k":[",",":","{"]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !json.Valid(text) {
			return
		}
		var want map[string]json.RawMessage
		if json.Unmarshal(text, &want) != nil {
			want = nil
		}
		found := map[string]json.RawMessage{}
		require.True(t, members(text, func(key, value []byte) bool {
			found[decodedKey(t, key)] = value
			return true
		}))
		require.Len(t, found, len(want))
		for key, value := range want {
			assert.JSONEq(t, string(value), string(found[key]), "%q in %s", key, text)
		}
	})
}

// decodedKey is a key as the decoder gives it, which replaces what is no UTF-8.
func decodedKey(t *testing.T, key []byte) string {
	t.Helper()
	quoted, err := json.Marshal(string(key))
	require.NoError(t, err)
	var text string
	require.NoError(t, json.Unmarshal(quoted, &text))
	return text
}

// An instance is read as if all of it were decoded, or refused as if.
func TestSkimmedInstances(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"Empty":           `{}`,
		"NoObject":        `[{"spec":{}}]`,
		"Null":            `null`,
		"Nulls":           `{"metadata":null,"spec":null,"status":null}`,
		"NullParts":       `{"metadata":{"labels":null,"annotations":null,"finalizers":null,"deletionTimestamp":null},"spec":{"serviceType":null,"parameters":null}}`,
		"Whole":           `{"metadata":{"labels":{"a":"b"},"annotations":{"c":"d"},"finalizers":["e"],"deletionTimestamp":"2026-01-01T00:00:00Z","managedFields":[{}]},"spec":{"serviceType":"mysql","parameters":{"a":{"b":[1.0]}},"clusterServicePlanRef":{"name":"p"},"parametersFrom":[{"secretKeyRef":{"name":"s","key":"k"}}],"updateRequests":3},"status":{"provisionStatus":"Provisioned","externalProperties":{"a":1}}}`,
		"EscapedNames":    `{"\u0073pec":{"parameter\u0073":{"x":"\u00e9"},"serviceT\u0079pe":"mysql"}}`,
		"Spaces":          "\n{ \"spec\" : { \"parameters\" : { \"a\" : 1 } , \"serviceType\" : \"mysql\" } }\n",
		"OddParameters":   `{"spec":{"parameters":[1,"x"]}}`,
		"TwoSpecs":        `{"spec":{"serviceType":"a","parameters":{"a":1}},"spec":{"planSelector":{}}}`,
		"TwoParameters":   `{"spec":{"parameters":{"a":1},"parameters":null}}`,
		"TwoMetadata":     `{"metadata":{"labels":{"a":"b"}},"metadata":{"labels":{"c":"d"},"finalizers":["x"]}}`,
		"NestedSpec":      `{"other":{"spec":{"serviceType":"no"}},"spec":{"parameters":{"parameters":{"a":1},"spec":{}}}}`,
		"WrongType":       `{"spec":{"serviceType":5,"parameters":{"a":1}}}`,
		"WrongSpec":       `{"spec":"x"}`,
		"WrongMetadata":   `{"metadata":[]}`,
		"WrongLabels":     `{"metadata":{"labels":{"a":1}}}`,
		"WrongStatus":     `{"status":{"provisionStatus":{}}}`,
		"TooLargeANumber": `{"spec":{"updateRequests":1e99}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := &instance{}
			wantErr := json.Unmarshal([]byte(text), want)
			got, wrong := decodeInstance([]byte(text))
			if wantErr != nil {
				assert.Equal(t, describe(wantErr), wrong)
				return
			}
			require.Nil(t, wrong)
			if got.specless {
				got.Spec = nil
			}
			got.specless = false
			assert.Equal(t, want, got)
		})
	}
}
