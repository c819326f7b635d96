package parameters

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/pflag"
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
		flags  Flags
		want   string
		wrong  string
	}{
		"None":          {"nothing is sent", Flags{}, "", ""},
		"Texts":         {"values are texts, as ever", Flags{Params: []string{"a=1", " b = x=y ", "c="}}, `{"a":"1","b":"x=y","c":""}`, ""},
		"Lists":         {"a name that comes again", Flags{Params: []string{"d=banana", "d=pineapple", "d=fig"}}, `{"d":["banana","pineapple","fig"]}`, ""},
		"Plain":         {"no letter is escaped", Flags{Params: []string{"a=<b>&"}}, `{"a":"<b>&"}`, ""},
		"NoValue":       {"it is not repeated", Flags{Params: []string{"a=1", "s3cr3t"}}, "", "--param: number 2 is not NAME=VALUE"},
		"NoName":        {"it is not repeated", Flags{Params: []string{"=s3cr3t"}}, "", "--param: number 1 is not NAME=VALUE"},
		"JSON":          {"numbers stay as they are", Flags{json: jsonFlag(` {"big": 9223372036854775807, "exact": 0.10, "deep": {"null": null}} `)}, `{"big":9223372036854775807,"exact":0.10,"deep":{"null":null}}`, ""},
		"Empty":         {"an object", Flags{json: jsonFlag("{}")}, "{}", ""},
		"File":          {"@FILE", Flags{json: jsonFlag("@" + file)}, `{"a":1}`, ""},
		"NoFile":        {"there is none", Flags{json: jsonFlag("@/nowhere")}, "", "cannot read --params-json: open /nowhere"},
		"BothWays":      {"which?", Flags{json: jsonFlag("{}"), Params: []string{"a=1"}}, "", "exclude each other"},
		"Unread":        {"it has no end", Flags{json: jsonFlag("@/dev/zero")}, "", "cannot read --params-json: /dev/zero is larger than"},
		"EmptyText":     {"a template that came out empty", Flags{json: jsonFlag("")}, "", "--params-json: it is empty; give a JSON object"},
		"Array":         {"parameters have names", Flags{json: jsonFlag(`["s3cr3t"]`)}, "", "--params-json: cannot decode parameters: they must be a JSON object"},
		"Null":          {"no object", Flags{json: jsonFlag("null")}, "", "--params-json: it is empty"},
		"Broken":        {"its place, not its text", Flags{json: jsonFlag(`{"a": s3cr3t}`)}, "", "not valid JSON at byte 7;"},
		"TooMuch":       {"two objects", Flags{json: jsonFlag(`{"a": 1} {"b": "s3cr3t"}`)}, "", "more text follows the JSON value"},
		"TooMuchBroken": {"an object and something", Flags{json: jsonFlag(`{"a": 1} s3cr3t`)}, "", "more text follows the JSON value"},
		"Twice":         {"which?", Flags{json: jsonFlag(`{"a": {"b": "s3cr3t", "b": 1}}`)}, "", `key "/a/b" appears twice`},
		"TooLarge":      {"the API server would round it", Flags{json: jsonFlag(`{"a": [12345678901234567890123]}`)}, "", "too large to be kept"},
		"Unsigned":      {"the API server would round it", Flags{json: jsonFlag(`{"a": 18446744073709551615}`)}, "", "too large to be kept"},
		"Infinite":      {"the API server has no such number", Flags{json: jsonFlag(`{"a": 1e400}`)}, "", "too large to be kept"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := c.flags.Parameters()
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

// jsonFlag is the value of --params-json.
func jsonFlag(value string) text { return text{value: value, set: true} }

// The flags as they are typed: what stands together is taken apart as ever, and what
// cannot be is not repeated.
func TestParameterFlags(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"Several":  {"as ever", []string{"-p", "a=1,b=2", "-p", "c=3"}, `{"a":"1","b":"2","c":"3"}`},
		"Commas":   {"part of the value", []string{"-p", "tags=news,weather"}, `{"tags":"news,weather"}`},
		"Quoted":   {"as ever", []string{"-p", `"a=1,b=2",c=3`}, `{"a":"1,b=2","c":"3"}`},
		"Quotes":   {"part of the value", []string{"-p", `a="b"`}, `{"a":"\"b\""}`},
		"Lines":    {"the older svcat dropped all but the first", []string{"-p", "a=1\n2=3"}, `{"a":"1\n2=3"}`},
		"NoEnd":    {"it is not repeated", []string{"-p", `"s3cr3t"x=1`}, ""},
		"NoEndToo": {"it is not repeated", []string{"-p", `"s3cr3t=1`}, ""},
		"NoJSON":   {"it is empty", []string{"--params-json", ""}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, flags := &Flags{}, pflag.NewFlagSet("", pflag.ContinueOnError)
			f.Bind(flags)
			require.NoError(t, flags.Parse(c.args), c.reason)
			got, err := f.Parameters()
			if c.want == "" {
				require.Error(t, err, c.reason)
				assert.Equal(t, cli.ExitUsage, cli.ExitCode(err), c.reason)
				assert.NotContains(t, err.Error(), "s3cr3t", c.reason)
				return
			}
			require.NoError(t, err, c.reason)
			assert.Equal(t, c.want, string(got.Raw), c.reason)
		})
	}
	f, flags := &Flags{}, pflag.NewFlagSet("", pflag.ContinueOnError)
	f.Bind(flags)
	require.NoError(t, flags.Parse([]string{"-s", "a[x],b[y]", "-s", `"s3cr3t"x`}))
	_, err := f.From()
	require.EqualError(t, err, "--secret: number 3 is not SECRET[KEY], such as mysecret[parameters]")
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
			got, err := (&Flags{secrets: []string{c.given}}).From()
			if c.want == nil {
				require.EqualError(t, err, "--secret: number 1 is not SECRET[KEY], such as mysecret[parameters]", c.reason)
				assert.Equal(t, cli.ExitUsage, cli.ExitCode(err))
				return
			}
			require.NoError(t, err, c.reason)
			assert.Equal(t, []v1beta1.ParametersFromSource{{SecretKeyRef: c.want}}, got, c.reason)
		})
	}
	both, err := (&Flags{secrets: []string{"a[x]", "a[y]"}}).From()
	require.NoError(t, err)
	assert.Len(t, both, 2, "two keys of one Secret, in their order")
}

