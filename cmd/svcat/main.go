// Command svcat is what operators, chart authors and developers type. It is a
// kubectl plugin too, under the name kubectl-svcat.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

func main() {
	os.Exit(run(os.Args, genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}))
}

// run is svcat with the arguments of a process; it returns the exit code.
func run(args []string, streams genericiooptions.IOStreams) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first Ctrl-C lets a command say what stands; the second ends the process.
	context.AfterFunc(ctx, stop)
	// Libraries log where -v says.
	ctrllog.SetLogger(klog.Background())
	root, err := newRoot(cli.NewEnv(streams), args[0])
	if err == nil {
		root.SetArgs(args[1:])
		err = root.ExecuteContext(ctx)
	}
	if err != nil {
		_, _ = fmt.Fprintln(streams.ErrOut, cli.Message(err))
	}
	return cli.ExitCode(err)
}
