package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The exit codes of svcat.
const (
	// ExitFailed: the command could not do what it was asked to, or the API server
	// refused it.
	ExitFailed = 1
	// ExitUsage: the command line is wrong; nothing was done.
	ExitUsage = 2
	// ExitObjectFailed: with --wait, the object failed; what was written stands.
	ExitObjectFailed = 3
	// ExitTimeout: with --wait, the time ran out; what was written stands, and what
	// goes on in the cluster goes on.
	ExitTimeout = 4
	// ExitInterrupted: Ctrl-C; the message says what stands.
	ExitInterrupted = 130
)

// A Failure is an error that ends svcat with a code of its own.
type Failure struct { //nolint:errname // it is how svcat ends, with an error in it
	Code int
	Err  error
}

func (f *Failure) Error() string { return f.Err.Error() }

func (f *Failure) Unwrap() error { return f.Err }

// Usagef returns the error of a wrong command line.
func Usagef(format string, args ...any) error {
	return &Failure{Code: ExitUsage, Err: fmt.Errorf(format, args...)}
}

// ExitCode is what svcat ends with after an error; 0 after none.
func ExitCode(err error) int {
	if err == nil {
		return 0
	}
	if failure, ok := errors.AsType[*Failure](err); ok {
		return failure.Code
	}
	if errors.Is(err, context.Canceled) {
		return ExitInterrupted
	}
	return ExitFailed
}

// Message is an error as a person is told it. What the API server refuses reads
// as kubectl prints it.
func Message(err error) string {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok {
		return "error: " + err.Error()
	}
	details := status.ErrStatus.Details
	if status.ErrStatus.Reason != metav1.StatusReasonInvalid || details == nil || len(details.Causes) == 0 {
		return fmt.Sprintf("Error from server (%s): %s", status.ErrStatus.Reason, status.ErrStatus.Message)
	}
	lines := make([]string, len(details.Causes))
	for i, cause := range details.Causes {
		lines[i] = strings.TrimPrefix(cause.Field+": "+cause.Message, ": ")
	}
	who := fmt.Sprintf("The %s %q is invalid:", details.Kind, details.Name)
	if len(lines) == 1 {
		return who + " " + lines[0]
	}
	return who + "\n* " + strings.Join(lines, "\n* ")
}
