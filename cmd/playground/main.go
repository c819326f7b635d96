package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

func main() {
	// Client libraries log what this command says itself, as an error.
	log.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := newRoot().ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "playground:", err)
		os.Exit(1)
	}
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "playground",
		Short: "Try defaultplan on this machine: a real API server, nothing else needed",
		// main prints the error; the usage would hide it.
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newUp(), newDown(), newDemo(), newBooks(), newFault(), newBroker())
	return root
}

// bindBin adds the flag for the folder of the binaries, by default that of this
// one: make build puts all into one folder.
func bindBin(cmd *cobra.Command, bin *string) {
	own := "bin"
	if path, err := os.Executable(); err == nil {
		own = filepath.Dir(path)
	}
	cmd.Flags().StringVar(bin, "bin", own, "folder of the binaries controlplane, kubectl, webhook, controller, svcat and playground")
	cmd.Flag("bin").DefValue = "the folder of playground"
}

// defaultDir is where make up has its stack.
const defaultDir = ".run"

func bindDir(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "dir", defaultDir, "folder for kubeconfig, data, logs and process ids")
}
