package cli_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

func invalid(causes ...metav1.StatusCause) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Reason: metav1.StatusReasonInvalid, Message: "the whole text",
		Details: &metav1.StatusDetails{Kind: "ServiceInstance", Name: "db", Causes: causes},
	}}
}

func TestMessage(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		err    error
		want   string
	}{
		"Own": {reason: "our own errors are sentences", err: errors.New("no plan"), want: "error: no plan"},
		"Usage": {
			reason: "so are those about the command line", err: cli.Usagef("--scope is %q", "x"), want: `error: --scope is "x"`,
		},
		"Refused": {
			reason: "what the API server refuses reads as from kubectl",
			err:    apierrors.NewNotFound(schema.GroupResource{Group: "g", Resource: "things"}, "x"),
			want:   `Error from server (NotFound): things.g "x" not found`,
		},
		"Wrapped": {
			reason: "what surrounds a refusal says what was done",
			err:    fmt.Errorf("cannot read: %w", apierrors.NewUnauthorized("who are you")),
			want:   "error: cannot read: Error from server (Unauthorized): who are you",
		},
		"WrappedTwice": {
			reason: "what stands is told between two refusals",
			err:    fmt.Errorf("%w; it is still marked: %w", apierrors.NewUnauthorized("first"), apierrors.NewUnauthorized("second")),
			want:   "error: Error from server (Unauthorized): first; it is still marked: Error from server (Unauthorized): second",
		},
		"Joined": {
			reason: "none of several is lost",
			err:    &cli.Failure{Code: cli.ExitFailed, Err: errors.Join(apierrors.NewUnauthorized("first"), errors.New("second"))},
			want:   "Error from server (Unauthorized): first\nerror: second",
		},
		"Invalid": {
			reason: "one field at fault is one line", err: invalid(metav1.StatusCause{Field: "spec.serviceType", Message: "two claim it\n  → choose"}),
			want: "The ServiceInstance \"db\" is invalid: spec.serviceType: two claim it\n  → choose",
		},
		"InvalidTwice": {
			reason: "several are a list", err: invalid(metav1.StatusCause{Field: "a", Message: "1"}, metav1.StatusCause{Message: "2"}),
			want: "The ServiceInstance \"db\" is invalid:\n* a: 1\n* 2",
		},
		"Interrupted": {
			reason: "who pressed Ctrl-C knows what for", err: fmt.Errorf("cannot list: Get \"http://h\": %w", context.Canceled), want: "error: interrupted",
		},
		"InterruptedMidway": {
			reason: "who says what stands is told", err: &cli.Failure{Code: cli.ExitInterrupted, Err: fmt.Errorf("half of it stands: %w", context.Canceled)},
			want: "error: half of it stands: context canceled",
		},
		"InterruptedOfSeveral": {
			reason: "what was found out before is told too", err: errors.Join(errors.New("no plan"), fmt.Errorf("cannot get: %w", context.Canceled), context.Canceled),
			want: "error: no plan\nerror: interrupted",
		},
		"InvalidWithoutCause": {reason: "without a field there is the text", err: invalid(), want: "Error from server (Invalid): the whole text"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, cli.Message(tc.err), tc.reason)
		})
	}
}

func TestExitCode(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		err    error
		want   int
	}{
		"Done":        {reason: "no error is success"},
		"Failed":      {reason: "any error is a failure", err: errors.New("x"), want: cli.ExitFailed},
		"Usage":       {reason: "a wrong command line has its own, however deep it is wrapped", err: fmt.Errorf("x: %w", cli.Usagef("y")), want: cli.ExitUsage},
		"Timeout":     {reason: "a Failure says its own", err: &cli.Failure{Code: cli.ExitTimeout, Err: errors.New("x")}, want: cli.ExitTimeout},
		"Interrupted": {reason: "Ctrl-C, wherever it was noticed", err: fmt.Errorf("cannot list: %w", context.Canceled), want: cli.ExitInterrupted},
		"OutOfTime":   {reason: "a deadline that is not that of --wait is a failure", err: context.DeadlineExceeded, want: cli.ExitFailed},
		"FailureFirst": {
			reason: "who says a code knows better than what he wraps",
			err:    &cli.Failure{Code: cli.ExitObjectFailed, Err: context.Canceled}, want: cli.ExitObjectFailed,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, cli.ExitCode(tc.err), tc.reason)
		})
	}
}
