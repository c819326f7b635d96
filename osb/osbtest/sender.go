package osbtest

import (
	"maps"
	"net/http"
	"strconv"
	"sync"
)

// A sender writes answers, and settles what the platform gets to know by them.
type sender struct {
	mu      *sync.Mutex
	options *Options
	closing *closing
	conduct *conduct
	orphans *orphans
}

// settle records, once, what a platform gets to know of a call, and what follows from
// that.
func (s *sender) settle(v *visit, answer response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v.Outcome != Pending {
		return
	}
	defer close(v.told)
	v.Status, v.Outcome, v.settled = answer.status, Lost, s.options.Now()
	if answer.status != 0 {
		v.Outcome = MalformedAnswer
		if wellFormed(v.Verb, answer) {
			v.Outcome = Answered
			v.said = stateIn(v.Verb, answer)
		}
		s.conduct.bePatient(v, answer)
	}
	if v.started != nil && v.Outcome == Answered {
		v.started.heard = true
	}
	s.conduct.remember(v)
	s.orphans.mitigate(v)
}

// send writes an answer as the fault wants it. What the platform gets to know is
// settled before the last byte leaves, for it may call again at once.
func (s *sender) send(w http.ResponseWriter, v *visit, answer response) {
	if v.fault.cut == hang {
		s.settle(v, lost)
		pass(v.ctx.Done(), s.closing.ending())
		panic(http.ErrAbortHandler)
	}
	if v.fault.cut == cutAfter || v.ctx.Err() != nil {
		s.abort(v)
	}
	header := w.Header()
	maps.Copy(header, answer.header)
	// A Retry-After that is a date is read against this one.
	header.Set("Date", s.options.Now().UTC().Format(http.TimeFormat))
	if header.Get("Content-Type") == "" {
		header.Set("Content-Type", "application/json")
	}
	if v.RequestID != "" {
		header.Set("X-Broker-Api-Request-Identity", v.RequestID)
	}
	if answer.status == http.StatusNoContent || answer.status == http.StatusNotModified {
		s.settle(v, answer)
		w.WriteHeader(answer.status)
		return
	}
	if answer.pad > 0 {
		s.settle(v, answer)
		padded(w, answer)
		return
	}
	header.Set("Content-Length", strconv.Itoa(len(answer.text)))
	s.write(w, v, answer)
}

// write sends head and body, whole, dripping or half.
func (s *sender) write(w http.ResponseWriter, v *visit, answer response) {
	first := answer.text
	switch {
	case v.fault.cut == cutMiddle:
		s.settle(v, lost)
		w.WriteHeader(answer.status)
		_, _ = w.Write(first[:len(first)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case v.fault.drip > 0 && len(first) > 0:
		w.WriteHeader(answer.status)
		first = s.drip(w, v, first)
		if v.ctx.Err() != nil {
			s.abort(v)
		}
		s.settle(v, answer)
	default:
		s.settle(v, answer)
		w.WriteHeader(answer.status)
	}
	_, _ = w.Write(first)
}

// drip writes all but the last byte, in a few pieces spread over the fault's time.
func (s *sender) drip(w http.ResponseWriter, v *visit, text []byte) []byte {
	const pieces = 8
	ending, control := s.closing.ending(), http.NewResponseController(w)
	for size := max(len(text)/pieces, 1); len(text) > 1 && v.ctx.Err() == nil; {
		piece := min(size, len(text)-1)
		_, _ = w.Write(text[:piece])
		_ = control.Flush()
		text = text[piece:]
		wait(v.fault.drip/pieces, ending)
	}
	return text
}

// lost is the response that no platform sees.
var lost = response{}

// abort ends a call without an answer. It does not return: net/http closes the
// connection, or the stream, of a handler that panics with this error.
func (s *sender) abort(v *visit) {
	s.settle(v, lost)
	panic(http.ErrAbortHandler)
}
