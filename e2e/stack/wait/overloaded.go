package wait

import (
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Overloaded reports whether a write failed only because the API server or a webhook had
// no time for it, as a client may find on a busy machine. Nothing was stored.
func Overloaded(err error) bool {
	if apierrors.IsTooManyRequests(err) {
		return true
	}
	if !apierrors.IsInternalError(err) {
		return false
	}
	return WebhookTimedOut(err.Error())
}

// CommandTimedOut reports whether a command that failed printed that a webhook had no time, and
// nothing to standard output: its first write was not stored, so that it can run again.
func CommandTimedOut(stdout, stderr string) bool { return stdout == "" && WebhookTimedOut(stderr) }

// WebhookTimedOut is Overloaded for what a command printed of a write that a webhook had
// no time for.
func WebhookTimedOut(text string) bool {
	return strings.Contains(text, "failed calling webhook") &&
		(strings.Contains(text, "deadline exceeded") || strings.Contains(text, "Client.Timeout exceeded"))
}
