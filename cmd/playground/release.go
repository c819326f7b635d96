package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

// newRelease is the releaser as a process, for up: that command ends, and
// deleting has to go on.
func newRelease() *cobra.Command {
	var kubeconfig string
	cmd := &cobra.Command{
		Use:    "release",
		Short:  "Take the finalizer off what is deleted, until there is a controller",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
			if err != nil {
				return fmt.Errorf("cannot use kubeconfig %q: %w", kubeconfig, err)
			}
			releaser, err := stack.NewReleaser(config)
			if err != nil {
				return err
			}
			return releaser.Run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&kubeconfig, "kubeconfig", "", "how to reach the API server")
	return cmd
}
