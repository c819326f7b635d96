// Package order has the commands of developers: provision, deprovision, bind, unbind and touch.
package order

import (
	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// NewProvision returns the command `svcat provision`.
func NewProvision(*cli.Env) *cobra.Command { return &cobra.Command{Use: "provision"} }

// NewDeprovision returns the command `svcat deprovision`.
func NewDeprovision(*cli.Env) *cobra.Command { return &cobra.Command{Use: "deprovision"} }

// NewBind returns the command `svcat bind`.
func NewBind(*cli.Env) *cobra.Command { return &cobra.Command{Use: "bind"} }

// NewUnbind returns the command `svcat unbind`.
func NewUnbind(*cli.Env) *cobra.Command { return &cobra.Command{Use: "unbind"} }

// NewTouch returns the command `svcat touch`.
func NewTouch(*cli.Env) *cobra.Command { return &cobra.Command{Use: "touch"} }
