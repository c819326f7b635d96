package explain

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
)

// words proposes types, and what stands behind "instance/" and "binding/".
func (c *command) words(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	if kind, part, split := strings.Cut(typed, "/"); split {
		return c.named(kind)(cmd, args, part)
	}
	found, directive := complete.Types(c.env)(cmd, args, typed)
	for _, kind := range []string{"instance", "binding"} {
		if strings.HasPrefix(kind, typed) {
			more, _ := c.named(kind)(cmd, args, "")
			found = append(found, more...)
		}
	}
	return found, directive
}

// named proposes what there is of a kind, as KIND/NAME.
func (c *command) named(kind string) complete.Func {
	propose := complete.Types(c.env)
	switch kindOf(kind) {
	case KindInstance:
		propose = complete.Instances(c.env)
	case KindBinding:
		propose = complete.Bindings(c.env)
	}
	return complete.Affixed(kind+"/", propose, "")
}
