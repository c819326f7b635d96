package observer_test

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

	"github.com/defaultplan/defaultplan/osb/conformance/observer"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

type object = map[string]any

// The offers of the catalog.
const (
	database = "6f9b2c5e-3a70-4f4b-9d7b-6d2f6a3b7c01"
	quick    = "6f9b2c5e-3a70-4f4b-9d7b-6d2f6a3b7c11"
	slow     = "6f9b2c5e-3a70-4f4b-9d7b-6d2f6a3b7c12"
	fixed    = "6f9b2c5e-3a70-4f4b-9d7b-6d2f6a3b7c13"
	box      = "6f9b2c5e-3a70-4f4b-9d7b-6d2f6a3b7c02"
	only     = "6f9b2c5e-3a70-4f4b-9d7b-6d2f6a3b7c21"
)

// echoed stands for the operation that came last.
const echoed = "echoed"

// A call is one of a platform, or something that happens between calls.
type call struct {
	method, path string
	query        url.Values
	header       http.Header
	body         object
	happens      func(*platform)
}

// An edit makes a call another one.
type edit func(*call)

// A platform makes calls, with a clock that a test moves.
type platform struct {
	ctx       stdcontext.Context
	broker    *osbtest.Broker
	mu        sync.Mutex
	now       time.Time
	operation string
}

func newPlatform(t *testing.T) *platform {
	t.Helper()
	p := &platform{ctx: t.Context(), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	o := observer.Options()
	o.Username, o.Password = "platform", "pass word"
	o.Now = func() time.Time {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.now
	}
	p.broker = osbtest.Start(t, o)
	return p
}

func newCall(method, path string, edits []edit) call {
	c := call{method: method, path: path, query: url.Values{}, header: http.Header{}}
	c.header.Set("X-Broker-Api-Version", "2.17")
	c.header.Set("X-Broker-Api-Request-Identity", "request")
	c.header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("platform:pass word")))
	for _, each := range edits {
		each(&c)
	}
	return c
}

// user makes a call one that a user asked for.
func user(c *call) {
	c.header.Set("X-Broker-Api-Originating-Identity", "kubernetes "+base64.StdEncoding.EncodeToString([]byte(`{"username":"ann","uid":"","groups":[],"extra":{}}`)))
}

func changing(c *call) {
	user(c)
	c.query.Set("accepts_incomplete", "true")
	c.header.Set("Content-Type", "application/json")
}

func context() object {
	return object{"platform": "kubernetes", "namespace": "dev", "clusterid": "c1", "instance_name": "mydb"}
}

func getCatalog(edits ...edit) call { return newCall(http.MethodGet, "catalog", edits) }

func provision(id string, edits ...edit) call {
	return newCall(http.MethodPut, "service_instances/"+id, append([]edit{changing, func(c *call) {
		c.body = object{"service_id": database, "plan_id": quick, "organization_guid": "c1", "space_guid": "ns1", "context": context(), "parameters": object{"size": 3}}
	}}, edits...))
}

func update(id string, edits ...edit) call {
	return newCall(http.MethodPatch, "service_instances/"+id, append([]edit{changing, func(c *call) {
		c.body = object{"service_id": database, "context": context(), "parameters": object{"size": 4}, "previous_values": object{"plan_id": quick}}
	}}, edits...))
}

func remove(path string, edits ...edit) call {
	return newCall(http.MethodDelete, "service_instances/"+path, append([]edit{changing, ids}, edits...))
}

func ids(c *call) {
	c.query.Set("service_id", database)
	c.query.Set("plan_id", quick)
}

func bind(id, binding string, edits ...edit) call {
	return newCall(http.MethodPut, "service_instances/"+id+"/service_bindings/"+binding, append([]edit{changing, func(c *call) {
		c.body = object{"service_id": database, "plan_id": quick, "bind_resource": object{"app_guid": "ns1"}, "context": context()}
	}}, edits...))
}

