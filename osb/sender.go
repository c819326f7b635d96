package osb

import (
	"bytes"
	"cmp"
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

// A sender sends requests to one broker over HTTP. No field holds a credential.
type sender struct {
	http          *http.Client
	base, version string
	timeout       time.Duration
	limit         limit
	authorize     func(*http.Request)
	scrub         *strings.Replacer
	newRequestID  func() string
	now           func() time.Time
}

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

// send makes the request, and reads its answer if the status means success.
func send[T any](ctx context.Context, s *sender, k call, read func(*httpResponse) (*T, error)) (*T, error) {
	a, err := s.exchange(ctx, k)
	if err != nil {
		return nil, err
	}
	if err := a.validate(); err != nil {
		return nil, err
	}
	return read(a)
}

// exchange makes the request and returns its answer, whatever that is.
func (s *sender) exchange(ctx context.Context, k call) (*httpResponse, error) {
	failed := &Error{Kind: NeverSent, Operation: k.operation, RequestID: s.requestID(ctx)}
	own, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	left := sentTracker{}
	request, err := s.request(left.watch(own), k, failed.RequestID)
	if err != nil {
		failed.Cause = err
		return nil, failed
	}
	response, err := s.http.Do(request)
	if err != nil {
		failed.Kind, failed.Cause = left.kind(err), s.because(ctx, err)
		return nil, failed
	}
	defer func() { _ = response.Body.Close() }()
	limit := cmp.Or(k.limit, s.limit)
	body, err := io.ReadAll(io.LimitReader(response.Body, limit.bytes+1))
	if err != nil {
		failed.Kind, failed.StatusCode, failed.Cause = MaybeReceived, response.StatusCode, s.because(ctx, err)
		return nil, failed
	}
	a := &httpResponse{
		call: k, status: response.StatusCode, body: body,
		contentType: response.Header.Get("Content-Type"), etag: response.Header.Get("ETag"),
		wait: retryAfter(response.Header, s.now()), requestID: failed.RequestID, scrub: s.scrub,
	}
	if a.tooLarge = limit.exceeds(body); a.tooLarge != "" {
		a.body = nil
	}
	return a, nil
}

type requestIDKey struct{}

// WithRequestID has the request that is made with a context carry an ID, as
// X-Broker-API-Request-Identity, instead of a random one: the caller knows the ID of a request that
// succeeds, too. An empty ID changes nothing.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

// requestID is the ID of a request, which is never empty.
func (s *sender) requestID(ctx context.Context) string {
	if given, _ := ctx.Value(requestIDKey{}).(string); given != "" {
		return given
	}
	return cmp.Or(s.newRequestID(), uuid.NewString())
}

// request is the call as HTTP. Its errors say nothing of values.
func (s *sender) request(ctx context.Context, k call, requestID string) (*http.Request, error) {
	if err := k.lawful(); err != nil {
		return nil, err
	}
	body, err := k.encode()
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, k.method, s.base+k.path+k.query.String(), body)
	if err != nil {
		return nil, errors.New("the request is not lawful HTTP")
	}
	header := request.Header
	header.Set("Accept", "application/json")
	header.Set("User-Agent", "defaultplan")
	header.Set(versionHeader, s.version)
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
	s.authorize(request)
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
