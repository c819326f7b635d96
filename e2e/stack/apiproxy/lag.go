package apiproxy

import (
	"context"
	"io"
	"net/http"
	"time"
)

// An absence is a time in which every request is cut off.
type absence struct {
	// left is how many writes are to be cut off before enough is closed.
	left   int
	enough chan struct{}
}

// Away cuts off what comes, and the watches under way, until back is called. Enough is
// closed when so many writes were cut off.
func (p *Proxy) Away(writes int) (enough <-chan struct{}, back func()) {
	a := &absence{left: writes, enough: make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.absence = a
	for _, cancel := range p.watching {
		cancel()
	}
	return a.enough, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.absence = nil
	}
}

// cut counts a request that was cut off.
func (a *absence) cut(write bool) {
	if !write {
		return
	}
	if a.left--; a.left == 0 {
		close(a.enough)
	}
}

// Lag keeps what watches of the resources tell, until the returned function is called:
// the client's cache stays as it is.
func (p *Proxy) Lag(resources ...string) (catchUp func()) {
	lag := make(chan struct{})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lag, p.lagging = lag, map[string]bool{}
	for _, resource := range resources {
		p.lagging[resource] = true
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.lag = nil
		close(lag)
	}
}

// HoldReads keeps reads of the resource from the API server, until the returned function
// is called, once: a client that starts does not get to know what there is.
func (p *Proxy) HoldReads(resource string) (release func()) {
	held := make(chan struct{})
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unread == nil {
		p.unread = map[string]chan struct{}{}
	}
	p.unread[resource] = held
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.unread, resource)
		close(held)
	}
}

// reads waits until what a request reads may be read; false: its client left before.
func (p *Proxy) reads(ctx context.Context, r *http.Request) bool {
	p.mu.Lock()
	held := p.unread[resourceOf(r.URL.Path)]
	p.mu.Unlock()
	return held == nil || passes(ctx, held)
}

// Delay has everything that watches tell come so much later.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// lagBehind waits before something of a watch is passed on.
func (p *Proxy) lagBehind(ctx context.Context, resource string) {
	p.mu.Lock()
	lag, delay := p.lag, p.delay
	if !p.lagging[resource] {
		lag = nil
	}
	p.mu.Unlock()
	if lag != nil {
		passes(ctx, lag)
	}
	if delay <= 0 {
		return
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// watches says that a request is for a watch.
func watches(r *http.Request) bool {
	value := r.URL.Query().Get("watch")
	return value == "true" || value == "1"
}

// A laggingBody is what a watch tells, later.
type laggingBody struct {
	io.ReadCloser

	wait func()
}

// Read reads first: what comes is kept, not left with the API server.
func (b *laggingBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	if n > 0 {
		b.wait()
	}
	return n, err
}