func unbind(id, binding string, edits ...edit) call {
	return remove(id+"/service_bindings/"+binding, edits...)
}

func fetch(path string, edits ...edit) call {
	return newCall(http.MethodGet, "service_instances/"+path, edits)
}

func poll(path string, edits ...edit) call {
	return fetch(path+"/last_operation", append([]edit{ids, query("operation", echoed)}, edits...)...)
}

func field(key string, value any) edit { return func(c *call) { c.body[key] = value } }
func query(key, value string) edit     { return func(c *call) { c.query.Set(key, value) } }
func header(key, value string) edit    { return func(c *call) { c.header.Set(key, value) } }
func without(key string) edit {
	return func(c *call) { delete(c.body, key); c.query.Del(key); c.header.Del(key) }
}
func mitigates(c *call)                 { c.header.Del("X-Broker-Api-Originating-Identity") }
func happens(what func(*platform)) call { return call{happens: what} }
func later(d time.Duration) call        { return happens(func(p *platform) { p.pass(d) }) }
func async(verb osbtest.Verb) call      { return happens(func(p *platform) { p.broker.Async(verb, -1) }) }
func boxed(c *call) {
	c.body["service_id"], c.body["plan_id"] = box, only
}

func next(verb osbtest.Verb, fault osbtest.Fault) call {
	return happens(func(p *platform) { p.broker.Next(verb, fault) })
}

func (p *platform) pass(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = p.now.Add(d)
}

// play makes all calls.
func (p *platform) play(t *testing.T, calls []call) {
	t.Helper()
	for _, each := range calls {
		if each.happens != nil {
			each.happens(p)
			continue
		}
		p.send(each)
	}
}

// client shows by each call whether the answer was read.
var client = http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}

// send makes a call, and keeps the operation that it starts. Faults leave it without an answer.
func (p *platform) send(c call) {
	if c.query.Get("operation") == echoed {
		c.query.Set("operation", p.operation)
	}
	var body io.Reader
	if text, err := json.Marshal(c.body); err == nil && c.body != nil {
		body = bytes.NewReader(text)
	}
	sent, err := http.NewRequestWithContext(p.ctx, c.method, p.broker.URL+"/v2/"+c.path+"?"+c.query.Encode(), body)
	if err != nil {
		panic(err)
	}
	sent.Header = c.header
	got, err := client.Do(sent)
	if err != nil {
		return
	}
	defer got.Body.Close()
	var answered object
	_ = json.NewDecoder(got.Body).Decode(&answered)
	if operation, is := answered["operation"].(string); is {
		p.operation = operation
	}
}

// seconds are enough for the broker's own Retry-After.
func seconds() call { return later(2 * time.Second) }

// life is all that a platform does, lawfully.
func life() []call {
	slowly := func(c *call) { c.body["plan_id"] = slow }
	removed := func(c *call) { c.query.Set("plan_id", slow) }
	return []call{
		getCatalog(), provision("i"), fetch("i"), update("i"), bind("i", "b"), fetch("i/service_bindings/b"),
		bind("i", "c", field("predecessor_binding_id", "b")), unbind("i", "b"), unbind("i", "c"),
		update("i", field("plan_id", slow), without("parameters")), remove("i", removed), seconds(), poll("i", removed), seconds(), poll("i", removed),
		next(osbtest.Provision, osbtest.Status(http.StatusInternalServerError, "{}")), provision("j", slowly), remove("j", removed, mitigates),
		next(osbtest.Provision, osbtest.ConcurrencyError()), provision("k"), provision("k"), remove("k"),
		next(osbtest.Provision, osbtest.Status(http.StatusForbidden, "{}")), provision("l"), provision("l"), remove("l"),
	}
}

// spoken has calls speak a version.
func spoken(version string, calls []call) []call {
	for i := range calls {
		if calls[i].header != nil {
			calls[i].header.Set("X-Broker-Api-Version", version)
		}
	}
	return calls
}
