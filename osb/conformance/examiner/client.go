package examiner

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

type object = map[string]any

// maxAnswer is the most that is read of an answer, in bytes.
const maxAnswer = 32 << 20

// An access is which credentials a request brings.
type access int

const (
	rightCredentials access = iota
	wrongCredentials
	noCredentials
)

// A request is one to the broker, before it is sent.
type request struct {
	method, path string
	query        url.Values
	// body is sent as JSON unless raw is there.
	body   object
	raw    string
	access access
}

// with is a copy of the request with a parameter of the query.
func (r request) with(key, value string) request {
	r.query = maps.Clone(r.query)
	if r.query == nil {
		r.query = url.Values{}
	}
	r.query.Set(key, value)
	return r
}

// without is a copy that lacks a field of the body, or a parameter of the query.
func (r request) without(key string) request {
	r.query, r.body = maps.Clone(r.query), maps.Clone(r.body)
	r.query.Del(key)
	delete(r.body, key)
	return r
}

// having is a copy with a field of the body.
func (r request) having(key string, value any) request {
	r.body = maps.Clone(r.body)
	r.body[key] = value
	return r
}

// spoiled is a copy that no broker may accept, and what is wrong with it: it lacks a required
// field, or where none is named it is not JSON.
func (r request) spoiled(lacking string) (request, string) {
	if lacking == "" {
		r.raw = `{"service_id": `
		return r, "no JSON"
	}
	return r.without(lacking), "without " + lacking
}

// An answer is what came back. A status of 0 means that none came.
type answer struct {
	status int
	// body is nil unless it is a JSON object.
	body   object
	header http.Header
}

// code is the error of an answer, if it is one that the specification knows.
func (a answer) code() string {
	code, _ := a.body["error"].(string)
	if slices.Contains([]string{"AsyncRequired", "ConcurrencyError", "RequiresApp", "MaintenanceInfoConflict"}, code) {
		return code
	}
	return ""
}

// is says whether an answer is a 422 with a code.
func (a answer) is(code string) bool {
	return a.status == http.StatusUnprocessableEntity && a.code() == code
}

func (a answer) succeeds() bool { return a.status >= 200 && a.status < 300 }
func (a answer) refuses() bool  { return a.status >= 400 && a.status < 500 }

// String is the status, and the code where it is a known one. Texts of the broker are not
// repeated: they may hold anything.
func (a answer) String() string {
	switch {
	case a.status == 0:
		return "no answer"
	case a.code() != "":
		return fmt.Sprintf("%d %s", a.status, a.code())
	case a.status == http.StatusUnprocessableEntity:
		return "422 without a known code"
	}
	return fmt.Sprint(a.status)
}

// operation is the key for polling, if a string came.
func (a answer) operation() (string, bool) {
	key, is := a.body["operation"].(string)
	return key, is
}

// retryAfter is how long the broker asks to wait, in seconds or until a date.
func (a answer) retryAfter() time.Duration {
	value := a.header.Get("Retry-After")
	if seconds, err := time.ParseDuration(value + "s"); err == nil {
		return seconds
	}
	if date, err := http.ParseTime(value); err == nil {
		return time.Until(date)
	}
	return 0
}

// A client sends requests as they are.
type client struct {
	http                                    *http.Client
	url, username, password, token, version string
}

// send sends a request, and reads the answer. An error says that there is no whole answer.
func (c *client) send(ctx context.Context, r request) (answer, error) {
	text := []byte(r.raw)
	if r.raw == "" && r.body != nil {
		encoded, err := json.Marshal(r.body)
		if err != nil {
			return answer{}, fmt.Errorf("cannot encode a request: %w", err)
		}
		text = encoded
	}
	if err := ctx.Err(); err != nil {
		return answer{}, fmt.Errorf("cannot call the broker: %w", err)
	}
	if r.method == http.MethodPut {
		// What a request makes that was given up halfway is found by no removal that overtakes it.
		ctx = context.WithoutCancel(ctx)
	}
	sent, err := http.NewRequestWithContext(ctx, r.method, strings.TrimSuffix(c.url, "/")+r.path, bytes.NewReader(text))
	if err != nil {
		return answer{}, fmt.Errorf("cannot make a request: %w", err)
	}
	sent.URL.RawQuery = r.query.Encode()
	c.sign(sent, r)
	got, err := c.http.Do(sent)
	if err != nil {
		return answer{}, fmt.Errorf("cannot call the broker: %w", err)
	}
	defer func() { _ = got.Body.Close() }() // it was only read
	read, err := io.ReadAll(io.LimitReader(got.Body, maxAnswer))
	if err != nil {
		return answer{}, fmt.Errorf("cannot read the broker's answer: %w", err)
	}
	a := answer{status: got.StatusCode, header: got.Header}
	_ = json.Unmarshal(read, &a.body) // What is no object leaves it nil, and rules say so.
	return a, nil
}

// userIdentity is the user for whom requests are sent.
const userIdentity = `{"username":"osb-conformance","uid":"","groups":[],"extra":{}}`

// sign adds the headers.
func (c *client) sign(sent *http.Request, r request) {
	sent.Header.Set("X-Broker-Api-Version", c.version)
	sent.Header.Set("X-Broker-Api-Request-Identity", uuid.NewString())
	if sent.Method != http.MethodGet {
		sent.Header.Set("Content-Type", "application/json")
		sent.Header.Set("X-Broker-Api-Originating-Identity", "kubernetes "+base64.StdEncoding.EncodeToString([]byte(userIdentity)))
	}
	username, password, token := c.username, c.password, c.token
	switch r.access {
	case noCredentials:
		return
	case wrongCredentials:
		if password != "" || username != "" {
			password = uuid.NewString()
		}
		if token != "" {
			token = uuid.NewString()
		}
	case rightCredentials:
	}
	switch {
	case token != "":
		sent.Header.Set("Authorization", "Bearer "+token)
	case username != "" || password != "":
		sent.SetBasicAuth(username, password)
	}
}
