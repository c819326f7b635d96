package instances

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// Every command has an example, and every flag that takes a word says what to
// propose; a file is what the shell itself proposes.
func TestCommandsAreComplete(t *testing.T) {
	t.Parallel()
	env := cli.NewEnv(genericiooptions.NewTestIOStreamsDiscard())
	for _, cmd := range []*cobra.Command{NewProvision(env), NewDeprovision(env), NewAdopt(env), newTouchInstance(env), newUpdateInstance(env), NewShare(env)} {
		assert.NotEmpty(t, cmd.Short, cmd.Name())
		assert.NotEmpty(t, cmd.Example, cmd.Name())
		assert.NotNil(t, cmd.ValidArgsFunction, cmd.Name())
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			_, proposes := cmd.GetFlagCompletionFunc(flag.Name)
			assert.True(t, proposes || flag.Value.Type() == "bool" || flag.Name == "params-json", "%s --%s", cmd.Name(), flag.Name)
		})
	}
}
