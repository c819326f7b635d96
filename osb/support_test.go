package osb

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// sent is a request as a broker saw it.
type sent struct {
	Method, URI string
	Header      http.Header
	Body        string
}

// recorder is a broker that writes down what it is sent, and answers as told.
type recorder struct {
	mu     sync.Mutex
	calls  []sent
	status int
	header map[string]string
	body   string
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, _ := io.ReadAll(request.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, sent{request.Method, request.RequestURI, request.Header, string(body)})
	for name, value := range r.header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(r.status)
	_, _ = io.WriteString(w, r.body)
}

func (r *recorder) answer(status int, body string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls, r.status, r.body = nil, status, body
}

func (r *recorder) seen() []sent {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls
}

// serve starts a server on loopback and a client of it.
func serve(t testing.TB, handler http.Handler, change ...func(*Config)) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return connect(t, server.URL, change...)
}

// connect is a client whose request IDs are always the same.
func connect(t testing.TB, url string, change ...func(*Config)) *Client {
	t.Helper()
	config := Config{URL: url, NewRequestID: func() string { return "request-1" }}
	for _, change := range change {
		change(&config)
	}
	client, err := New(config)
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

// failure is the *Error in an error.
func failure(t testing.TB, err error) *Error {
	t.Helper()
	var failed *Error
	require.ErrorAs(t, err, &failed)
	return failed
}

// An operation is one of the client's methods with a request that is complete.
type operation struct {
	name string
	call func(context.Context, *Client) (any, error)
}

func operations() []operation {
	full := completeRequests()
	return []operation{
		{"Catalog", func(ctx context.Context, c *Client) (any, error) { return c.Catalog(ctx, "") }},
		{"Provision", func(ctx context.Context, c *Client) (any, error) { return c.Provision(ctx, full.provision) }},
		{"Update", func(ctx context.Context, c *Client) (any, error) { return c.Update(ctx, full.update) }},
		{"Deprovision", func(ctx context.Context, c *Client) (any, error) { return c.Deprovision(ctx, full.deprovision) }},
		{"Bind", func(ctx context.Context, c *Client) (any, error) { return c.Bind(ctx, full.bind) }},
		{"Unbind", func(ctx context.Context, c *Client) (any, error) { return c.Unbind(ctx, full.unbind) }},
		{"FetchInstance", func(ctx context.Context, c *Client) (any, error) { return c.FetchInstance(ctx, full.fetch) }},
		{"FetchBinding", func(ctx context.Context, c *Client) (any, error) { return c.FetchBinding(ctx, full.fetchBinding) }},
		{"Poll", func(ctx context.Context, c *Client) (any, error) { return c.Poll(ctx, full.poll) }},
	}
}

type complete struct {
	provision           ProvisionRequest
	update              UpdateRequest
	deprovision         DeprovisionRequest
	bind                BindRequest
	unbind              UnbindRequest
	fetch, fetchBinding FetchRequest
	poll                PollRequest
}

func completeRequests() complete {
	user := &Identity{Platform: "kubernetes", Value: IdentityValue{
		Username: "ann", UID: "u-1", Groups: []string{"dev"}, Extra: map[string][]string{"scopes": {"a"}},
	}}
	where := map[string]any{"platform": "kubernetes", "namespace": "shop", "clusterid": "c-1"}
	parameters := json.RawMessage(`{"size": 1.50, "name": "x"}`)
	return complete{
		provision: ProvisionRequest{
			InstanceID: "i-1", ServiceID: "s-1", PlanID: "p-1", Organization: "c-1", Space: "ns-1",
			Context: where, Parameters: parameters, MaintenanceVersion: "1.0.0", Identity: user,
		},
		update: UpdateRequest{
			InstanceID: "i-1", ServiceID: "s-1", PlanID: "p-2", Context: where, Parameters: parameters, MaintenanceVersion: "2.0.0",
			Previous: PreviousValues{ServiceID: "s-1", PlanID: "p-1", Organization: "c-1", Space: "ns-1", MaintenanceVersion: "1.0.0"},
			Identity: user,
		},
		deprovision: DeprovisionRequest{InstanceID: "i-1", ServiceID: "s-1", PlanID: "p-1", Identity: user},
		bind: BindRequest{
			InstanceID: "i-1", BindingID: "b-1", ServiceID: "s-1", PlanID: "p-1", AppGUID: "ns-1",
			Context: where, Parameters: parameters, Predecessor: "b-0", Identity: user,
		},
		unbind:       UnbindRequest{InstanceID: "i-1", BindingID: "b-1", ServiceID: "s-1", PlanID: "p-1", Identity: user},
		fetch:        FetchRequest{InstanceID: "i-1", ServiceID: "s-1", PlanID: "p-1", Identity: user},
		fetchBinding: FetchRequest{InstanceID: "i-1", BindingID: "b-1", ServiceID: "s-1", PlanID: "p-1", Identity: user},
		poll:         PollRequest{InstanceID: "i-1", ServiceID: "s-1", PlanID: "p-1", Operation: new("key 1"), Identity: user},
	}
}
