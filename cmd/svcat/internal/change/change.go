// Package change has the commands by which an operator changes classes and plans: set, with the atomic switch of a type's default, and create.
package change

import (
	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// NewSet returns the command `svcat set`.
func NewSet(*cli.Env) *cobra.Command { return &cobra.Command{Use: "set"} }

// NewCreate returns the command `svcat create`.
func NewCreate(*cli.Env) *cobra.Command { return &cobra.Command{Use: "create"} }
