// Package check has the command that looks whether the installation is whole: check.
package check

import (
	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// New returns the command `svcat check`.
func New(*cli.Env) *cobra.Command { return &cobra.Command{Use: "check"} }
