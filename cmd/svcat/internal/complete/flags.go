package complete

import (
	"maps"

	"github.com/spf13/cobra"
)

// Flags registers what to propose for flags of a command; for those in typed it proposes
// nothing, since their values are free text. The flags that many commands have are added:
// --dry-run, -o of a write, and the times of --wait. Flags that the command does not have
// are passed over.
func Flags(cmd *cobra.Command, of map[string]Func, typed ...string) {
	shared := map[string]Func{
		"dry-run": Words("none", "client", "server"), "output": Words("yaml", "json", "name"),
		"timeout": cobra.NoFileCompletions, "interval": cobra.NoFileCompletions,
	}
	for _, name := range typed {
		shared[name] = cobra.NoFileCompletions
	}
	maps.Copy(shared, of)
	for name, propose := range shared {
		if cmd.Flags().Lookup(name) != nil {
			// It fails for a flag that is not there, or twice, only.
			_ = cmd.RegisterFlagCompletionFunc(name, propose)
		}
	}
}
