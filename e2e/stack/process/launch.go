package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// A Launcher starts processes that are logged and recorded in one folder.
type Launcher struct {
	Dir string
	// Detached lets the processes outlive this one. Otherwise they end when it does, even
	// if it is killed (on Linux).
	Detached bool
}

// A Command is what to start: output goes to Dir/logs/NAME.log, and a record of
// the process to Dir/processes/NAME.
type Command struct {
	Name string
	// Binary is the path of the file.
	Binary string
	Args   []string
	// Dir and Env are the process's own; empty and nil: those of this one.
	Dir string
	Env []string
}

// Start starts a command. The process does not end with ctx, but by End.
func (l Launcher) Start(ctx context.Context, c Command) (*Process, error) {
	p := &Process{
		name: c.Name, cmd: exec.CommandContext(context.WithoutCancel(ctx), c.Binary, c.Args...),
		log: LogFile(l.Dir, c.Name), record: recordFile(l.Dir, c.Name),
		ended: make(chan struct{}),
	}
	p.cmd.Dir, p.cmd.Env = c.Dir, c.Env
	output, err := openLog(p.log)
	if err != nil {
		return nil, err
	}
	p.cmd.Stdout, p.cmd.Stderr = output, output
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if !l.Detached {
		endWithUs(p.cmd.SysProcAttr)
	}
	started := make(chan error)
	go p.run(output, started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("cannot start %q: %w", c.Name, err)
	}
	// One that ended at once needs no record; who waits for it is told why.
	if err := writeRecord(context.WithoutCancel(ctx), p.record, p.cmd.Process.Pid); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return nil, errors.Join(err, p.End(context.WithoutCancel(ctx), syscall.SIGKILL))
	}
	return p, nil
}

// LogFile is the file with the output of a process.
func LogFile(dir, name string) string { return filepath.Join(dir, logsFolder, name+".log") }

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
