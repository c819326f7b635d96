package plans

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// oneName is the argument of a command about one object.
func oneName(cmd *cobra.Command, args []string) error {
	if len(args) != 1 || args[0] == "" {
		return cli.Usagef("expected one name, got %d arguments; see %s --help", len(args), cmd.CommandPath())
	}
	return nil
}

// onlyCommands refuses a word that is none of a command's own.
func onlyCommands(words ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return cli.Usagef("%s has no %q;%s allowed are %s", cmd.CommandPath(), args[0], cli.DidYouMean(args[0], words), strings.Join(words, " and "))
		}
		return nil
	}
}

// sayWhich asks for the word that is missing.
func sayWhich(words ...string) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		return cli.Usagef("say what to %s: %s", cmd.Name(), strings.Join(words, " or "))
	}
}
