package order

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
)

// completions registers what to propose for flags, beside those that are typed freely.
func completions(cmd *cobra.Command, of map[string]complete.Func) {
	complete.Flags(cmd, of, "selector", "param", "provision-param", "secret", "name", "secret-name", "service-name", "external-id")
}

// chosen is what to propose for the flags of a choice.
func chosen(env *cli.Env) map[string]complete.Func {
	return map[string]complete.Func{"type": complete.Types(env), "class": complete.Classes(env), "plan": complete.Plans(env)}
}

// quoted is an object in a sentence, such as `instance "mydb"`.
func quoted(kind, name string) string { return fmt.Sprintf("%s %q", kind, name) }
