package wait_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

func TestOverloaded(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason string
		err    error
		want   bool
	}{
		"Webhook": {
			reason: "a hook that came to no answer in time",
			err:    apierrors.NewInternalError(errors.New(`failed calling webhook "a": failed to call webhook: cannot read: context deadline exceeded`)), want: true,
		},
		"TooMany": {reason: "priority and fairness", err: apierrors.NewTooManyRequests("later", 1), want: true},
		"Refused": {
			reason: "a hook that is not there is a finding",
			err:    apierrors.NewInternalError(errors.New(`failed calling webhook "a": connect: connection refused`)),
		},
		"Denied": {reason: "an answer is an answer", err: apierrors.NewForbidden(schema.GroupResource{}, "a", errors.New("context deadline exceeded"))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, wait.Overloaded(test.err), test.reason)
		})
	}
}

// TestCommandTimedOut: a command runs again only where nothing was written by it.
func TestCommandTimedOut(t *testing.T) {
	t.Parallel()
	const busy = `Error from server (InternalError): Internal error occurred: failed calling webhook "a": context deadline exceeded`
	assert.True(t, wait.CommandTimedOut("", busy))
	assert.False(t, wait.CommandTimedOut("serviceinstance/a created\n", busy), "the first of two documents is stored")
	assert.False(t, wait.CommandTimedOut("", "Error from server (Forbidden): denied"), "an answer is an answer")
}
