// Package get has the commands that list: get and marketplace.
package get

import (
	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// New returns the command `svcat get`.
func New(*cli.Env) *cobra.Command { return &cobra.Command{Use: "get"} }

// NewMarketplace returns the command `svcat marketplace`.
func NewMarketplace(*cli.Env) *cobra.Command { return &cobra.Command{Use: "marketplace"} }
