// Package describe has the command that shows one object with all that matters about it.
package describe

import (
	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// New returns the command `svcat describe`.
func New(*cli.Env) *cobra.Command { return &cobra.Command{Use: "describe"} }
