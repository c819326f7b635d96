package cli

import (
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// TestColourFlag: on what is no terminal there are colours only if they are asked for.
func TestColourFlag(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	for given, want := range map[string]bool{"": false, "--color=auto": false, "--color=always": true, "--color=never": false} {
		env := NewEnv(genericiooptions.NewTestIOStreamsDiscard())
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		env.Bind(flags)
		require.NoError(t, flags.Parse([]string{given}))
		assert.Equal(t, want, env.Colours(), given)
	}
	env := NewEnv(genericiooptions.NewTestIOStreamsDiscard())
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	env.Bind(flags)
	require.ErrorContains(t, flags.Parse([]string{"--color=sometimes"}), `"sometimes" for "--color" flag: allowed are auto, always and never`)
}
