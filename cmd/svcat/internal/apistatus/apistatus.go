// Package apistatus words what the API server answers.
package apistatus

import (
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Error is an error as svcat prints it, with each answer of the API server that it wraps as
// kubectl prints it. One that is nothing else is that alone.
func Error(err error) string {
	if status, is := err.(*apierrors.StatusError); is { //nolint:errorlint // the outermost only
		return Text(status)
	}
	text := err.Error()
	for _, status := range statuses(err) {
		text = strings.Replace(text, status.Error(), Text(status), 1)
	}
	return "error: " + text
}

// statuses are the answers of the API server that an error wraps.
func statuses(err error) []*apierrors.StatusError {
	switch e := err.(type) { //nolint:errorlint // each level is looked at
	case *apierrors.StatusError:
		return []*apierrors.StatusError{e}
	case interface{ Unwrap() error }:
		return statuses(e.Unwrap())
	case interface{ Unwrap() []error }:
		var all []*apierrors.StatusError
		for _, one := range e.Unwrap() {
			all = append(all, statuses(one)...)
		}
		return all
	}
	return nil
}

// Text is an answer of the API server as kubectl prints it.
func Text(status *apierrors.StatusError) string {
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
