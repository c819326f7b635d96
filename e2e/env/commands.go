package env

import (
	"bytes"
	"errors"
	"os/exec"
	"regexp"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// Commands run binaries of the stack.
type Commands struct {
	*Objects
	*Names
	stack *stack.Stack
}

// A Command is one run of a binary of the stack.
type Command struct {
	Binary string
	Args   []string
	Stdin  string
	// Environment is that of the administrator if it is nil.
	Environment []string
}

// A Result is what a command printed, and its exit code.
type Result struct {
	Stdout, Stderr string
	Code           int
}

// Exec runs a command until it exits, with whatever code. Where a webhook had no time for
// its first write, it runs again.
func (c *Commands) Exec(command Command) Result {
	c.Helper()
	var got Result
	c.Eventually(func() (bool, error) {
		got = c.execOnce(command)
		if got.Code != 0 && wait.CommandTimedOut(got.Stdout, got.Stderr) {
			c.Logf("%s %v runs again: %s", command.Binary, command.Args, got.Stderr)
			return false, errors.New(got.Stderr)
		}
		return true, nil
	})
	return got
}

func (c *Commands) execOnce(command Command) Result {
	c.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(c.Context(), c.stack.Binary(command.Binary), command.Args...)
	cmd.Env = command.Environment
	if cmd.Env == nil {
		cmd.Env = c.stack.Environment()
	}
	cmd.Stdin = strings.NewReader(command.Stdin)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); !exited {
		require.NoError(c, err, "%s %v", command.Binary, command.Args)
	}
	return Result{Stdout: stdout.String(), Stderr: stderr.String(), Code: cmd.ProcessState.ExitCode()}
}

// Svcat runs svcat in the namespace, as the administrator, and returns what it printed
// to both outputs, standard output first. It must exit with 0.
func (c *Commands) Svcat(args ...string) string {
	c.Helper()
	got := c.Exec(Command{Binary: "svcat", Args: c.inNamespace(args)})
	require.Zero(c, got.Code, "svcat %v: %s%s", args, got.Stdout, got.Stderr)
	return got.Stdout + WithoutWaiting(got.Stderr)
}

// waiting is what svcat says while an API server is slow to answer.
var waiting = regexp.MustCompile(`(?m)^waiting for the API server at \S+ …\n`)

// WithoutWaiting is what svcat printed to standard error, without what it says on a busy
// machine.
func WithoutWaiting(stderr string) string { return waiting.ReplaceAllString(stderr, "") }

// SvcatFails is Svcat for what must exit with a code other than 0; it returns what was
// printed to standard error.
func (c *Commands) SvcatFails(code int, args ...string) string {
	c.Helper()
	got := c.Exec(Command{Binary: "svcat", Args: c.inNamespace(args)})
	require.Equal(c, code, got.Code, "svcat %v: %s%s", args, got.Stdout, got.Stderr)
	return got.Stderr
}

// Shell runs a command line as a person pastes it.
func (c *Commands) Shell(line string) {
	c.Helper()
	require.NotEmpty(c, line)
	command := exec.CommandContext(c.Context(), "/bin/sh", "-c", line)
	command.Env = c.stack.Environment()
	output, err := command.CombinedOutput()
	require.NoError(c, err, "%s\n%s", line, output)
}
