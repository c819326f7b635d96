// Command svcat is what operators, chart authors and developers type. It is a
// kubectl plugin too, under the name kubectl-svcat.
//
// A command is in the package of its noun, in a file named after its verb: svcat provision
// is in internal/instances/provision.go. The two verbs that go with every noun have a
// package each, with a file per noun: svcat get bindings is in internal/get/bindings.go,
// and svcat describe instance in internal/describe/instance.go.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/remedy"
)

func main() {
	os.Exit(run(os.Args, genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}))
}

// run is svcat with the arguments of a process; it returns the exit code.
func run(args []string, streams genericiooptions.IOStreams) int {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ctx, stop := interruptible(signals, func() { signal.Stop(signals) })
	defer stop()
	// Libraries log where -v says.
	ctrllog.SetLogger(klog.Background())
	env := cli.NewEnv(streams)
	root, err := newRoot(env, args[0])
	if err == nil {
		root.SetArgs(cli.SplitKinds(root, args[1:]))
		err = root.ExecuteContext(ctx)
	}
	if err != nil {
		if text := remedy.Message(env.Cluster(), err); text != "" {
			_, _ = fmt.Fprintln(env.ErrOut, text)
		}
	}
	return cli.ExitCode(err)
}

// repeat is how long the same Ctrl-C may come again: shells and timeout(1) signal a
// process and its group, a few milliseconds apart.
const repeat = time.Second

// interruptible is a context that the first signal ends, so that a command can undo or
// finish what it does and say what stands. After repeat, letGo has signals do again
// what they do by themselves: the next one ends the process at once.
func interruptible(signals <-chan os.Signal, letGo func()) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		select {
		case <-signals:
			cancel()
			time.AfterFunc(repeat, letGo)
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}
