package parameters

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

func TestEdit(t *testing.T) {
	t.Parallel()
	const stored = `{"big":9223372036854775807,"size":5,"tags":["a"],"location":"s3cr3t"}`
	for name, c := range map[string]struct {
		reason     string
		flags      Flags
		unset      []string
		stored     string
		want       string
		set, taken []string
		wrong      string
	}{
		"Set": {
			reason: "the others stay as they are", flags: Flags{Params: []string{"location=westus"}}, stored: stored,
			want: `{"big":9223372036854775807,"size":5,"tags":["a"],"location":"westus"}`, set: []string{"location"},
		},
		"Several": {
			reason: "what is given takes the place of what there is, null too", flags: Flags{json: jsonFlag(`{"tags": ["b"], "new": {"x": null}, "size": null}`)}, stored: stored,
			want: `{"big":9223372036854775807,"location":"s3cr3t","new":{"x":null},"size":null,"tags":["b"]}`, set: []string{"new", "size", "tags"},
		},
		"Unset": {
			reason: "a name that comes again is told once", unset: []string{"tags", "size", "tags"}, stored: stored,
			want: `{"big":9223372036854775807,"location":"s3cr3t"}`, taken: []string{"size", "tags"},
		},
		"Both":    {reason: "one thing and another", flags: Flags{Params: []string{"a=1"}}, unset: []string{"b"}, stored: `{"b":"x"}`, want: `{"a":"1"}`, set: []string{"a"}, taken: []string{"b"}},
		"Same":    {reason: "nothing changes", flags: Flags{json: jsonFlag(`{"size": 5.0, "tags": [ "a" ]}`)}, stored: stored, want: stored},
		"First":   {reason: "there were none", flags: Flags{Params: []string{"a=1"}}, want: `{"a":"1"}`, set: []string{"a"}},
		"Unknown": {reason: "no value is in it", unset: []string{"locaton"}, stored: stored, wrong: `--unset: no parameter "locaton"; did you mean location? parameters: big, location, size, tags`},
		"Forged":  {reason: "names are another's, and make no line", unset: []string{"location"}, stored: `{"loca\ntion":1,"a\tb\u001b[2J\u009b\u202e":1}`, wrong: "--unset: no parameter \"location\"; did you mean loca tion? parameters: a b\ufffd[2J\ufffd\ufffd, loca tion"},
		"Far":     {reason: "none is near", unset: []string{"zone"}, stored: `{"a":1}`, wrong: `--unset: no parameter "zone"; parameters: a`},
		"Empty":   {reason: "there are none", unset: []string{"zone"}, wrong: `--unset: no parameter "zone"; there are none`},
		"Twice":   {reason: "which?", flags: Flags{Params: []string{"size=s3cr3t"}}, unset: []string{"size"}, stored: stored, wrong: "--unset size: the same parameter is set"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var now *runtime.RawExtension
			if c.stored != "" {
				now = &runtime.RawExtension{Raw: []byte(c.stored)}
			}
			edit, err := NewEdit(&c.flags, c.unset)
			var set, taken []string
			if err == nil {
				set, taken, err = edit.Apply(&now)
			}
			if c.wrong != "" {
				require.ErrorContains(t, err, c.wrong, c.reason)
				assert.NotContains(t, err.Error(), "s3cr3t", c.reason)
				assert.Equal(t, cli.ExitUsage, cli.ExitCode(err))
				return
			}
			require.NoError(t, err, c.reason)
			assert.JSONEq(t, c.want, string(now.Raw), c.reason)
			assert.Equal(t, c.set, set, c.reason)
			assert.Equal(t, c.taken, taken, c.reason)
		})
	}
}

// Numbers that a float does not hold stay as they are.
func TestEditRoundsNothing(t *testing.T) {
	t.Parallel()
	edit, err := NewEdit(&Flags{json: jsonFlag(`{"new": 9007199254740993}`)}, nil)
	require.NoError(t, err)
	now := &runtime.RawExtension{Raw: []byte(`{"big": 9223372036854775807, "exact": 0.10}`)}
	_, _, err = edit.Apply(&now)
	require.NoError(t, err)
	assert.Equal(t, `{"big":9223372036854775807,"exact":0.10,"new":9007199254740993}`, string(now.Raw))
}
