package apiproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// A Write is a request that changes something.
type Write struct {
	// Method is the verb of HTTP.
	Method string
	// Resource is such as serviceinstances, and Subresource such as status, or empty.
	// Name is empty with POST.
	Resource, Subresource, Namespace, Name string
	// DryRun says that nothing is to be stored.
	DryRun bool
	// Code is the API server's answer, once there is one.
	Code int
	// Body is as it was sent; built-in kinds may come as protobuf.
	Body []byte
}

// Status is what a write of the status sets, by field; nil for any other write.
func (w *Write) Status() map[string]any {
	if w.Subresource != "status" {
		return nil
	}
	var body struct {
		Status map[string]any `json:"status"`
	}
	if json.Unmarshal(w.Body, &body) != nil {
		return nil
	}
	return body.Status
}

// String is the write in a line, without its content.
func (w *Write) String() string {
	return fmt.Sprintf("%s %s/%s %s/%s", w.Method, w.Resource, w.Subresource, w.Namespace, w.Name)
}

// writeOf reads a request that changes something, and leaves it to be read again.
func writeOf(r *http.Request) (*Write, bool, error) {
	switch r.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
	default:
		return nil, false, nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, false, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	w := &Write{Method: r.Method, Body: body, DryRun: r.URL.Query().Has("dryRun")}
	var rest []string
	w.Namespace, rest = splitPath(r.URL.Path)
	for i, into := range []*string{&w.Resource, &w.Name, &w.Subresource} {
		if i < len(rest) {
			*into = rest[i]
		}
	}
	return w, true, nil
}

// splitPath is the namespace, if there is one, and what follows the group, the version
// and the namespace in a path: resource, name, subresource.
func splitPath(path string) (namespace string, rest []string) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	skip := 3 // apis, group, version
	if parts[0] == "api" {
		skip = 2
	}
	parts = parts[min(skip, len(parts)):]
	if len(parts) > 2 && parts[0] == "namespaces" {
		return parts[1], parts[2:]
	}
	return "", parts
}

// resourceOf is the resource that a path is of.
func resourceOf(path string) string {
	if _, rest := splitPath(path); len(rest) > 0 {
		return rest[0]
	}
	return ""
}

// A HeldWrite is a write that waits at two gates: before it is passed on to the API
// server, and, applied, before its answer is passed on to the client. A client that dies
// at a gate ends it there.
type HeldWrite struct {
	// Arrived is closed when the write has come, and Applied when the API server has
	// answered it.
	Arrived, Applied <-chan struct{}

	matches                         func(*Write) bool
	arrived, applied, apply, answer chan struct{}
	write                           *Write
}

type (
	heldKey  struct{}
	writeKey struct{}
)

// Hold holds the next write that matches. Of several that match the same, the first
// takes it. The function is called for every write, one at a time, and must not call
// the proxy.
func (p *Proxy) Hold(matches func(*Write) bool) *HeldWrite {
	h := newHeld(matches)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.holds = append(p.holds, h)
	return h
}

// HoldAnswer holds the answer to the next write that matches, whose Code is known by then: it has
// passed the first gate.
func (p *Proxy) HoldAnswer(matches func(*Write) bool) *HeldWrite {
	h := newHeld(matches)
	h.Apply()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answers = append(p.answers, h)
	return h
}

func newHeld(matches func(*Write) bool) *HeldWrite {
	h := &HeldWrite{
		matches: matches, arrived: make(chan struct{}), applied: make(chan struct{}), apply: make(chan struct{}), answer: make(chan struct{}),
	}
	h.Arrived, h.Applied = h.arrived, h.applied
	return h
}

// Spy has a function told of every write that the client tries, also of one that is cut
// off. It is called for several at once.
func (p *Proxy) Spy(on func(*Write)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spy = on
}

// tell tells the spy.
func (p *Proxy) tell(write *Write) {
	p.mu.Lock()
	spy := p.spy
	p.mu.Unlock()
	if spy != nil {
		spy(write)
	}
}

// Write is the write that is held. It waits for Arrived.
func (h *HeldWrite) Write() *Write {
	<-h.arrived
	return h.write
}

// Apply opens the first gate. Once only.
func (h *HeldWrite) Apply() { close(h.apply) }

// Answer opens the second gate. Once only.
func (h *HeldWrite) Answer() { close(h.answer) }

// held takes the gates for a write, if there are some.
func (p *Proxy) held(write *Write) *HeldWrite {
	p.mu.Lock()
	defer p.mu.Unlock()
	return take(&p.holds, write)
}

// heldAnswer takes the gate for the answer to a write, if there is one.
func (p *Proxy) heldAnswer(write *Write) *HeldWrite {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := take(&p.answers, write)
	if h != nil {
		close(h.arrived)
	}
	return h
}

func take(holds *[]*HeldWrite, write *Write) *HeldWrite {
	for i, h := range *holds {
		if h.matches(write) {
			*holds = append((*holds)[:i:i], (*holds)[i+1:]...)
			h.write = write
			return h
		}
	}
	return nil
}

// arrive waits at the first gate; false if the client left.
func (h *HeldWrite) arrive(ctx context.Context) bool {
	close(h.arrived)
	return passes(ctx, h.apply)
}

// answered waits at the second gate; false if the client left.
func (h *HeldWrite) answered(ctx context.Context) bool {
	close(h.applied)
	return passes(ctx, h.answer)
}

func passes(ctx context.Context, gate <-chan struct{}) bool {
	select {
	case <-gate:
		return true
	case <-ctx.Done():
		return false
	}
}
