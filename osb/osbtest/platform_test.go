package osbtest_test

import (
	"bytes"
	stdcontext "context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// testCatalog has a plan for everything: one of every property that a duty is about.
const testCatalog = `{"services": [
	{"id": "db", "name": "db", "description": "d", "bindable": true, "plan_updateable": true, "instances_retrievable": true,
	 "bindings_retrievable": true, "allow_context_updates": true, "plans": [
		{"id": "small", "name": "small", "description": "d", "maintenance_info": {"version": "1.0.0"}, "binding_rotatable": true, "maximum_polling_duration": 60},
		{"id": "large", "name": "large", "description": "d"},
		{"id": "fixed", "name": "fixed", "description": "d", "plan_updateable": false}]},
	{"id": "box", "name": "box", "description": "d", "bindable": false, "plans": [{"id": "only", "name": "only", "description": "d"}, {"id": "other", "name": "other", "description": "d"}]}]}`

type object = map[string]any

// clock is one that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// platform is a client that does everything right unless it is told otherwise.
type platform struct {
	t      *testing.T
	broker *osbtest.Broker
	clock  *clock
	client *http.Client
	ctx    stdcontext.Context
}

func newPlatform(t *testing.T, options osbtest.Options) *platform {
	t.Helper()
	if options.Catalog == nil {
		options.Catalog = []byte(testCatalog)
	}
	moved := &clock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	if options.Now == nil {
		options.Now = moved.Now
	}
	return &platform{t: t, ctx: t.Context(), broker: osbtest.Start(t, options), clock: moved, client: &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       10 * time.Second,
	}}
}

// request is one call, before it is sent; tests change it.
type request struct {
	method, path string
	query        url.Values
	header       http.Header
	body         object
}

// answer is what came back; err is the transport's.
type answer struct {
	status int
	header http.Header
	body   object
	text   string
	err    error
}

func userHeader() string {
	return "kubernetes " + base64.StdEncoding.EncodeToString([]byte(`{"username":"ann","uid":"","groups":[],"extra":{}}`))
}

func newRequest(method, path string) *request {
	r := &request{method: method, path: path, query: url.Values{}, header: http.Header{}}
	r.header.Set("X-Broker-Api-Version", "2.17")
	r.header.Set("X-Broker-Api-Request-Identity", "request-1")
	return r
}

func (r *request) user() *request {
	r.header.Set("X-Broker-Api-Originating-Identity", userHeader())
	return r
}

func (r *request) with(change func(*request)) *request {
	if change != nil {
		change(r)
	}
	return r
}

func (r *request) set(key, value string) *request {
	r.query.Set(key, value)
	return r
}

func context() object {
	return object{"platform": "kubernetes", "namespace": "dev", "clusterid": "c1", "instance_name": "mydb"}
}

func getCatalog() *request { return newRequest(http.MethodGet, "/v2/catalog") }

func provision(id string) *request {
	r := newRequest(http.MethodPut, "/v2/service_instances/"+id).user().set("accepts_incomplete", "true")
	r.body = object{"service_id": "db", "plan_id": "small", "organization_guid": "c1", "space_guid": "ns1", "context": context(), "parameters": object{"size": 3}}
	return r
}

func update(id string) *request {
	r := newRequest(http.MethodPatch, "/v2/service_instances/"+id).user().set("accepts_incomplete", "true")
	r.body = object{"service_id": "db", "context": context(), "parameters": object{"size": 4}, "previous_values": object{"plan_id": "small"}}
	return r
}

func deprovision(id string) *request {
	return newRequest(http.MethodDelete, "/v2/service_instances/"+id).user().set("accepts_incomplete", "true").set("service_id", "db").set("plan_id", "small")
}

func bind(id, binding string) *request {
	r := newRequest(http.MethodPut, "/v2/service_instances/"+id+"/service_bindings/"+binding).user().set("accepts_incomplete", "true")
	r.body = object{"service_id": "db", "plan_id": "small", "app_guid": "ns1", "bind_resource": object{"app_guid": "ns1"}, "context": context()}
	return r
}

func unbind(id, binding string) *request {
	return newRequest(http.MethodDelete, "/v2/service_instances/"+id+"/service_bindings/"+binding).user().
		set("accepts_incomplete", "true").set("service_id", "db").set("plan_id", "small")
}

func fetch(path string) *request { return newRequest(http.MethodGet, "/v2/service_instances/"+path) }

func poll(path string, operation any) *request {
	r := fetch(path+"/last_operation").set("service_id", "db").set("plan_id", "small")
	if key, told := operation.(string); told {
		r.set("operation", key)
	}
	return r
}

// mitigates makes a deletion one that no user asked for.
func (r *request) mitigates() *request {
	r.header.Del("X-Broker-Api-Originating-Identity")
	return r
}

// send sends a request, and returns what came of it.
func (p *platform) send(r *request) answer {
	p.t.Helper()
	var body io.Reader
	if r.body != nil {
		text, err := json.Marshal(r.body)
		require.NoError(p.t, err)
		body = bytes.NewReader(text)
		if r.header.Get("Content-Type") == "" {
			r.header.Set("Content-Type", "application/json")
		}
	}
	sent, err := http.NewRequestWithContext(p.ctx, r.method, p.broker.URL+r.path+"?"+r.query.Encode(), body)
	require.NoError(p.t, err)
	sent.Header = r.header
	response, err := p.client.Do(sent)
	if err != nil {
		return answer{err: err}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	got := answer{status: response.StatusCode, header: response.Header, text: string(text), err: err}
	_ = json.Unmarshal(text, &got.body)
	return got
}

// must sends a request that has to be answered with a status.
func (p *platform) must(status int, r *request) answer {
	p.t.Helper()
	got := p.send(r)
	require.NoError(p.t, got.err)
	require.Equal(p.t, status, got.status, got.text)
	return got
}
