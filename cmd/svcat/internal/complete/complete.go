// Package complete proposes words while a person types: what there is in the
// cluster, of any kind that a command names.
package complete

import (
	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// Func proposes words for an argument or a flag.
type Func = cobra.CompletionFunc

// Types proposes service types.
func Types(*cli.Env) Func { return cobra.NoFileCompletions }

// Classes proposes classes by the names that people call them.
func Classes(*cli.Env) Func { return cobra.NoFileCompletions }

// Plans proposes plans, as CLASS/PLAN where the plan's name alone is not enough,
// or those of the class that the flag --class names.
func Plans(*cli.Env) Func { return cobra.NoFileCompletions }

// Brokers proposes brokers.
func Brokers(*cli.Env) Func { return cobra.NoFileCompletions }

// Instances proposes instances of the current namespace.
func Instances(*cli.Env) Func { return cobra.NoFileCompletions }

// Bindings proposes bindings of the current namespace.
func Bindings(*cli.Env) Func { return cobra.NoFileCompletions }

// Namespaces proposes namespaces.
func Namespaces(*cli.Env) Func { return cobra.NoFileCompletions }

// Contexts proposes contexts of the kubeconfig.
func Contexts(*cli.Env) Func { return cobra.NoFileCompletions }

// Words proposes fixed words, as the values of --output.
func Words(words ...string) Func {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}