// What is given to a binding's own instance has flags of its own, and errors that name
// them.
func TestProvisionParameters(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason string
		args   []string
		want   string
		wrong  string
	}{
		"Text":  {"as with --param", []string{"--provision-param", "a=1,b=2"}, `{"a":"1","b":"2"}`, ""},
		"JSON":  {"as with --params-json", []string{"--provision-params-json", `{"a": 1}`}, `{"a":1}`, ""},
		"Both":  {"which?", []string{"--provision-params-json", `{}`, "--provision-param", "a=1"}, "", "--provision-params-json and --provision-param exclude each other"},
		"Wrong": {"its flag is named", []string{"--provision-param", "s3cr3t"}, "", "--provision-param: number 1 is not NAME=VALUE"},
		"Array": {"its flag is named", []string{"--provision-params-json", "[1]"}, "", "--provision-params-json: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, flags := &Flags{}, pflag.NewFlagSet("", pflag.ContinueOnError)
			assert.False(t, f.Given())
			f.BindProvision(flags)
			require.NoError(t, flags.Parse(c.args))
			assert.True(t, f.Given())
			got, err := f.Parameters()
			if c.wrong != "" {
				require.ErrorContains(t, err, c.wrong, c.reason)
				assert.Equal(t, cli.ExitUsage, cli.ExitCode(err))
				return
			}
			require.NoError(t, err, c.reason)
			assert.Equal(t, c.want, string(got.Raw))
		})
	}
}
