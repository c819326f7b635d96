package osbtest

import (
	"maps"
	"slices"
)

// A script is what the broker was told to do.
type script struct {
	next  map[Verb][]Fault
	on    func(Call) Fault
	async map[Verb]int
	holds map[Verb][]*Held
}

func newScript() *script {
	return &script{next: map[Verb][]Fault{}, async: map[Verb]int{}, holds: map[Verb][]*Held{}}
}

// Next has the next calls of a verb go wrong, one fault each, after those that were
// said before. A zero Fault lets one call through.
func (b *Broker) Next(verb Verb, faults ...Fault) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.script.next[verb] = append(b.script.next[verb], faults...)
}

// On asks for a fault for every call that Next says nothing of; nil ends it. It is
// asked for one call at a time, after the call was read, and must not call the broker.
func (b *Broker) On(fault func(Call) Fault) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.script.on = fault
}

// Async has all calls of a verb be asynchronous from now on, and found in progress by
// so many polls before they succeed; below 0: until Finish.
func (b *Broker) Async(verb Verb, polls int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.script.async[verb] = polls
}

// Sync ends what Async and On began, and forgets what Next has in store.
func (b *Broker) Sync() {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.script.async)
	clear(b.script.next)
	b.script.on = nil
}

// Finish ends the operation in progress on an instance or a binding, as it was to end.
// It says whether there was one.
func (b *Broker) Finish(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for at, op := range b.books.operations {
		if at.id() == id && op.running() {
			op.end()
			b.books.countPeaks()
			return true
		}
	}
	return false
}

// Running are the IDs of instances and bindings with an operation in progress, sorted.
func (b *Broker) Running() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	running := map[string]bool{}
	for at, op := range b.books.operations {
		if op.running() {
			running[at.id()] = true
		}
	}
	return slices.Sorted(maps.Keys(running))
}

// take is the fault in store for a verb's next call, and whether there is one.
func (s *script) take(verb Verb) (Fault, bool) {
	if len(s.next[verb]) == 0 {
		return Fault{}, false
	}
	fault := s.next[verb][0]
	s.next[verb] = s.next[verb][1:]
	return fault, true
}

// A Held is a call that waits at two gates: before the broker acts, and before it
// answers. The call waits whether or not the platform is still there, and only Close
// ends it otherwise; then what has not happened yet never does.
type Held struct {
	// Arrived is closed when the call has come and was read, and Acted when the broker
	// has done what it does.
	Arrived, Acted <-chan struct{}

	arrived, acted, act, answer chan struct{}
	call                        Call
	left                        <-chan struct{}
}

// Hold holds the next call of a verb that is not held yet.
func (b *Broker) Hold(verb Verb) *Held {
	h := &Held{arrived: make(chan struct{}), acted: make(chan struct{}), act: make(chan struct{}), answer: make(chan struct{})}
	h.Arrived, h.Acted = h.arrived, h.acted
	b.mu.Lock()
	defer b.mu.Unlock()
	b.script.holds[verb] = append(b.script.holds[verb], h)
	return h
}

// Call is the call that is held. Only after Arrived.
func (h *Held) Call() Call {
	<-h.arrived
	return h.call
}

// Left is closed when the platform is seen to have left the call. A test that kills
// it waits for this before Answer: else the answer may still be taken as delivered. It
// waits for Arrived itself.
func (h *Held) Left() <-chan struct{} {
	<-h.arrived
	return h.left
}

// Act opens the first gate. Once only.
func (h *Held) Act() { close(h.act) }

// Answer opens the second gate. Once only.
func (h *Held) Answer() { close(h.answer) }

// held takes the gate for a call's verb, if there is one.
func (s *script) held(verb Verb) *Held {
	if len(s.holds[verb]) == 0 {
		return nil
	}
	h := s.holds[verb][0]
	s.holds[verb] = s.holds[verb][1:]
	return h
}

// pass waits until a gate is open. It returns false if the broker ends first.
func pass(gate, ending <-chan struct{}) bool {
	select {
	case <-gate:
		return true
	case <-ending:
		return false
	}
}
