package examiner_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/osb/conformance"
	"github.com/defaultplan/defaultplan/osb/conformance/examiner"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

type object = map[string]any

// testCatalog has a plan for everything that a rule is about.
const testCatalog = `{"services": [
	{"id": "db", "name": "db", "description": "d", "bindable": true, "plan_updateable": true, "instances_retrievable": true,
	 "bindings_retrievable": true, "allow_context_updates": true, "plans": [
		{"id": "small", "name": "small", "description": "d", "maintenance_info": {"version": "1.0.0"}, "binding_rotatable": true,
		 "schemas": {"service_instance": {"create": {"parameters": {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}}}}},
		{"id": "large", "name": "large", "description": "d"}]},
	{"id": "box", "name": "box", "description": "d", "bindable": true, "instances_retrievable": true, "plans": [
		{"id": "only", "name": "only", "description": "d"}, {"id": "other", "name": "other", "description": "d"}]}]}`

// slowly has a few polls find each operation of the plans in progress.
func slowly() map[string]map[osbtest.Verb]int {
	pace := map[osbtest.Verb]int{osbtest.Provision: 2, osbtest.Update: 2, osbtest.Deprovision: 2, osbtest.Bind: 2, osbtest.Unbind: 2}
	return map[string]map[osbtest.Verb]int{"small": pace, "large": pace, "only": pace}
}

// options are those of a broker that keeps every rule.
func options(async bool) osbtest.Options {
	o := osbtest.Options{Catalog: []byte(testCatalog), Username: "platform", Password: "pass word", Lifetime: time.Hour}
	o.Endpoints = func(osbtest.Binding) []map[string]any {
		return []object{{"host": "db.example.com", "ports": []string{"3306", "9000-9010"}}}
	}
	if async {
		o.Pace = slowly()
	}
	return o
}

// parameters are given to the plans of the tests.
var parameters = examiner.Parameters{
	Provision: json.RawMessage(`{"size":"parameter-value"}`), Update: json.RawMessage(`{"size":"other-value"}`), Bind: json.RawMessage(`{"user":"reader"}`),
}

// examine judges a broker that is served by a handler.
func examine(t *testing.T, handler http.Handler, edits ...func(*examiner.Options)) conformance.Report {
	t.Helper()
	server := httptest.NewServer(handler)
	defer server.Close()
	o := examiner.Options{
		URL: server.URL, Username: "platform", Password: "pass word", APIVersion: "2.17", Service: "db", Plan: "small", Parameters: parameters,
		HTTP: server.Client(), PollInterval: time.Millisecond, Patience: 10 * time.Second,
	}
	for _, edit := range edits {
		edit(&o)
	}
	report, err := examiner.Examine(t.Context(), o)
	require.NoError(t, err)
	return report
}

// broken are the IDs of the rules that a report has as broken, with what was seen.
func broken(report conformance.Report) map[string][]string {
	found := map[string][]string{}
	for _, result := range report.Results {
		if result.Outcome == conformance.Broken {
			found[result.ID] = result.Details
		}
	}
	return found
}

// A visit is one call through a wrong broker: the request, and what the right one answered.
type visit struct {
	*http.Request

	// sent is the body; changed says that the right broker is sent what it is by now.
	sent    object
	changed bool
	// status is 0 before the right broker is asked: one that is set then is answered at once.
	status int
	body   object
	// times is how often a request of this method and path was answered with 2xx before, and
	// made whether a PUT of the path was.
	times int
	made  bool
	// polled says whether there was a poll of the path.
	polled bool
}

// is says whether a call is one of an endpoint: "PUT instance", "GET binding", "GET catalog",
// "GET poll" for a poll of either.
func (v *visit) is(what string) bool {
	method, place, _ := strings.Cut(what, " ")
	found := "instance"
	switch {
	case strings.HasSuffix(v.URL.Path, "/catalog"):
		found = "catalog"
	case strings.HasSuffix(v.URL.Path, "/last_operation"):
		found = "poll"
	case v.binding():
		found = "binding"
	}
	return v.Method == method && place == found
}

func (v *visit) binding() bool { return strings.Contains(v.URL.Path, "/service_bindings/") }
func (v *visit) async() bool   { return v.URL.Query().Get("accepts_incomplete") == "true" }

func (v *visit) answer(status int, body object) { v.status, v.body = status, body }

func (v *visit) code() string {
	code, _ := v.body["error"].(string)
	return code
}

// change has the right broker sent another body.
func (v *visit) change(edit func(sent object)) {
	v.changed = true
	edit(v.sent)
}

// A wrong broker has the right one act, but for what is done before and after.
type wrong struct {
	right         http.Handler
	before, after func(*visit)

	mu    sync.Mutex
	good  map[string]int
	polls map[string]bool
}

// ServeHTTP passes a call on.
func (w *wrong) ServeHTTP(writer http.ResponseWriter, r *http.Request) {
	text, _ := io.ReadAll(r.Body)
	v := &visit{Request: r}
	_ = json.Unmarshal(text, &v.sent)
	w.mu.Lock()
	v.times, v.made, v.polled = w.good[r.Method+r.URL.Path], w.good["PUT"+r.URL.Path] > 0, w.polls[r.URL.Path]
	if w.before != nil {
		w.before(v)
	}
	w.mu.Unlock()
	if v.changed {
		if encoded, err := json.Marshal(v.sent); err == nil {
			text = encoded
		}
	}
	if v.status == 0 {
		r.Body = io.NopCloser(bytes.NewReader(text))
		recorded := httptest.NewRecorder()
		w.right.ServeHTTP(recorded, r)
		v.status = recorded.Code
		_ = json.Unmarshal(recorded.Body.Bytes(), &v.body)
	}
	w.mu.Lock()
	if v.is("GET poll") {
		w.polls[strings.TrimSuffix(r.URL.Path, "/last_operation")] = true
	}
	if w.after != nil {
		w.after(v)
	}
	if v.status < 300 {
		w.good[r.Method+r.URL.Path]++
	}
	w.mu.Unlock()
	writer.WriteHeader(v.status)
	if encoded, err := json.Marshal(v.body); err == nil && v.body != nil {
		_, _ = writer.Write(encoded)
	}
}
