package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

// releaserName is the process that stands in for the controller at deletion.
const releaserName = "releaser"

// parts are the processes of a whole stack, in the order in which they are ended.
var parts = []string{"webhook-0", releaserName, "controlplane"}

type upOptions struct {
	dir, bin string
}

func newUp() *cobra.Command {
	o := upOptions{}
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start the stack in the background and say what to try",
		Long: "Starts a control plane and the webhook in the background, with a catalog of two brokers.\n" +
			"All of it listens on the loopback only. What was stored before is there again;\n" +
			"for an empty cluster remove the folder after down.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	bindDir(cmd, &o.dir)
	bindBin(cmd, &o.bin)
	return cmd
}

func (o upOptions) run(ctx context.Context, out io.Writer) error {
	running, err := stack.Running(ctx, o.dir)
	if err != nil {
		return err
	}
	if slices.Equal(running, parts) {
		sayf(out, "It is running already: %s.\n\n", strings.Join(running, ", "))
		o.hint(out)
		return nil
	}
	if len(running) > 0 {
		sayf(out, "Only a part is running: %s. Starting all anew.\n", strings.Join(running, ", "))
		if _, err := stack.StopRecorded(ctx, o.dir); err != nil {
			return err
		}
	}
	began := time.Now()
	if err := o.start(ctx, out); err != nil {
		return err
	}
	sayf(out, "Ready after %.1f s. It runs in the background; its logs are in %s.\n\n",
		time.Since(began).Seconds(), filepath.Join(o.dir, "logs"))
	o.hint(out)
	return nil
}

func (o upOptions) start(ctx context.Context, out io.Writer) (err error) {
	s, err := stack.Start(ctx, stack.Options{Dir: o.dir, Bin: o.bin, Webhooks: 1, Detached: true, Progress: out})
	if err != nil {
		return err
	}
	defer func() { //nolint:contextcheck // it ends what was started, also when ctx ended
		if err != nil {
			err = errors.Join(err, s.Stop())
		}
	}()
	if err := o.fill(ctx, s); err != nil {
		return err
	}
	return s.StartProcess(releaserName, filepath.Join(o.bin, "playground"), "release", "--kubeconfig="+s.Kubeconfig()) //nolint:contextcheck // it outlives ctx
}

// fill loads the catalog, makes the operator's choice, and lays out the example.
func (o upOptions) fill(ctx context.Context, s *stack.Stack) error {
	if err := layOut(o.dir, exampleFile); err != nil {
		return err
	}
	var catalog []string
	for _, file := range catalogFiles {
		content, err := readManifest(file)
		if err != nil {
			return err
		}
		catalog = append(catalog, string(content))
	}
	if _, stderr, err := s.Kubectl(ctx, strings.Join(catalog, "---\n"), "apply", "-f", "-"); err != nil {
		return fmt.Errorf("cannot load the catalog: %w: %s", err, stderr)
	}
	if _, stderr, err := s.Kubectl(ctx, "", "annotate", "--overwrite", "clusterserviceplan", examplePlan,
		"servicecatalog.kubernetes.io/is-default-plan=true"); err != nil {
		return fmt.Errorf("cannot choose the default plan: %w: %s", err, stderr)
	}
	return nil
}

func (o upOptions) hint(out io.Writer) {
	kubectl := shortest(filepath.Join(o.bin, "kubectl"))
	sayf(out, "Try:\n  export KUBECONFIG=%s\n  %s get clusterserviceplans\n  %s apply -f %s\n\nEnd it: make down\n",
		shortest(filepath.Join(o.dir, "kubeconfig")), kubectl, kubectl, shortest(filepath.Join(o.dir, exampleFile)))
}

// shortest is the path as a person would type it here.
func shortest(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if relative, err := filepath.Rel(here, path); err == nil && filepath.IsAbs(path) && !strings.HasPrefix(relative, "..") {
		return relative
	}
	return path
}
