package osbtest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"
)

// maxBody is the most of a request that is read, in bytes.
const maxBody = 4 << 20

// A visit is a call on its way through the broker. Its Call is read and written under
// the broker's lock.
type visit struct {
	Call

	ctx   context.Context //nolint:containedctx // it tells whether the platform is still there, to other calls too
	fault Fault
	// unasked says that the script had nothing in store for the call in particular.
	unasked bool
	// told is closed when it is settled what the platform gets to know.
	told chan struct{}
	// settled is when the answer left, by the broker's clock, and news is closed when it is
	// known whether the platform stayed to read it; nil where that cannot be told.
	settled time.Time
	news    chan struct{}
	// started is the operation that the call's 202 announces.
	started *operation
	// said is the state that a poll was answered with.
	said string
	// stray says that the call is a clean-up for which there is no reason.
	stray bool
	// violated is the first duty that the call broke.
	violated string
}

// A reception records calls as they come and go, and looks up what the script has for them.
type reception struct {
	mu       *sync.Mutex
	options  *Options
	script   *script
	books    *books
	recorder *recorder
	wires    *wires
}

// arrive takes what Next and Hold have for a call that has come. It is on record once its body is
// known, so that no test sees it without: one that is cut before has none.
func (p *reception) arrive(r *http.Request, verb Verb, at target) (*visit, *Held) {
	header := r.Header.Clone()
	header.Del("Authorization")
	p.mu.Lock()
	defer p.mu.Unlock()
	v := &visit{ctx: r.Context(), told: make(chan struct{}), Call: Call{
		Verb: verb, InstanceID: at.instance, BindingID: at.binding, Query: r.URL.Query(), Header: header,
		Authorized: p.options.authorized(r), Identity: identity(header), RequestID: header.Get("X-Broker-Api-Request-Identity"),
		Began: p.options.Now(),
	}}
	fault, scripted := p.script.take(verb)
	v.fault, v.Fault = fault, fault.name
	// On is asked once the body is known.
	v.unasked = !scripted
	if fault.cut == cutBefore {
		p.recorder.keep(v)
	}
	p.wires.carry(r, v)
	return v, p.script.held(verb)
}

// leave closes a call's record, however it went.
func (p *reception) leave(v *visit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v.Ended = p.options.Now()
	p.recorder.end(v)
}

// read records a call with its body, and asks On.
func (p *reception) read(v *visit, raw []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.recorder.keep(v)
	if len(bytes.TrimSpace(raw)) > 0 {
		v.Raw = raw
		_ = json.Unmarshal(raw, &v.Body) // What is no object leaves it nil, and M3 says so.
	}
	if on := p.script.on; v.unasked && on != nil {
		v.fault = on(v.Call)
		v.Fault = v.fault.name
	}
	if op := p.books.operations[v.target()]; v.Verb.polls() && v.Fault == "" && op != nil && op.lostPolls > 0 {
		op.lostPolls--
		v.fault, v.Fault = op.lost, op.lost.name
	}
}

// present shows a call to the test that holds it.
func (p *reception) present(v *visit, held *Held) {
	p.mu.Lock()
	held.call, held.left = v.Call, v.ctx.Done()
	p.mu.Unlock()
	close(held.arrived)
}

// identity reads the header of that name; nil if there is none.
func identity(header http.Header) *Identity {
	text := header.Get("X-Broker-Api-Originating-Identity")
	if text == "" {
		return nil
	}
	platform, encoded, _ := strings.Cut(text, " ")
	found := &Identity{Platform: platform}
	if decoded, err := base64.StdEncoding.DecodeString(encoded); err == nil {
		_ = json.Unmarshal(decoded, &found.Value) // What is no object leaves it nil, and M2 says so.
	}
	return found
}

// wait lets time pass. It returns false if the broker ends first.
func wait(d time.Duration, ending <-chan struct{}) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ending:
		return false
	}
}
