package controller

import (
	"errors"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	// WriteTimeout bounds one write. It is more than the two hooks may take together.
	WriteTimeout = 15 * time.Second
	// MaxRetryDelay is the longest pause before what failed is tried again.
	MaxRetryDelay = time.Minute
	// PauseShare bounds the cost of work that grows with the catalog: the pause after
	// it is as many times as long as the work took.
	PauseShare = 20
)

// StatusCode is the HTTP status of an answer of the API server, 0 of any other
// error.
func StatusCode(err error) int {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return 0
	}
	return int(status.Status().Code)
}

// LogCause logs why a write did not succeed. What the API server says is left
// out but for its kind: other hooks may quote the object in it.
func LogCause(log logr.Logger, err error, message string) {
	if code := StatusCode(err); code != 0 {
		log.Info(message, "code", code, "reason", string(apierrors.ReasonForError(err)))
		return
	}
	log.Info(message, "cause", err.Error())
}
