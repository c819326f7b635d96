package env

import (
	"bytes"
	"errors"
	"os/exec"
	"regexp"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

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

// Exec runs a command until it exits, with whatever code.
func (e *Env) Exec(command Command) Result {
	e.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(e.Context(), e.Binary(command.Binary), command.Args...)
	cmd.Env = command.Environment
	if cmd.Env == nil {
		cmd.Env = e.Environment()
	}
	cmd.Stdin = strings.NewReader(command.Stdin)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); !exited {
		require.NoError(e, err, "%s %v", command.Binary, command.Args)
	}
	return Result{Stdout: stdout.String(), Stderr: stderr.String(), Code: cmd.ProcessState.ExitCode()}
}

// Svcat runs svcat in the namespace, as the administrator, and returns what it printed
// to both outputs, standard output first. It must exit with 0. Where a webhook had no
// time for its first write, it runs again.
func (e *Env) Svcat(args ...string) string {
	e.Helper()
	var got Result
	e.Eventually(func() (bool, error) {
		got = e.Exec(Command{Binary: "svcat", Args: e.inNamespace(args)})
		if got.Code != 0 && got.Stdout == "" && wait.WebhookTimedOut(got.Stderr) {
			e.Logf("svcat %v runs again: %s", args, got.Stderr)
			return false, errors.New(got.Stderr)
		}
		return true, nil
	})
	require.Zero(e, got.Code, "svcat %v: %s%s", args, got.Stdout, got.Stderr)
	return got.Stdout + WithoutWaiting(got.Stderr)
}

// waiting is what svcat says while an API server is slow to answer.
var waiting = regexp.MustCompile(`(?m)^waiting for the API server at \S+ …\n`)

// WithoutWaiting is what svcat printed to standard error, without what it says on a busy
// machine.
func WithoutWaiting(stderr string) string { return waiting.ReplaceAllString(stderr, "") }

// SvcatFails is Svcat for what must exit with a code other than 0; it returns what was
// printed to standard error.
func (e *Env) SvcatFails(code int, args ...string) string {
	e.Helper()
	got := e.Exec(Command{Binary: "svcat", Args: e.inNamespace(args)})
	require.Equal(e, code, got.Code, "svcat %v: %s%s", args, got.Stdout, got.Stderr)
	return got.Stderr
}

// Shell runs a command line as a person pastes it.
func (e *Env) Shell(line string) {
	e.Helper()
	require.NotEmpty(e, line)
	command := exec.CommandContext(e.Context(), "/bin/sh", "-c", line)
	command.Env = e.Environment()
	output, err := command.CombinedOutput()
	require.NoError(e, err, "%s\n%s", line, output)
}
