package cli

import (
	"context"

	"github.com/spf13/cobra"
)

// OneName says that a command takes the name of one object of a kind. What was
// typed instead is not repeated: it may be a parameter that lost its flag.
func OneName(kind string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) != 1:
			return Usagef("%s takes the name of one %s, not %d arguments; see %s --help", cmd.CommandPath(), kind, len(args), cmd.CommandPath())
		case args[0] == "":
			return Usagef("%s takes the name of one %s, and the name that was given is empty; see %s --help", cmd.CommandPath(), kind, cmd.CommandPath())
		}
		return nil
	}
}

// OnName runs a command that changes the object which its one argument names.
func OnName(run func(ctx context.Context, name string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error { return Untouched(run(cmd.Context(), args[0])) }
}

// InOrder takes steps one after the other until one fails.
func InOrder(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
