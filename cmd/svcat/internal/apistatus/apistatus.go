// Package apistatus words what the API server answers.
package apistatus

import (
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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
