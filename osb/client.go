package osb

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
)

// The specification's headers, spelt as net/http sends them; it writes API in capitals.
const (
	versionHeader = "X-Broker-Api-Version"
	requestHeader = "X-Broker-Api-Request-Identity"
	userHeader    = "X-Broker-Api-Originating-Identity"
)

// A Client speaks to one broker. It is safe for use by many goroutines, keeps nothing
// but idle connections, and repeats no request. All its methods return an *Error, which
// KindOf reads. No field holds a credential, so that it may be printed.
type Client struct {
	http                *http.Client
	base, version       string
	timeout             time.Duration
	limit, catalogLimit limit
	authorize           func(*http.Request)
	scrub               *strings.Replacer
	newRequestID        func() string
	now                 func() time.Time
}

// Close closes the idle connections. The Client can be used on, and requests that run
// are not disturbed.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// A call is a request to be made.
type call struct {
	// operation is what it does, for errors.
	operation string
	method    string
	// path is what follows the broker's URL, escaped; query what follows that.
	path  string
	query query
	// needs are the values that must not be empty, with their names for people.
	needs []need
	// body is encoded to JSON; nil: none. parameters are in it too.
	body       any
	parameters json.RawMessage
	identity   *Identity
	etag       string
	limit      limit
	// good are the statuses that mean success, and absent is what 404 means.
	good   []int
	absent Kind
}

type need struct{ name, value string }

// A limit is how large an answer may be. Plans are those of a catalog, and its services.
type limit struct {
	bytes         int64
	values, plans int
}

// exceeds says what is too much of a body; nothing if it is within the limit.
func (l limit) exceeds(body []byte) string {
	switch {
	case int64(len(body)) > l.bytes:
		return "it is too long"
	case values(body, l.values) > l.values:
		return fmt.Sprintf("its lists and objects have more than %d members", l.values)
	}
	return ""
}

// lawful refuses what no broker could answer.
func (k call) lawful() error {
	for _, need := range k.needs {
		if need.value == "" {
			return fmt.Errorf("the %s is empty", need.name)
		}
	}
	if k.parameters != nil && k.parameters[0] != '{' {
		return errors.New("the parameters are not a JSON object")
	}
	return nil
}

// send makes the request and returns its answer if the status means success.
func (c *Client) send(ctx context.Context, k call) (*httpResponse, error) {
	a, err := c.exchange(ctx, k)
	if err != nil {
		return nil, err
	}
	if err := a.validate(); err != nil {
		return nil, err
	}
	return a, nil
}

// exchange makes the request and returns its answer, whatever that is.
func (c *Client) exchange(ctx context.Context, k call) (*httpResponse, error) {
	failed := &Error{Kind: NeverSent, Operation: k.operation, RequestID: or(c.newRequestID(), uuid.NewString())}
	own, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	left := sentTracker{}
	request, err := c.request(left.watch(own), k, failed.RequestID)
	if err != nil {
		failed.Cause = err
		return nil, failed
	}
	response, err := c.http.Do(request)
	if err != nil {
		failed.Kind, failed.Cause = left.kind(err), c.because(ctx, err)
		return nil, failed
	}
	defer func() { _ = response.Body.Close() }()
	limit := or(k.limit, c.limit)
	body, err := io.ReadAll(io.LimitReader(response.Body, limit.bytes+1))
	if err != nil {
		failed.Kind, failed.StatusCode, failed.Cause = MaybeReceived, response.StatusCode, c.because(ctx, err)
		return nil, failed
	}
	a := &httpResponse{
		call: k, status: response.StatusCode, body: body,
		contentType: response.Header.Get("Content-Type"), etag: response.Header.Get("ETag"),
		wait: retryAfter(response.Header, c.now()), requestID: failed.RequestID, scrub: c.scrub,
	}
	if a.tooLarge = limit.exceeds(body); a.tooLarge != "" {
		a.body = nil
	}
	return a, nil
}

// request is the call as HTTP. Its errors say nothing of values.
func (c *Client) request(ctx context.Context, k call, requestID string) (*http.Request, error) {
	if err := k.lawful(); err != nil {
		return nil, err
	}
	body, err := k.encode()
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, k.method, c.base+k.path+k.query.String(), body)
	if err != nil {
		return nil, errors.New("the request is not lawful HTTP")
	}
	header := request.Header
	header.Set("Accept", "application/json")
	header.Set("User-Agent", "defaultplan")
	header.Set(versionHeader, c.version)
	header.Set(requestHeader, requestID)
	if k.body != nil {
		header.Set("Content-Type", "application/json")
	}
	if k.etag != "" {
		header.Set("If-None-Match", k.etag)
	}
	if k.identity != nil {
		identity, err := k.identity.header()
		if err != nil {
			return nil, err
		}
		header.Set(userHeader, identity)
	}
	c.authorize(request)
	return request, nil
}

// encode returns the body to send. A bytes.Reader lets net/http start over on another
// connection if nothing was written to the first.
func (k call) encode() (io.Reader, error) {
	if k.body == nil {
		return http.NoBody, nil
	}
	encoded, err := json.Marshal(k.body)
	if err != nil {
		// encoding/json repeats what it could not read.
		return nil, errors.New("the context or the parameters are not lawful JSON")
	}
	return bytes.NewReader(encoded), nil
}
