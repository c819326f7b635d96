package order

import (
	"fmt"
	"maps"

	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
)

// validated asks each group of flags whether it is as it may be.
func validated(groups ...func() error) error {
	for _, validate := range groups {
		if err := validate(); err != nil {
			return err
		}
	}
	return nil
}

// completions registers what to propose for flags; those that several commands have
// are added to them.
func completions(cmd *cobra.Command, of map[string]complete.Func) {
	fixed := map[string]complete.Func{
		"dry-run": complete.Words("none", "client", "server"),
		"output":  complete.Words("yaml", "json", "name"),
	}
	for _, name := range []string{"selector", "param", "secret", "name", "secret-name", "external-id", "timeout", "interval"} {
		fixed[name] = cobra.NoFileCompletions
	}
	maps.Copy(fixed, of)
	for name, propose := range fixed {
		if cmd.Flags().Lookup(name) != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, propose)
		}
	}
}

// quoted is an object in a sentence, such as `instance "mydb"`.
func quoted(kind, name string) string { return fmt.Sprintf("%s %q", kind, name) }
