package osbtest

import (
	"context"
	"net"
	"net/http"
	"time"
)

// A wire is a connection of HTTP/1.1. It tells what no answer can: who has read an
// answer keeps the connection for the next call, and who leaves a call closes it. An
// answer on its way to a platform that leaves looks, at this end, like any other.
type wire struct {
	// last is the last call that came on it; nil where nothing can be told.
	last *visit
}

// wireKey is under which a call's context holds its wire.
type wireKey struct{}

// attach gives a connection its wire. It is for http.Server.ConnContext.
func (b *Broker) attach(ctx context.Context, connection net.Conn) context.Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := &wire{}
	b.wires[connection] = w
	return context.WithValue(ctx, wireKey{}, w)
}

// detach hears that a connection has ended. It is for http.Server.ConnState.
func (b *Broker) detach(connection net.Conn, state http.ConnState) {
	if state != http.StateClosed {
		return
	}
	now := b.options.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.wires[connection]
	delete(b.wires, connection)
	if w == nil || w.last == nil {
		return
	}
	// A broker that ends closes its connections itself.
	if !b.closed && b.recent(w.last, now) {
		b.doubt(w.last)
	}
	close(w.last.news)
	w.last = nil
}

// carry records that a call came on a wire: what was answered on it before has been
// read. One that is to close after the answer tells nothing, nor does HTTP/2, where many
// calls share a connection.
func (b *Broker) carry(r *http.Request, v *visit) {
	w, found := r.Context().Value(wireKey{}).(*wire)
	if !found || r.ProtoMajor != 1 || r.Close {
		return
	}
	if w.last != nil {
		close(w.last.news)
	}
	v.news = make(chan struct{})
	w.last = v
}

// recent says whether a call was answered so shortly before a time that a platform which
// has read the answer still keeps the connection then.
func (b *Broker) recent(v *visit, at time.Time) bool {
	answered := v.Outcome == Answered || v.Outcome == MalformedAnswer
	return answered && at.Sub(v.settled) < grace
}

// doubt takes back what was taken for granted when a call was answered: the platform may
// have left before it read the answer, or may not.
func (b *Broker) doubt(v *visit) {
	v.Left = true
	if v.started != nil {
		v.started.heard = false
	}
	b.conduct.doubt(v)
	b.orphans.doubt(v)
}

// hear waits for the news of whether the platform has left the calls before, if a duty
// is broken unless it has: they travel on other connections.
func (b *Broker) hear(v *visit) {
	late := time.After(grace)
	for _, news := range b.awaited(v) {
		select {
		case <-news:
		case <-late:
			return
		}
	}
}

// awaited are the news that decide on a call; none where it breaks no duty.
func (b *Broker) awaited(v *visit) []<-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.judge.breaks(v) {
		return nil
	}
	var list []<-chan struct{}
	now := b.options.Now()
	for _, other := range b.recorder.visits {
		if other.InstanceID == v.InstanceID && other.news != nil && other != v && b.recent(other, now) {
			list = append(list, other.news)
		}
	}
	return list
}
