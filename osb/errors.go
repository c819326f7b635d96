package osb

import (
	"errors"
	"fmt"
	"time"
)

// A Kind is what went wrong, as far as a platform acts differently on it.
type Kind string

// The kinds of errors.
const (
	// Rejected: the broker refused the request, and nothing happened. Any 4xx that is
	// no other kind, 408 included.
	Rejected Kind = "Rejected"
	// Conflict: it exists with other attributes. 409, and 409 only.
	Conflict Kind = "Conflict"
	// Gone: there is none. 410 to any request; 404 to a fetch or a deletion.
	Gone Kind = "Gone"
	// NotFound: 404 to any other request.
	NotFound Kind = "NotFound"
	// AsyncRequired: 422, although accepts_incomplete was sent.
	AsyncRequired Kind = "AsyncRequired"
	// Concurrency: another operation runs; wait and try again. 422 ConcurrencyError, and
	// 409 with that code.
	Concurrency Kind = "Concurrency"
	// MaintenanceConflict: the maintenance version is not the broker's. 422.
	MaintenanceConflict Kind = "MaintenanceConflict"
	// RequiresApp: 422, although an app_guid was sent.
	RequiresApp Kind = "RequiresApp"
	// Auth: the credentials are wrong. 401 and 403.
	Auth Kind = "Auth"
	// Version: the broker does not speak this version of the API. 412.
	Version Kind = "Version"
	// Unavailable: not now. 429, and 503.
	Unavailable Kind = "Unavailable"
	// BrokerFault: an answer that the specification does not allow, a redirection
	// included, or any other 5xx.
	BrokerFault Kind = "BrokerFault"
	// NeverSent: the request did not leave: no connection, no TLS, or it was not lawful.
	NeverSent Kind = "NeverSent"
	// MaybeReceived: the request may have been received, and no answer came: a timeout,
	// a connection that was cut, an answer that ended early.
	MaybeReceived Kind = "MaybeReceived"
)

// An Error is what came of a request that failed. Its text holds no credential and no
// parameter; the broker's own text in it is bounded, of one line, and made printable.
type Error struct {
	// Kind says what to do about it.
	Kind Kind
	// Operation is what was asked for, in a word or two: "provision".
	Operation string
	// StatusCode is the HTTP status; 0 where no answer came. An answer that ended early
	// has one although it is MaybeReceived.
	StatusCode int
	// Malformed says that the status alone would have meant success, but the body was
	// not as the specification says.
	Malformed bool
	// Unlawful says what of a Malformed body is wrong, never a value in it: "operation is
	// not a string".
	Unlawful string
	// Code is the body's "error", such as ConcurrencyError; often empty.
	Code string
	// Description is the broker's text for people; at most 1,024 characters of it.
	Description string
	// Usable and Repeatable are as in LastOperation: nil where nothing was said.
	Usable, Repeatable *bool
	// RetryAfter is how long the broker asks to wait; 0 where it did not.
	RetryAfter time.Duration
	// RequestID is what the request was sent with, to find it in the broker's log.
	RequestID string
	// Cause is the transport's error, without the URL; nil where an answer came.
	Cause error
}

// KindOf is the kind of an error that this package returned, or empty for any other
// error and for nil.
func KindOf(err error) Kind {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

// Error says what failed and why.
func (e *Error) Error() string {
	text := "cannot " + e.Operation
	if e.StatusCode != 0 {
		text += fmt.Sprintf(": the broker answered %d", e.StatusCode)
	}
	if e.Malformed {
		text += ", with a body that is not lawful"
	}
	if e.Unlawful != "" {
		text += " (" + e.Unlawful + ")"
	}
	if e.Code != "" {
		text += " " + e.Code
	}
	if e.Description != "" {
		text += ": " + e.Description
	}
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

// Unwrap is the transport's error, if that is what it was.
func (e *Error) Unwrap() error { return e.Cause }
