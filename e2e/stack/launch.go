package stack

import (
	"context"
	"fmt"
	"os"
)

// A Command says which process to start beside the stack.
type Command struct {
	// Name is that of its log, Dir/logs/NAME.log.
	Name string
	// Binary is the path of the file.
	Binary string
	// Args and Env are all that it gets.
	Args, Env []string
	// Dir is the folder that it works in.
	Dir string
}

// A Process is one that was started by Launch.
type Process struct{ process *process }

// Launch starts a process that is logged and recorded as the stack's own are, and
// ends when this process does, but not by Stop: its caller ends it.
func (s *Stack) Launch(ctx context.Context, c Command) (*Process, error) {
	env := c.Env
	if env == nil {
		env = []string{} // nil would be this process's own
	}
	p, err := s.options.start(ctx, command{name: c.Name, binary: c.Binary, args: c.Args, dir: c.Dir, env: env})
	if err != nil {
		return nil, err
	}
	return &Process{process: p}, nil
}

// Signal sends a signal; to one that ended, os.ErrProcessDone is the error.
func (p *Process) Signal(signal os.Signal) error {
	if err := p.process.cmd.Process.Signal(signal); err != nil {
		return fmt.Errorf("cannot send %q to %q: %w", signal, p.process.name, err)
	}
	return nil
}

// Ended is closed when the process ended.
func (p *Process) Ended() <-chan struct{} { return p.process.ended }

// ExitCode is that of a process that ended; -1 where a signal ended it.
func (p *Process) ExitCode() int {
	<-p.process.ended
	return p.process.cmd.ProcessState.ExitCode()
}

// Log is the file with the process's output.
func (p *Process) Log() string { return p.process.log }

// Forget removes the record of a process that ended.
func (p *Process) Forget() error {
	<-p.process.ended
	return forget(p.process.record)
}

// FreePorts finds n loopback ports that are free, and not among those that the system
// gives to outgoing connections.
func FreePorts(ctx context.Context, n int) ([]int, error) { return freePorts(ctx, n) }
