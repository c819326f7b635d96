package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"golang.org/x/sys/unix"
)

// A console is what the process was given to print on. The descriptors 1 and 2 themselves are turned to the
// log, because loggers in the parts took hold of them before main began.
type console struct {
	out, err *os.File
}

// takeConsole duplicates the descriptors before they are turned.
func takeConsole() (console, error) {
	given := console{out: os.Stdout, err: os.Stderr}
	out, err := duplicate(os.Stdout)
	if err != nil {
		return given, err
	}
	stderr, err := duplicate(os.Stderr)
	if err != nil {
		return given, err
	}
	return console{out: out, err: stderr}, nil
}

func duplicate(file *os.File) (*os.File, error) {
	descriptor, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot duplicate %s: %w", file.Name(), err)
	}
	return os.NewFile(uintptr(descriptor), file.Name()), nil
}

// turnTo sends what the parts print to the log. A crash of the process is printed on the console too.
func (c console) turnTo(l *logs) error {
	for _, file := range []*os.File{os.Stdout, os.Stderr} {
		if err := unix.Dup2(int(l.file.Fd()), int(file.Fd())); err != nil {
			return fmt.Errorf("cannot turn %s to the log: %w", file.Name(), err)
		}
	}
	if err := debug.SetCrashOutput(c.err, debug.CrashOptions{}); err != nil {
		return fmt.Errorf("cannot keep crashes on the console: %w", err)
	}
	return nil
}

// fail ends the process with one line that a person can read.
func (c console) fail(err error) {
	fmt.Fprintln(c.err, "controlplane:", strings.Join(strings.Fields(err.Error()), " "))
	os.Exit(1)
}
