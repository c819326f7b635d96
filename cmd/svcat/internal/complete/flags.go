package complete

import (
	"maps"

	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/webhook/options"
)

// Flags registers what to propose for flags of a command; for those in typed it proposes
// nothing, since their values are free text. The flags that many commands have are added:
// --dry-run, -o of a write, the times of --wait, and those of the webhook that admission
// without a cluster is for. Flags that the command does not have are passed over.
func Flags(cmd *cobra.Command, of map[string]Func, typed ...string) {
	shared := map[string]Func{
		"dry-run": Words("none", "client", "server"), "output": Words("yaml", "json", "name"),
		"timeout": cobra.NoFileCompletions, "interval": cobra.NoFileCompletions,
		"unresolved":   Words(options.UnresolvedReject, options.UnresolvedWait),
		"schema-check": Words(options.SchemaEnforce, options.SchemaWarn, options.SchemaOff),
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
