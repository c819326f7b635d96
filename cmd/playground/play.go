package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// sayf tells the person at the terminal; one who closed it does not want to be
// told, and the work goes on.
func sayf(out io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(out, format, args...)
}

// A player tells one story: it prints what a person would type, and what
// answered.
type player struct {
	out io.Writer
	// dir is where the commands run and find the manifests.
	dir string
	// environment is that of the commands: it leads them to the stack.
	environment []string
}

// tell tells the steps in order and stops at the first that does not end as the
// story says.
func (p player) tell(ctx context.Context, story Story) error {
	for i, step := range story.Steps {
		sayf(p.out, "\n%d. %s\n%s\n", i+1, step.Heading, indent(step.Says))
		if err := layOut(p.dir, step.Files...); err != nil {
			return err
		}
		for _, command := range step.Commands {
			if err := p.run(ctx, command); err != nil {
				return fmt.Errorf("cannot go on with story %q: step %d (%s): %w", story.Name, i+1, step.Heading, err)
			}
		}
	}
	return nil
}

// run prints the command and, as it comes, its answer.
func (p player) run(ctx context.Context, command Command) error {
	sayf(p.out, "\n$ %s\n", command.Run)
	var seen bytes.Buffer
	// What a person types goes through a shell.
	cmd := exec.CommandContext(ctx, "sh", "-c", command.Run)
	cmd.Dir, cmd.Env = p.dir, p.environment
	// One writer for both, so that they are in the order in which they came.
	cmd.Stdout = io.MultiWriter(p.out, &seen)
	cmd.Stderr = cmd.Stdout
	code, err := exitCode(cmd.Run())
	if err != nil {
		return fmt.Errorf("cannot run %q: %w", command.Run, err)
	}
	return command.judge(code, seen.String())
}

func exitCode(err error) (int, error) {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// judge says in what the outcome differs from the story.
func (c Command) judge(code int, output string) error {
	var failures []error
	if code != c.Exit {
		failures = append(failures, fmt.Errorf("%q ended with exit code %d; the story says %d", c.Run, code, c.Exit))
	}
	for _, text := range c.Expect {
		if !strings.Contains(output, text) {
			failures = append(failures, fmt.Errorf("%q did not answer %q", c.Run, text))
		}
	}
	for _, text := range c.Reject {
		if strings.Contains(output, text) {
			failures = append(failures, fmt.Errorf("%q answered %q", c.Run, text))
		}
	}
	return errors.Join(failures...)
}

func indent(text string) string {
	return "   " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n   ")
}
