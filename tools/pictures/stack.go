package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// A stack is what make up starts, in a folder of its own.
type stack struct {
	dir, bin string
	env      []string
}

func startStack(ctx context.Context) (*stack, error) {
	bin, err := filepath.Abs("../../bin")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pictures")
	if err != nil {
		return nil, err
	}
	s := &stack{dir: dir, bin: bin, env: []string{
		"PATH=" + bin + ":/usr/bin:/bin", "HOME=" + dir, "KUBECONFIG=" + dir + "/kubeconfig", "LANG=C.UTF-8",
	}}
	fmt.Println("starting a stack")
	if out, err := s.sh(ctx, "playground up --dir ."); err != nil {
		_ = s.stop(context.WithoutCancel(ctx))
		return nil, fmt.Errorf("cannot start a stack: %w\n%s", err, out)
	}
	return s, nil
}

// stop ends the stack and removes its folder.
func (s *stack) stop(ctx context.Context) error {
	if out, err := s.sh(ctx, "playground down --dir ."); err != nil {
		return fmt.Errorf("cannot stop the stack in %s: %w\n%s", s.dir, err, out)
	}
	return os.RemoveAll(s.dir)
}

func (s *stack) command(ctx context.Context, name string, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, name, arguments...)
	command.Dir, command.Env = s.dir, s.env
	return command
}

// sh is what a line of a shell prints, as on a terminal.
func (s *stack) sh(ctx context.Context, line string) (string, error) {
	out, err := s.command(ctx, "sh", "-c", line).CombinedOutput()
	return string(out), err
}
