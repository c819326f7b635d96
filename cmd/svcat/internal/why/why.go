// Package why has the command that explains a choice: explain.
package why

import (
	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// New returns the command `svcat explain`.
func New(*cli.Env) *cobra.Command { return &cobra.Command{Use: "explain"} }
