package main

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/e2e/stack/process"
)

func newDown() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "down",
		Short: "End what up started",
		Long:  "Ends the processes that up started, by their ids, and no others. The folder stays.",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return down(cmd.Context(), dir, cmd.OutOrStdout()) },
	}
	bindDir(cmd, &dir)
	return cmd
}

func down(ctx context.Context, dir string, out io.Writer) error {
	ended, err := process.StopRecorded(ctx, dir)
	if err != nil {
		return err
	}
	if len(ended) == 0 {
		sayf(out, "Nothing is running.\n")
		return nil
	}
	sayf(out, "Ended: %s.\n", strings.Join(ended, ", "))
	return nil
}
