package osbtest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strings"
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

// ServeHTTP takes one call through: it comes, waits where it is held, is judged, acted
// upon and answered, with the fault that the script has for it.
func (b *Broker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	verb, at := route(b.options.Prefix, r)
	if verb == "" {
		http.NotFound(w, r)
		return
	}
	v, held := b.arrive(r, verb, at)
	defer b.leave(v)
	if v.fault.cut == cutBefore {
		b.abort(v)
	}
	body, _ := io.ReadAll(io.LimitReader(r.Body, maxBody))
	b.read(v, body)
	ending := b.ending()
	if held != nil {
		b.present(v, held)
	}
	if held != nil && !pass(held.act, ending) || !wait(v.fault.delay, ending) || v.fault.cut == cutBefore {
		b.abort(v)
	}
	b.yield(v)
	b.hear(v)
	answer := b.perform(v)
	if held != nil {
		close(held.acted)
		if !pass(held.answer, ending) {
			b.abort(v)
		}
	}
	b.send(w, v, answer)
}

// arrive records that a call has come, and takes what Next and Hold have for it.
func (b *Broker) arrive(r *http.Request, verb Verb, at target) (*visit, *Held) {
	header := r.Header.Clone()
	header.Del("Authorization")
	b.mu.Lock()
	defer b.mu.Unlock()
	v := &visit{ctx: r.Context(), told: make(chan struct{}), Call: Call{
		N: b.recorder.number(), Verb: verb, InstanceID: at.instance, BindingID: at.binding, Query: r.URL.Query(), Header: header,
		Authorized: b.authorized(r), Identity: identity(header), RequestID: header.Get("X-Broker-Api-Request-Identity"),
		Began: b.options.Now(),
	}}
	fault, scripted := b.script.take(verb)
	v.fault, v.Fault = fault, fault.name
	// On is asked once the body is known.
	v.unasked = !scripted
	b.recorder.keep(v)
	b.carry(r, v)
	return v, b.script.held(verb)
}

// leave closes a call's record, however it went.
func (b *Broker) leave(v *visit) {
	b.mu.Lock()
	defer b.mu.Unlock()
	v.Ended = b.options.Now()
	b.recorder.end(v)
}

// read decodes the body and asks On.
func (b *Broker) read(v *visit, raw []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(bytes.TrimSpace(raw)) > 0 {
		v.Raw = raw
		_ = json.Unmarshal(raw, &v.Body) // What is no object leaves it nil, and M3 says so.
	}
	if on := b.script.on; v.unasked && on != nil {
		v.fault = on(v.Call)
		v.Fault = v.fault.name
	}
	if op := b.books.operations[v.target()]; v.Verb.polls() && v.Fault == "" && op != nil && op.lostPolls > 0 {
		op.lostPolls--
		v.fault, v.Fault = op.lost, op.lost.name
	}
}

// present shows a call to the test that holds it.
func (b *Broker) present(v *visit, held *Held) {
	b.mu.Lock()
	held.call, held.left = v.Call, v.ctx.Done()
	b.mu.Unlock()
	close(held.arrived)
}

// yield waits until the other calls about the same are given up, if they are: the
// platform has left them, but the news is still on its way.
func (b *Broker) yield(v *visit) {
	if !v.Verb.mutates() {
		return
	}
	for _, other := range b.rivals(v) {
		select {
		case <-other.ctx.Done():
		case <-other.told:
		case <-time.After(grace):
		}
	}
}

// perform judges a call, acts on it unless a fault is in the way, and returns what is
// to be answered.
func (b *Broker) perform(v *visit) response {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.judge.record(v)
	answer := response{}
	if v.fault.Acts() {
		v.Acted = true
		answer = b.actions.act(v)
		b.books.countPeaks()
		b.conduct.noteRemoval(v, answer.status)
	}
	return v.fault.spoiled(answer)
}

// rivals are the calls about the same that are not over.
func (b *Broker) rivals(v *visit) []*visit {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.recorder.inFlight(v)
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
