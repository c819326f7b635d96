package osb

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
)

// A cause is a transport's error in words that people understand. The error itself
// stays below it, for errors.Is and errors.As.
type cause struct {
	text string
	err  error
}

// Error is the text.
func (c *cause) Error() string { return c.text }

// Unwrap is what net/http said, without the URL.
func (c *cause) Unwrap() error { return c.err }

// because says why no answer came. The URL is peeled off; what is left is bounded,
// and holds none of our secrets.
func (s *sender) because(ctx context.Context, err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	text := s.inTime(ctx, err)
	for _, tell := range []func(error) string{tellTLS, tellName, tellConnection, tellOurs} {
		if text == "" {
			text = tell(err)
		}
	}
	if text == "" { // what net/http says may quote anything that it read
		text = "what came back is not HTTP, or was not sent to its end"
	}
	return &cause{text: Printable(s.scrub.Replace(text), maxCause), err: err}
}

// inTime tells our own timeout from the caller's. The context is the caller's.
func (s *sender) inTime(ctx context.Context, err error) string {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return "the call was cancelled"
	case ctx.Err() != nil:
		return "no answer within the time that the caller gave"
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("no answer within %s", s.timeout)
	}
	return ""
}

func tellTLS(err error) string {
	host, otherHost := errors.AsType[x509.HostnameError](err)
	invalid, isInvalid := errors.AsType[x509.CertificateInvalidError](err)
	alert, isAlert := remoteAlert(err)
	switch {
	case is[x509.UnknownAuthorityError](err):
		return "the certificate is not trusted: set caBundle"
	case otherHost:
		return fmt.Sprintf("the certificate is not for the name %q", host.Host)
	case isInvalid && invalid.Reason == x509.Expired:
		return "the certificate has expired or is not valid yet"
	case isInvalid:
		return "the certificate is not valid"
	case clientCertificateRefused(err):
		return "the broker refused the client certificate, or wants one"
	case isAlert:
		return "the broker refused the TLS connection: " + alert
	case errors.Is(err, http.ErrSchemeMismatch), is[tls.RecordHeaderError](err):
		return "the broker does not speak TLS: the URL may have to begin with http://"
	}
	return ""
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

func tellName(err error) string {
	lookup, ok := errors.AsType[*net.DNSError](err)
	switch {
	case !ok:
		return ""
	case lookup.IsNotFound:
		return fmt.Sprintf("the name %q was not found", lookup.Name)
	}
	return fmt.Sprintf("the name %q could not be looked up", lookup.Name)
}

func tellConnection(err error) string {
	operation, ok := errors.AsType[*net.OpError](err)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED) && ok && operation.Addr != nil:
		return fmt.Sprintf("the connection was refused by %s", operation.Addr)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "the connection was cut"
	case strings.HasSuffix(err.Error(), "TLS handshake timeout"):
		return fmt.Sprintf("no TLS handshake within %s", handshakeTimeout)
	case strings.Contains(err.Error(), "server response headers exceeded"):
		return "the headers of the answer are too long"
	case strings.Contains(err.Error(), "invalid proxy"):
		return "the proxy's address in the environment is not a URL"
	}
	return ""
}

// An ownError is what this package or a dialer says: it quotes nothing that came.
type ownError struct{ error }

// Unwrap is the error itself.
func (e ownError) Unwrap() error { return e.error }

// tellOurs is the text of an error that quotes nothing: one of ours, of the operating
// system, of a TLS alert, or a timeout.
func tellOurs(err error) string {
	own, isOwn := errors.AsType[ownError](err)
	operation, isOperation := errors.AsType[*net.OpError](err)
	number, isNumber := errors.AsType[syscall.Errno](err)
	late, isNet := errors.AsType[net.Error](err)
	switch {
	case isOwn:
		return own.Error()
	case isOperation && operation.Op != "proxyconnect":
		return operation.Error()
	case isNumber:
		return number.Error()
	case isNet && late.Timeout():
		return "no answer in time"
	case isOperation:
		return "the connection to the proxy failed"
	case is[*tls.CertificateVerificationError](err), strings.HasPrefix(err.Error(), "tls: "):
		return "TLS failed: the broker's certificate or its version of TLS cannot be used"
	}
	return ""
}

// certificateAlerts are those by which a server refuses a certificate, or the want of
// one; they are sent only in a handshake (RFC 8446, "Error Alerts").
var certificateAlerts = []tls.AlertError{42, 43, 44, 45, 46, 48, 49, 116}

// remoteAlert is the text of the TLS alert that the other side sent. crypto/tls keeps
// its number to itself.
func remoteAlert(err error) (string, bool) {
	operation, ok := errors.AsType[*net.OpError](err)
	if !ok || operation.Op != "remote error" {
		return "", false
	}
	return operation.Err.Error(), true
}

// clientCertificateRefused says whether the server ended the handshake because of
// our certificate. In TLS 1.3 that is known only after the request was written, which
// the server then never looked at.
func clientCertificateRefused(err error) bool {
	text, ok := remoteAlert(err)
	return ok && slices.ContainsFunc(certificateAlerts, func(alert tls.AlertError) bool {
		return alert.Error() == text
	})
}
