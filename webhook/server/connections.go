package server

import (
	"container/list"
	"crypto/tls"
	"net"
	"net/http"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// connections are those that are open, at most so many. A new one over the bound takes the
// place of one that is of less use, so that no client can keep the API server out by keeping
// connections open.
type connections struct {
	most   int
	closed prometheus.Counter

	mu sync.Mutex
	// order has the one first that for longest has neither been opened nor answered.
	order list.List
	known map[net.Conn]*list.Element
}

// A connection is one of them.
type connection struct {
	net.Conn

	// answered says that a request on it was answered, and idle that none is there now.
	answered, idle bool
}

func newConnections(most int, closed prometheus.Counter) *connections {
	return &connections{most: most, closed: closed, known: map[net.Conn]*list.Element{}}
}

// follow is what a server says of its connections.
func (c *connections) follow(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.known[conn]
	switch {
	case state == http.StateNew:
		c.known[conn] = c.order.PushBack(&connection{Conn: conn})
		c.shed(conn)
	case at == nil: // it was closed for a newer one
	case state == http.StateIdle:
		one := connectionAt(at)
		one.answered, one.idle = true, true
		c.order.MoveToBack(at)
	case state == http.StateActive:
		connectionAt(at).idle = false
	case state == http.StateClosed, state == http.StateHijacked:
		c.forget(at)
	}
}

// shed closes one for the newest, where there are too many. Where more than half never had an answer it is the oldest of
// those; else the one that has been idle for longest. To be answered is cheap, and to open connections is: neither alone
// pushes out who has just come to send a review, nor who was here before.
func (c *connections) shed(newest net.Conn) {
	if len(c.known) <= c.most {
		return
	}
	stranger := func(one *connection) bool { return !one.answered && one.Conn != newest }
	kinds := []func(*connection) bool{func(one *connection) bool { return one.idle }, stranger}
	if c.strangers() > c.most/2 {
		slices.Reverse(kinds)
	}
	victim := c.order.Front()
	for _, is := range kinds {
		if at := c.first(is); at != nil {
			victim = at
			break
		}
	}
	c.closed.Inc()
	c.forget(victim)
	closeNow(connectionAt(victim).Conn)
}

// strangers is how many never had an answer.
func (c *connections) strangers() int {
	count := 0
	for _, at := range c.known {
		if !connectionAt(at).answered {
			count++
		}
	}
	return count
}

// first is the first in order that is as wanted.
func (c *connections) first(is func(*connection) bool) *list.Element {
	for at := c.order.Front(); at != nil; at = at.Next() {
		if is(connectionAt(at)) {
			return at
		}
	}
	return nil
}

func (c *connections) forget(at *list.Element) {
	delete(c.known, connectionAt(at).Conn)
	c.order.Remove(at)
}

func connectionAt(at *list.Element) *connection {
	one, _ := at.Value.(*connection)
	return one
}

// closeNow closes without a word: TLS's would wait for a client that does not read.
func closeNow(conn net.Conn) {
	if secured, ok := conn.(*tls.Conn); ok {
		conn = secured.NetConn()
	}
	_ = conn.Close()
}
