package stack

import (
	"bufio"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/stack/loopback"
)

// echo is a backend that answers each line with its name and the line.
func echo(t *testing.T, name string) net.Listener {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", loopback.Host+":0")
	require.NoError(t, err)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go answer(conn, name)
		}
	}()
	t.Cleanup(func() { _ = listener.Close() })
	return listener
}

func answer(conn net.Conn, name string) {
	defer func() { _ = conn.Close() }()
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		if _, err := io.WriteString(conn, name+":"+lines.Text()+"\n"); err != nil {
			return
		}
	}
}

// ask makes one connection, says hello and returns the whole answer.
func ask(t *testing.T, address string) string {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, err = io.WriteString(conn, "hello\n")
	require.NoError(t, err)
	// The answer's end is only seen if the end of the question is passed on.
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	said, err := io.ReadAll(conn)
	require.NoError(t, err)
	return string(said)
}

func newBalancer(t *testing.T, backends ...string) *Balancer {
	t.Helper()
	b, err := NewBalancer(t.Context(), backends...)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, b.Close()) })
	return b
}

func TestBalancerTakesTurns(t *testing.T) {
	t.Parallel()
	b := newBalancer(t, echo(t, "a").Addr().String(), echo(t, "b").Addr().String())
	var said []string
	for range 4 {
		said = append(said, ask(t, b.Addr()))
	}
	assert.Equal(t, []string{"a:hello\n", "b:hello\n", "a:hello\n", "b:hello\n"}, said)
	assert.Equal(t, []int{2, 2}, b.Served())
}

func TestBalancerPassesOverTheDead(t *testing.T) {
	t.Parallel()
	// Nothing listens there; a port that was closed just now may be in use
	// again.
	const dead = "127.0.0.1:1"
	b := newBalancer(t, dead, echo(t, "b").Addr().String())
	for range 3 {
		assert.Equal(t, "b:hello\n", ask(t, b.Addr()))
	}
	assert.Equal(t, []int{0, 3}, b.Served())
}

// Connections that are made at the same time take turns together, and each gets to the
// one backend that is left.
func TestBalancerPassesOverTheWithdrawn(t *testing.T) {
	t.Parallel()
	b := newBalancer(t, echo(t, "a").Addr().String(), echo(t, "b").Addr().String())
	b.Withdraw(0)
	tried := map[int]bool{}
	for range 3 { // others, between two tries of this one
		turn, offered := b.take(map[int]bool{})
		assert.True(t, offered)
		assert.Equal(t, 1, turn)
	}
	turn, offered := b.take(tried)
	assert.True(t, offered)
	assert.Equal(t, 1, turn)
	tried[turn] = true
	_, offered = b.take(tried)
	assert.False(t, offered, "it has been tried, and the other is withdrawn")
	var all sync.WaitGroup
	for range 32 {
		all.Go(func() { assert.Equal(t, "b:hello\n", ask(t, b.Addr())) })
	}
	all.Wait()
	b.Offer(0)
	assert.Equal(t, "a:hello\n", ask(t, b.Addr()))
}

func TestBalancerWithoutALivingBackendHangsUp(t *testing.T) {
	t.Parallel()
	dead := echo(t, "dead")
	b := newBalancer(t, dead.Addr().String())
	require.NoError(t, dead.Close())
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", b.Addr())
	require.NoError(t, err)
	_, err = conn.Read(make([]byte, 1))
	require.Error(t, err, "the client is told, not left to wait")
}

func TestBalancerCloseCutsOpenConnections(t *testing.T) {
	t.Parallel()
	b, err := NewBalancer(t.Context(), echo(t, "a").Addr().String())
	require.NoError(t, err)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", b.Addr())
	require.NoError(t, err)
	_, err = io.WriteString(conn, "hello\n")
	require.NoError(t, err)
	_, err = bufio.NewReader(conn).ReadString('\n')
	require.NoError(t, err)

	require.NoError(t, b.Close())
	_, err = conn.Read(make([]byte, 1))
	require.Error(t, err)
	_, err = NewBalancer(t.Context())
	require.ErrorContains(t, err, "no backend is given")
}

func TestBalancerKnowsOnlyWhatItIsTold(t *testing.T) {
	t.Parallel()
	a, gone := echo(t, "a"), echo(t, "b")
	require.NoError(t, gone.Close())
	b := newBalancer(t, a.Addr().String(), gone.Addr().String())
	b.Blind()
	var answered, hungUp int
	for range 4 {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", b.Addr())
		require.NoError(t, err)
		// The one that is gone may have hung up already.
		_, _ = io.WriteString(conn, "hello\n")
		_ = conn.(*net.TCPConn).CloseWrite()
		said, _ := io.ReadAll(conn)
		_ = conn.Close()
		if string(said) == "a:hello\n" {
			answered++
		} else {
			hungUp++
		}
	}
	assert.Equal(t, []int{2, 2}, []int{answered, hungUp}, "every other connection is given to one that is gone")

	b.Withdraw(1)
	for range 4 {
		assert.Equal(t, "a:hello\n", ask(t, b.Addr()))
	}
	b.Offer(1)
	b.Withdraw(0)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", b.Addr())
	require.NoError(t, err)
	said, _ := io.ReadAll(conn)
	assert.Empty(t, said)
	require.NoError(t, conn.Close())
}
