package osb

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// An httpResponse is a broker's HTTP response, read to its end.
type httpResponse struct {
	call

	status int
	body   []byte
	// tooLarge says what the body had too much of, or nothing; what was read of it is
	// dropped.
	tooLarge    string
	contentType string
	etag        string
	wait        time.Duration
	requestID   string
	// scrub takes our secrets out of the broker's texts.
	scrub *strings.Replacer
}

// failure is an error with all that the answer tells of itself.
func (a *httpResponse) failure(kind Kind) *Error {
	return &Error{
		Kind: kind, Operation: a.operation, StatusCode: a.status,
		RequestID: a.requestID, RetryAfter: a.wait,
	}
}

// validate is nil for a status that means success, and otherwise the error.
func (a *httpResponse) validate() error {
	if slices.Contains(a.good, a.status) {
		return nil
	}
	body := open(a.body)
	code := hint[string](body, "error")
	failed := a.failure(kindOf(a.status, code, a.absent))
	failed.Code = Printable(a.scrub.Replace(code), maxName)
	if failed.Description = a.description(body); failed.Description == "" && failed.Code == "" {
		failed.Description = a.words()
	}
	failed.Usable = hint[*bool](body, "instance_usable")
	failed.Repeatable = hint[*bool](body, "update_repeatable")
	return failed
}

// description is the broker's text for people. brokerapi writes it with a capital
// letter where it refuses a version.
func (a *httpResponse) description(body *reading) string {
	text := hint[string](body, "description")
	if text == "" {
		text = hint[string](body, "Description")
	}
	return Printable(a.scrub.Replace(text), maxDescription)
}

// words are the broker's where its error has neither code nor description: the first line of a
// text. Of JSON, and of what may be JSON written in another way, nothing is told, for it may hold
// credentials; of a page of HTML, which something else wrote, only that it is one.
func (a *httpResponse) words() string {
	text := string(a.text())
	if quoted := ""; json.Unmarshal([]byte(text), &quoted) == nil {
		text = quoted
	}
	switch {
	case a.status < http.StatusBadRequest, text == "null":
		return ""
	case a.isHTML():
		return a.pageOfHTML()
	case !utf8.ValidString(text), strings.ContainsAny(text, "{\x00"), strings.HasPrefix(text, "["):
		return ""
	}
	return a.firstLine(text)
}

// firstLine is the first line of a text that shows anything. It ends in an ellipsis where more
// follows: a secret that goes on in the next line is known by this mark.
func (a *httpResponse) firstLine(text string) string {
	text = strings.TrimLeftFunc(a.scrub.Replace(text), func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) })
	line, rest, _ := strings.Cut(text, "\n")
	line = Printable(line, maxWords)
	if strings.TrimSpace(rest) == "" || strings.HasSuffix(line, ellipsis) {
		return line
	}
	return cut(line, maxWords)
}

// typesOfHTML are the media types of pages.
var typesOfHTML = []string{"text/html", "application/xhtml+xml"}

// isHTML goes by the header and by the beginning of the body: a proxy's page may have no type.
func (a *httpResponse) isHTML() bool {
	if slices.Contains(typesOfHTML, a.mediaType()) && !json.Valid(a.body) && !a.beginsJSON() {
		return true
	}
	begins := bytes.ToLower(a.text()[:min(len(a.text()), len("<!doctype html"))])
	return bytes.HasPrefix(begins, []byte("<html")) || bytes.HasPrefix(begins, []byte("<!doctype html"))
}

// mediaType is the content type without what follows it.
func (a *httpResponse) mediaType() string {
	kind, _, _ := strings.Cut(strings.ToLower(a.contentType), ";")
	return strings.TrimSpace(kind)
}

// text is the body without what is around it.
func (a *httpResponse) text() []byte { return bytes.TrimSpace(bytes.TrimPrefix(a.body, byteOrderMark)) }

// beginsJSON says whether a body begins as an object or a list does.
func (a *httpResponse) beginsJSON() bool { return a.begins("{") || a.begins("[") }

// begins says what a body begins with.
func (a *httpResponse) begins(with string) bool { return bytes.HasPrefix(a.text(), []byte(with)) }

// pageOfHTML says what came instead of a broker's answer. Of the content type it tells what is known: a header may hold
// anything.
func (a *httpResponse) pageOfHTML() string {
	kind := a.mediaType()
	switch {
	case kind == "":
		kind = "none"
	case !slices.Contains(append(typesOfHTML, "text/plain", "application/json", "application/octet-stream"), kind):
		kind = "another"
	}
	return fmt.Sprintf("it is a page of HTML, with the content type %q: is this the broker's address?", kind)
}

// open reads the body of an answer whose status means success.
func (a *httpResponse) open() *reading {
	body := open(a.body)
	switch {
	case a.tooLarge != "":
		*body.wrong = a.tooLarge
	case *body.wrong == notJSON && a.isHTML():
		*body.wrong = a.pageOfHTML()
	}
	return body
}

// lawful is nil if all that was read of a body was as it should be.
func (a *httpResponse) lawful(body *reading) error {
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
