package osb

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// An answer is a broker's, read to its end.
type answer struct {
	call

	status int
	body   []byte
	// tooLarge says what the body had too much of, or nothing; what was read of it is
	// dropped.
	tooLarge  string
	etag      string
	wait      time.Duration
	requestID string
	// scrub takes our secrets out of the broker's texts.
	scrub *strings.Replacer
}

// failure is an error with all that the answer tells of itself.
func (a *answer) failure(kind Kind) *Error {
	return &Error{
		Kind: kind, Operation: a.operation, StatusCode: a.status,
		RequestID: a.requestID, RetryAfter: a.wait,
	}
}

// judge is nil for a status that means success, and otherwise tells why not.
func (a *answer) judge() error {
	if slices.Contains(a.good, a.status) {
		return nil
	}
	body := open(a.body)
	code := hint[string](body, "error")
	failed := a.failure(kindOf(a.status, code, a.absent))
	failed.Code = printable(a.scrub.Replace(code), maxName)
	failed.Description = a.description(body)
	failed.Usable = hint[*bool](body, "instance_usable")
	failed.Repeatable = hint[*bool](body, "update_repeatable")
	return failed
}

// description is the broker's text for people. brokerapi writes it with a capital
// letter where it refuses a version.
func (a *answer) description(body *reading) string {
	text := hint[string](body, "description")
	if text == "" {
		text = hint[string](body, "Description")
	}
	return printable(a.scrub.Replace(text), maxDescription)
}

// open reads the body of an answer whose status means success.
func (a *answer) open() *reading {
	body := open(a.body)
	if a.tooLarge != "" {
		*body.wrong = a.tooLarge
	}
	return body
}

// lawful is nil if all that was read of a body was as it should be.
func (a *answer) lawful(body *reading) error {
	if *body.wrong == "" {
		return nil
	}
	failed := a.failure(BrokerFault)
	failed.Malformed = true
	failed.Unlawful = *body.wrong
	return failed
}

// kindOf is what a status means that is no success. absent is what 404 means to the
// request ("Service Broker Errors", "Orphan Mitigation").
func kindOf(status int, code string, absent Kind) Kind {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return Auth
	case http.StatusNotFound:
		return absent
	case http.StatusConflict:
		// minibroker's way to say it.
		if code == "ConcurrencyError" {
			return Concurrency
		}
		return Conflict
	case http.StatusGone:
		return Gone
	case http.StatusPreconditionFailed:
		return Version
	case http.StatusUnprocessableEntity:
		return unprocessable(code)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return Unavailable
	}
	if status >= http.StatusBadRequest && status < http.StatusInternalServerError {
		return Rejected
	}
	return BrokerFault
}

// unprocessable goes by the code alone: the descriptions beside it are anyone's.
func unprocessable(code string) Kind {
	switch code {
	case "AsyncRequired":
		return AsyncRequired
	case "ConcurrencyError":
		return Concurrency
	case "MaintenanceInfoConflict":
		return MaintenanceConflict
	case "RequiresApp":
		return RequiresApp
	}
	return Rejected
}
