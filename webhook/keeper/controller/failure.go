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
	// MaxRetryDelay is the longest delay before a retry.
	MaxRetryDelay = time.Minute
	// PauseShare bounds the cost of work that grows with the catalog: the pause after
	// it is as many times as long as the work took.
	PauseShare = 20
)

// StatusCode is the HTTP status of an API server's error, 0 for any other
// error.
func StatusCode(err error) int {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return 0
	}
	return int(status.Status().Code)
}

// LogCause logs why a write failed, without the API server's message, in which
// other hooks may quote the object.
func LogCause(log logr.Logger, err error, message string) {
	if code := StatusCode(err); code != 0 {
		log.Info(message, "code", code, "reason", string(apierrors.ReasonForError(err)))
		return
	}
	log.Info(message, "cause", err.Error())
}
