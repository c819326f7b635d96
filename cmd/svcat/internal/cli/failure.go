package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/apistatus"
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

// A Failure is an error that ends svcat with a code of its own. Without Err, the code is all
// that is said.
type Failure struct { //nolint:errname // it is how svcat ends, with an error in it
	Code int
	Err  error
}

func (f *Failure) Error() string {
	if f.Err == nil {
		return ""
	}
	return f.Err.Error()
}

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
	if interrupted(err) {
		return ExitInterrupted
	}
	return ExitFailed
}

// interrupted says that an error is of Ctrl-C, and that it was not said what stands.
func interrupted(err error) bool {
	_, said := errors.AsType[*Failure](err)
	return !said && errors.Is(err, context.Canceled)
}

// Message is an error as a person is told it, whole, empty where the exit code is all: each of several that are
// joined on lines of its own, and what surrounds a refusal of the API server too. The
// refusal itself reads as kubectl prints it.
func Message(err error) string {
	if interrupted(err) && len(joined(err)) == 0 {
		return "error: interrupted"
	}
	return message(err)
}

func message(err error) string {
	if failure, is := err.(*Failure); is { //nolint:errorlint // the outermost only
		if failure.Err == nil {
			return ""
		}
		return message(failure.Err)
	}
	if all := joined(err); len(all) > 0 {
		lines := make([]string, len(all))
		for i, one := range all {
			lines[i] = Message(one)
		}
		return strings.Join(slices.Compact(lines), "\n")
	}
	return apistatus.Error(err)
}

// joined are the errors that errors.Join put together, none for any other error.
func joined(err error) []error {
	several, is := err.(interface{ Unwrap() []error })
	if !is || err.Error() != errors.Join(several.Unwrap()...).Error() {
		return nil
	}
	return several.Unwrap()
}
