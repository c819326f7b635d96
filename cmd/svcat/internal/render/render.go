// Package render has the command that admits objects from files alone: render.
package render

import (
	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// New returns the command `svcat render`.
func New(*cli.Env) *cobra.Command { return &cobra.Command{Use: "render"} }
