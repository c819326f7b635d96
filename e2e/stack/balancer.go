package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/defaultplan/defaultplan/e2e/stack/loopback"
)

// dialTimeout bounds one try to reach a backend. On the loopback a dead one
// refuses at once; this is for one that is stopped and does not answer.
const dialTimeout = time.Second

// A Balancer forwards TCP connections that it accepts on a loopback port to
// backends, in turn, as a Service does: it balances connections, not requests,
// and passes over backends that do not accept.
type Balancer struct {
	listener net.Listener
	backends []string

	mu     sync.Mutex
	next   int
	served []int
	// withdrawn are those that get no new connection.
	withdrawn map[int]bool
	// blind has a connection go to whose turn it is, and no other.
	blind  bool
	open   map[net.Conn]struct{}
	closed bool

	wg sync.WaitGroup
}

// NewBalancer listens on a free loopback port and forwards to backends, each
// host:port, until Close. It fails when there is none, or no port is free.
func NewBalancer(ctx context.Context, backends ...string) (*Balancer, error) {
	if len(backends) == 0 {
		return nil, errors.New("cannot balance: no backend is given")
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", loopback.Host+":0")
	if err != nil {
		return nil, fmt.Errorf("cannot listen for a balancer: %w", err)
	}
	b := &Balancer{listener: listener, backends: backends, served: make([]int, len(backends)), open: map[net.Conn]struct{}{}, withdrawn: map[int]bool{}}
	b.wg.Go(b.accept)
	return b, nil
}

// Addr is the host:port to connect to.
func (b *Balancer) Addr() string { return b.listener.Addr().String() }

// Served is how many connections each backend was given, in the order of the
// backends.
func (b *Balancer) Served() []int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]int(nil), b.served...)
}

// Withdraw gives a backend, counted from 0, no new connection; it keeps those that it
// has. So does a Service when an endpoint is removed.
func (b *Balancer) Withdraw(backend int) { b.offer(backend, false) }

// Offer ends that.
func (b *Balancer) Offer(backend int) { b.offer(backend, true) }

// Blind has connections given to backends that do not accept, too, which ends them: a
// Service knows nothing of its endpoints but what it is told.
func (b *Balancer) Blind() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.blind = true
}

func (b *Balancer) offer(backend int, is bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.withdrawn[backend] = !is
}

// Close stops listening, cuts the open connections and waits until all is done.
func (b *Balancer) Close() error {
	err := b.listener.Close()
	b.mu.Lock()
	b.closed = true
	for conn := range b.open {
		err = errors.Join(err, ignoreClosed(conn.Close()))
	}
	b.mu.Unlock()
	b.wg.Wait()
	if err != nil {
		return fmt.Errorf("cannot close balancer: %w", err)
	}
	return nil
}

func (b *Balancer) accept() {
	for {
		conn, err := b.listener.Accept()
		if err != nil {
			return // the listener was closed
		}
		b.wg.Go(func() { b.forward(conn) })
	}
}

// forward copies between the client and the next backend that accepts. Without
// one the client is hung up on, as by a Service without endpoints.
func (b *Balancer) forward(client net.Conn) {
	backend := b.dial()
	if backend == nil || !b.track(client, backend) {
		hangUp(client, backend)
		return
	}
	var both sync.WaitGroup
	both.Go(func() { pipe(backend, client) })
	both.Go(func() { pipe(client, backend) })
	both.Wait()
	b.untrack(client, backend)
	hangUp(client, backend)
}

func (b *Balancer) dial() net.Conn {
	tried := map[int]bool{}
	for {
		turn, offered := b.take(tried)
		if !offered {
			return nil
		}
		tried[turn] = true
		dialer := net.Dialer{Timeout: dialTimeout}
		conn, err := dialer.DialContext(context.Background(), "tcp", b.backends[turn])
		if err == nil {
			b.count(turn)
			return conn
		}
		if b.isBlind() {
			return nil
		}
	}
}

func (b *Balancer) isBlind() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.blind
}

// take is whose turn it is of those that are offered and that this connection has not
// tried: others take turns at the same time. It is none if there is none.
func (b *Balancer) take(tried map[int]bool) (turn int, offered bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.backends {
		turn = (b.next + i) % len(b.backends)
		if !b.withdrawn[turn] && !tried[turn] {
			b.next = turn + 1
			return turn, true
		}
	}
	return 0, false
}

func (b *Balancer) count(turn int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.served[turn]++
}

// track remembers open connections for Close; it is false when that came first.
func (b *Balancer) track(conns ...net.Conn) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	for _, conn := range conns {
		b.open[conn] = struct{}{}
	}
	return true
}

func (b *Balancer) untrack(conns ...net.Conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, conn := range conns {
		delete(b.open, conn)
	}
}

// pipe copies until from ends, and tells to that there is no more. A broken
// connection ends both directions, so that a killed backend is noticed at once.
func pipe(to, from net.Conn) {
	if _, err := io.Copy(to, from); err != nil {
		hangUp(to, from)
		return
	}
	if half, ok := to.(*net.TCPConn); ok {
		// It fails only if the connection is gone already.
		_ = half.CloseWrite()
	}
}

// hangUp closes what is open; that it was closed before is what it wants.
func hangUp(conns ...net.Conn) {
	for _, conn := range conns {
		if conn != nil {
			_ = conn.Close()
		}
	}
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
