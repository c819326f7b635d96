package order

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

func TestParameters(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "parameters.json")
	require.NoError(t, os.WriteFile(file, []byte("{\n  \"a\": 1\n}\n"), 0o600))
	for name, c := range map[string]struct {
		reason string
		gift   gift
		want   string
		wrong  string
	}{
		"None":          {"nothing is sent", gift{}, "", ""},
		"Texts":         {"values are texts, as ever", gift{params: []string{"a=1", " b = x=y ", "c="}}, `{"a":"1","b":"x=y","c":""}`, ""},
		"Lists":         {"a name that comes again", gift{params: []string{"d=banana", "d=pineapple", "d=fig"}}, `{"d":["banana","pineapple","fig"]}`, ""},
		"Plain":         {"no letter is escaped", gift{params: []string{"a=<b>&"}}, `{"a":"<b>&"}`, ""},
		"NoValue":       {"it is not repeated", gift{params: []string{"a=1", "s3cr3t"}}, "", "--param: number 2 is not NAME=VALUE"},
		"NoName":        {"it is not repeated", gift{params: []string{"=s3cr3t"}}, "", "--param: number 1 is not NAME=VALUE"},
		"JSON":          {"numbers stay as they are", gift{json: ` {"big": 18446744073709551615, "exact": 0.10, "deep": {"null": null}} `}, `{"big":18446744073709551615,"exact":0.10,"deep":{"null":null}}`, ""},
		"Empty":         {"an object", gift{json: "{}"}, "{}", ""},
		"File":          {"@FILE", gift{json: "@" + file}, `{"a":1}`, ""},
		"NoFile":        {"there is none", gift{json: "@/nowhere"}, "", "cannot read --params-json: open /nowhere"},
		"BothWays":      {"which?", gift{json: "{}", params: []string{"a=1"}}, "", "exclude each other"},
		"Array":         {"parameters have names", gift{json: `["s3cr3t"]`}, "", "--params-json must be a JSON object"},
		"Null":          {"no object", gift{json: "null"}, "", "--params-json must be a JSON object"},
		"Broken":        {"its place, not its text", gift{json: `{"a": s3cr3t}`}, "", "--params-json is not JSON, at byte 7;"},
		"TooMuch":       {"two objects", gift{json: `{"a": 1} {"b": "s3cr3t"}`}, "", "--params-json goes on after its JSON object"},
		"TooMuchBroken": {"an object and something", gift{json: `{"a": 1} s3cr3t`}, "", "--params-json goes on after its JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := c.gift.parameters()
			if c.wrong != "" {
				require.ErrorContains(t, err, c.wrong, c.reason)
				assert.NotContains(t, err.Error(), "3cr3t", c.reason)
				return
			}
			require.NoError(t, err, c.reason)
			if c.want == "" {
				assert.Nil(t, got, c.reason)
				return
			}
			assert.Equal(t, c.want, string(got.Raw), c.reason)
		})
	}
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason, given string
		want          *v1beta1.SecretKeyReference
	}{
		"Plain":   {"as ever", "mysecret[dbparams]", &v1beta1.SecretKeyReference{Name: "mysecret", Key: "dbparams"}},
		"Dotted":  {"keys may have dots", "a[foo.txt] ", &v1beta1.SecretKeyReference{Name: "a", Key: "foo.txt"}},
		"NoKey":   {"it is not repeated", "s3cr3t", nil},
		"NoName":  {"no Secret", "[key]", nil},
		"NoValue": {"no key", "a[ ]", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := (&gift{secrets: []string{c.given}}).from()
			if c.want == nil {
				require.EqualError(t, err, "--secret: number 1 is not SECRET[KEY], such as mysecret[parameters]", c.reason)
				assert.Equal(t, cli.ExitUsage, cli.ExitCode(err))
				return
			}
			require.NoError(t, err, c.reason)
			assert.Equal(t, []v1beta1.ParametersFromSource{{SecretKeyRef: c.want}}, got, c.reason)
		})
	}
	both, err := (&gift{secrets: []string{"a[x]", "a[y]"}}).from()
	require.NoError(t, err)
	assert.Len(t, both, 2, "two keys of one Secret, in their order")
}
