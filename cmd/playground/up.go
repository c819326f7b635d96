package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/process"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// parts are the processes of a whole stack, in the order in which they are ended.
var parts = []string{
	"webhook-0", "keeper", brokerNamePrefix + osbtest.Inhouse, brokerNamePrefix + osbtest.Azure, controllerName, "controlplane",
}

type upOptions struct {
	dir, bin string
}

func newUp() *cobra.Command {
	o := upOptions{}
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start the stack in the background and say what to try",
		Long: "Starts a control plane, the webhook, its keeper, the controller and two brokers in the background.\n" +
			"Nothing starts again what ends by itself, but the next up, which then starts all of it.\n" +
			"All of it listens on the loopback only. What the cluster stored before is there again,\n" +
			"but the brokers remember nothing; for an empty cluster remove the folder after down.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	bindDir(cmd, &o.dir)
	bindBin(cmd, &o.bin)
	return cmd
}

func (o upOptions) run(ctx context.Context, out io.Writer) error {
	running, err := process.Running(ctx, o.dir)
	if err != nil {
		return err
	}
	if slices.Equal(running, parts) {
		sayf(out, "It is running already: %s.\n\n", strings.Join(running, ", "))
		o.hint(out)
		return nil
	}
	if len(running) > 0 {
		sayf(out, "Only a part is running: %s. Restarting all of it.\n", strings.Join(running, ", "))
		if _, err := process.StopRecorded(ctx, o.dir); err != nil {
			return err
		}
	}
	began := time.Now()
	if err := o.start(ctx, out); err != nil {
		return err
	}
	sayf(out, "Ready after %.1f s. It runs in the background; its logs are in %s.\n\n",
		time.Since(began).Seconds(), typed(filepath.Join(o.dir, "logs")))
	o.hint(out)
	return nil
}

func (o upOptions) start(ctx context.Context, out io.Writer) (err error) {
	s, err := startStage(ctx, stack.Options{Dir: o.dir, Bin: o.bin, Webhooks: 1, Detached: true, Progress: out})
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.stop(context.WithoutCancel(ctx)))
		}
	}()
	sayf(out, "registering the brokers\n")
	if err := s.register(ctx); err != nil {
		return err
	}
	return layOut(o.dir, exampleFiles...)
}

// hints are what up says to try: %[1]s is kubectl, %[2]s the playground, %[3]s the
// folder, and %[4]s svcat.
const hints = `Two brokers are registered, azure and inhouse. Try:
  export KUBECONFIG=%[3]s/kubeconfig
  %[4]s get brokers
  %[4]s get plans

A type for which one broker suggests a plan, with credentials:
  %[1]s apply -f %[3]s/cache.yaml
  %[1]s wait servicebinding/cache --for=condition=Ready --timeout=60s
  %[4]s describe binding cache

A type for which two do: it says what to do. Choose, and it works.
  %[1]s apply -f %[3]s/mydb.yaml
  %[4]s explain mysql
  %[4]s set plan azure-mysql/premium-p1 --default

What the brokers have, and how they can go wrong:
  %[2]s books --dir=%[3]s
  %[2]s fault --help

End it: %[2]s down --dir=%[3]s
`

func (o upOptions) hint(out io.Writer) {
	binary := func(name string) string { return typed(filepath.Join(o.bin, name)) }
	sayf(out, hints, binary("kubectl"), binary("playground"), typed(o.dir), binary("svcat"))
}

// plainPath needs no quotes in a shell.
var plainPath = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// typed is a path as a person types it into a shell, in whatever folder that is.
func typed(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	if plainPath.MatchString(path) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
