package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

type demoOptions struct {
	dir, bin, story string
}

func newDemo() *cobra.Command {
	o := demoOptions{}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Tell a story on a real API server",
		Long: "Starts a stack of its own, runs the story's commands, prints what really answers, and ends all.\n" +
			"Fails where an answer is not as the story says.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	cmd.Flags().StringVar(&o.dir, "dir", "", "folder for data and logs, kept (default: a temporary one, removed where all went well)")
	cmd.Flags().StringVar(&o.story, "story", mainStory, "which story: main, all, or the name of one")
	bindBin(cmd, &o.bin)
	return cmd
}

func (o demoOptions) run(ctx context.Context, out io.Writer) (err error) {
	chosen, err := chooseStories(o.story)
	if err != nil {
		return err
	}
	if o.dir == "" {
		o.dir, err = os.MkdirTemp("", "defaultplan-demo-")
		if err != nil {
			return fmt.Errorf("cannot make a folder: %w", err)
		}
		defer func() {
			if err == nil {
				err = os.RemoveAll(o.dir)
			}
		}()
	}
	for _, story := range chosen {
		if err := o.tell(ctx, story, out); err != nil {
			return fmt.Errorf("%w\nlogs are in %s", err, filepath.Join(o.dir, story.Name, "logs"))
		}
	}
	return nil
}

// tell tells one story on a new stack and ends the stack.
func (o demoOptions) tell(ctx context.Context, story Story, out io.Writer) (err error) {
	began := time.Now()
	sayf(out, "== %s ==\n", story.Title)
	dir := filepath.Join(o.dir, story.Name)
	s, err := startStage(ctx, stack.Options{
		Dir: dir, Bin: o.bin, Webhooks: 1, WebhookArgs: story.WebhookArgs, Progress: out,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop(context.WithoutCancel(ctx))) }()
	if err := s.join(ctx, story.Controllers); err != nil {
		return err
	}
	if !story.Registers {
		if err := s.register(ctx); err != nil {
			return err
		}
	}
	sayf(out, "ready after %.1f s\n", time.Since(began).Seconds())

	work := filepath.Join(dir, "work")
	if err := os.MkdirAll(work, 0o700); err != nil {
		return fmt.Errorf("cannot make a folder: %w", err)
	}
	for i := range s.brokers {
		if err := s.brokers[i].layOut(work); err != nil {
			return fmt.Errorf("cannot lay out a broker: %w", err)
		}
	}
	if err := (player{out: out, dir: work, environment: s.Environment()}).tell(ctx, story); err != nil {
		return err
	}
	sayf(out, "\nTold in %.1f s; every answer was a real one.\n\n", time.Since(began).Seconds())
	return nil
}
