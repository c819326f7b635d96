package osbtest

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// A wire is a connection of HTTP/1.1. It shows what no answer can: a platform that has
// read an answer keeps the connection for the next call, and one that leaves a call closes
// it. An answer on its way to a platform that leaves looks, at this end, like any other.
type wire struct {
	// last is the last call that came on it; nil where nothing can be told.
	last *visit
}

// wireKey is under which a call's context holds its wire.
type wireKey struct{}

// wires are the connections that are open. One that closes soon after an answer casts doubt
// on whether the platform has read it.
type wires struct {
	mu      *sync.Mutex
	options *Options
	closing *closing
	conduct *conduct
	orphans *orphans
	open    map[net.Conn]*wire
}

// attach gives a connection its wire. It is for http.Server.ConnContext.
func (ws *wires) attach(ctx context.Context, connection net.Conn) context.Context {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w := &wire{}
	ws.open[connection] = w
	return context.WithValue(ctx, wireKey{}, w)
}

// detach hears that a connection has ended. It is for http.Server.ConnState.
func (ws *wires) detach(connection net.Conn, state http.ConnState) {
	if state != http.StateClosed {
		return
	}
	now := ws.options.Now()
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w := ws.open[connection]
	delete(ws.open, connection)
	if w == nil || w.last == nil {
		return
	}
	// A broker that ends closes its connections itself.
	if !ws.closing.closed && w.last.recent(now) {
		ws.doubt(w.last)
	}
	close(w.last.news)
	w.last = nil
}

// carry records that a call came on a wire: what was answered on it before has been
// read. One that is to close after the answer tells nothing, nor does HTTP/2, where many
// calls share a connection.
func (ws *wires) carry(r *http.Request, v *visit) {
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

// doubt takes back what was taken for granted when a call was answered: the platform may
// have left before it read the answer, or may not.
func (ws *wires) doubt(v *visit) {
	v.Left = true
	if v.started != nil {
		v.started.heard = false
	}
	ws.conduct.doubt(v)
	ws.orphans.doubt(v)
}

// recent says whether a call was answered so shortly before a time that a platform which
// has read the answer still keeps the connection then.
func (v *visit) recent(at time.Time) bool {
	answered := v.Outcome == Answered || v.Outcome == MalformedAnswer
	return answered && at.Sub(v.settled) < grace
}

// departures wait for the news of whether the platform has left other calls: it travels
// on other connections.
type departures struct {
	mu       *sync.Mutex
	options  *Options
	recorder *recorder
	judge    *judge
}

// awaitRivals waits until the other calls about the same are given up, if they are: the
// platform may have left them already.
func (d *departures) awaitRivals(v *visit) {
	if !v.Verb.mutates() {
		return
	}
	for _, other := range d.rivals(v) {
		select {
		case <-other.ctx.Done():
		case <-other.told:
		case <-time.After(grace):
		}
	}
}

// rivals are the calls about the same that are not over.
func (d *departures) rivals(v *visit) []*visit {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.recorder.inFlight(v)
}

// awaitReaders waits for the news of whether the platform has left the calls before, if a duty
// is broken unless it has.
func (d *departures) awaitReaders(v *visit) {
	late := time.After(grace)
	for _, news := range d.awaited(v) {
		select {
		case <-news:
		case <-late:
			return
		}
	}
}

// awaited are the news that decide on a call; none where it breaks no duty.
func (d *departures) awaited(v *visit) []<-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.judge.breaks(v) {
		return nil
	}
	var list []<-chan struct{}
	now := d.options.Now()
	for _, other := range d.recorder.visits {
		if other.InstanceID == v.InstanceID && other.news != nil && other != v && other.recent(now) {
			list = append(list, other.news)
		}
	}
	return list
}
