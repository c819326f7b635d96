// Package brokers has the commands about brokers: register, deregister and sync.
package brokers

import (
	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// NewRegister returns the command `svcat register`.
func NewRegister(*cli.Env) *cobra.Command { return &cobra.Command{Use: "register"} }

// NewDeregister returns the command `svcat deregister`.
func NewDeregister(*cli.Env) *cobra.Command { return &cobra.Command{Use: "deregister"} }

// NewSync returns the command `svcat sync`.
func NewSync(*cli.Env) *cobra.Command { return &cobra.Command{Use: "sync"} }
