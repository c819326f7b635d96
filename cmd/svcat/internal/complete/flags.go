package complete

import (
	"maps"
	"strings"

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

// Files leaves it to the shell to propose files.
func Files(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// Affixed proposes what propose does, with what goes before and after each word: a person has
// typed what stands between.
func Affixed(before string, propose Func, after string) Func {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		found, directive := propose(cmd, args, typed)
		for i, word := range found {
			if strings.HasPrefix(word, hint) {
				continue
			}
			word, about, described := strings.Cut(word, "\t")
			if found[i] = before + word + after; described {
				found[i] = cobra.CompletionWithDesc(found[i], about)
			}
		}
		return found, directive
	}
}

// hint begins what is said to a person who completes, and is no word.
var hint = cobra.AppendActiveHelp(nil, "")[0]
