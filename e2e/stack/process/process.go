package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// endTimeout is how long a process has to end by itself before it is killed.
const endTimeout = 15 * time.Second

// A Process is one started binary, in a process group of its own so that a
// Ctrl-C at the terminal reaches it through us, in order, and not beside us.
type Process struct {
	name   string
	cmd    *exec.Cmd
	log    string
	record string
	ended  chan struct{}
	// err is why it ended; read it only after ended is closed.
	err error
}

// run starts the command and waits for it. It keeps its thread: the kernel sends the
// signal of endWithUs when the thread that started the process ends.
func (p *Process) run(output *os.File, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	closeErr := output.Close() // the process has its own handle
	started <- errors.Join(err, closeErr)
	if err != nil {
		return
	}
	p.err = p.cmd.Wait()
	close(p.ended)
}

// Gone says, once the process ended, why; before, nothing.
func (p *Process) Gone() error {
	select {
	case <-p.ended:
		return fmt.Errorf("%s ended (%s); the end of its log:\n%s", p.name, p.cmd.ProcessState, tail(p.log))
	default:
		return nil
	}
}

// End signals the process and waits until it ended. One that does not end in
// time is killed, and that is an error. It is safe on one that ended before.
func (p *Process) End(ctx context.Context, signal syscall.Signal) error {
	ctx, cancel := context.WithTimeout(ctx, wait.Patience(endTimeout))
	defer cancel()
	if err := p.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("cannot end %q: %w", p.name, err)
	}
	select {
	case <-p.ended:
		return forget(p.record)
	case <-ctx.Done():
	}
	err := p.cmd.Process.Kill()
	<-p.ended
	return errors.Join(fmt.Errorf("cannot end %q: it ignored %q and was killed", p.name, signal), ignoreDone(err), forget(p.record))
}

// Signal sends a signal; to one that ended, os.ErrProcessDone is the error.
func (p *Process) Signal(signal os.Signal) error {
	if err := p.cmd.Process.Signal(signal); err != nil {
		return fmt.Errorf("cannot send %q to %q: %w", signal, p.name, err)
	}
	return nil
}

// Pid is the id of the process.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Ended is closed when the process ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// ExitCode is that of a process that ended; -1 where a signal ended it.
func (p *Process) ExitCode() int {
	<-p.ended
	return p.cmd.ProcessState.ExitCode()
}

// Log is the file with the process's output.
func (p *Process) Log() string { return p.log }

// Forget removes the record of a process that ended.
func (p *Process) Forget() error {
	<-p.ended
	return forget(p.record)
}

func ignoreDone(err error) error {
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// tail is the last lines of a log, for an error message.
func tail(path string) string {
	const lines = 15
	content, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimRight(string(content), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
