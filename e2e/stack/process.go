package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// endTimeout is how long a process has to end by itself before it is killed.
const endTimeout = 15 * time.Second

// A process is one started binary, in a process group of its own so that a
// Ctrl-C at the terminal reaches it through us, in order, and not beside us.
type process struct {
	name   string
	cmd    *exec.Cmd
	log    string
	record string
	ended  chan struct{}
	// err is why it ended; read it only after ended is closed.
	err error
}

// A command is what to start: output goes to Dir/logs/NAME.log, and a record of
// the process to Dir/processes/NAME.
type command struct {
	name   string
	binary string
	args   []string
	// dir and env are the process's own; empty: those of this one.
	dir string
	env []string
}

// start starts a command of a stack. It does not end with ctx, but by end.
func (o *Options) start(ctx context.Context, c command) (*process, error) {
	p := &process{
		name: c.name, cmd: exec.CommandContext(context.WithoutCancel(ctx), c.binary, c.args...),
		log: o.path(logsFolder, c.name+".log"), record: o.path(recordsFolder, c.name),
		ended: make(chan struct{}),
	}
	p.cmd.Dir, p.cmd.Env = c.dir, c.env
	output, err := openLog(p.log)
	if err != nil {
		return nil, err
	}
	p.cmd.Stdout, p.cmd.Stderr = output, output
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if !o.Detached {
		leash(p.cmd.SysProcAttr)
	}
	started := make(chan error)
	go p.run(output, started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("cannot start %q: %w", c.name, err)
	}
	// One that ended at once needs no record; who waits for it is told why.
	if err := writeRecord(context.WithoutCancel(ctx), p.record, p.cmd.Process.Pid); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return nil, errors.Join(err, p.end(context.WithoutCancel(ctx), syscall.SIGKILL))
	}
	return p, nil
}

// run starts the command and waits for it. It keeps its thread: a leashed
// process is ended by the kernel when the thread that started it ends.
func (p *process) run(output *os.File, started chan<- error) {
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

// gone says, once the process ended, why; before, nothing.
func (p *process) gone() error {
	select {
	case <-p.ended:
		return fmt.Errorf("%s ended (%s); the end of its log:\n%s", p.name, p.cmd.ProcessState, tail(p.log))
	default:
		return nil
	}
}

// end signals the process and waits until it ended. One that does not end in
// time is killed, and that is an error. It is safe on one that ended before.
func (p *process) end(ctx context.Context, signal syscall.Signal) error {
	ctx, cancel := context.WithTimeout(ctx, Patience(endTimeout))
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

func ignoreDone(err error) error {
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

func openLog(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("cannot make folder for logs: %w", err)
	}
	// Appended to: a process that was stopped and started again keeps its past.
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot open log: %w", err)
	}
	return file, nil
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
