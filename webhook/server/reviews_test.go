package server

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A caller is one who sends a review, byte by byte.
type caller struct {
	*httptest.ResponseRecorder

	sends *io.PipeWriter
	reads *io.PipeReader
	done  chan struct{}
	// unread is that of a caller who does not read the answer; it is closed when that is waited for no longer.
	unread chan struct{}
}

// SetWriteDeadline ends what waits for the answer to be read. One who reads it may be turned away, too,
// while it is written.
func (c *caller) SetWriteDeadline(time.Time) error {
	if c.unread != nil {
		close(c.unread)
	}
	return nil
}

// Write is the answer.
func (c *caller) Write(answer []byte) (int, error) {
	if c.unread == nil {
		return c.ResponseRecorder.Write(answer)
	}
	<-c.unread
	return 0, os.ErrDeadlineExceeded
}

// SetReadDeadline ends what waits for more of the body, as a connection does.
func (c *caller) SetReadDeadline(time.Time) error {
	return c.reads.CloseWithError(errors.New("deadline"))
}

// A gate is reviews with a handler that judges for as long as it is told to.
type gate struct {
	*testing.T

	reviews    *reviews
	bounded    http.Handler
	turnedAway prometheus.Counter
	judge      chan struct{}
	mu         sync.Mutex
	judged     int
}

// gated runs a test in a bubble, with room for so many reviews and bytes.
func gated(t *testing.T, most, mostBytes int, test func(*gate)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := &gate{T: t, judge: make(chan struct{}), turnedAway: prometheus.NewCounter(prometheus.CounterOpts{Name: "away_total", Help: "Turned away."})}
		g.reviews = newReviews(most, mostBytes, g.turnedAway)
		g.bounded = g.reviews.bound(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.ReadAll(r.Body); err != nil {
				http.Error(w, "cannot read the body", http.StatusBadRequest)
				return
			}
			<-g.judge
			g.mu.Lock()
			g.judged++
			g.mu.Unlock()
			_, _ = io.WriteString(w, "yes")
		}))
		test(g)
	})
}

// sends is a caller who has sent so many bytes.
func (g *gate) sends(n int) *caller {
	g.Helper()
	return g.calls(nil, n)
}

// deaf is a caller who has sent so many bytes, and does not read the answer.
func (g *gate) deaf(n int) *caller {
	g.Helper()
	c := g.calls(make(chan struct{}), n)
	g.ends(c)
	return c
}

func (g *gate) calls(unread chan struct{}, n int) *caller {
	g.Helper()
	reads, sends := io.Pipe()
	c := &caller{unread: unread, ResponseRecorder: httptest.NewRecorder(), sends: sends, reads: reads, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		g.bounded.ServeHTTP(c, httptest.NewRequestWithContext(g.Context(), http.MethodPost, "/", reads))
	}()
	g.more(c, n)
	return c
}

func (g *gate) more(c *caller, n int) {
	g.Helper()
	if n > 0 { // a pipe would wait for who takes nothing
		_, _ = io.WriteString(c.sends, strings.Repeat("x", n))
	}
	synctest.Wait()
}

// sent is a caller who has sent all.
func (g *gate) sent(n int) *caller {
	g.Helper()
	c := g.sends(n)
	g.ends(c)
	return c
}

func (g *gate) ends(c *caller) {
	g.Helper()
	require.NoError(g, c.sends.Close())
	synctest.Wait()
}

// answered asserts that callers have an answer: yes, or to come again.
func (g *gate) answered(code int, callers ...*caller) {
	g.Helper()
	for _, c := range callers {
		<-c.done
		require.Equal(g, code, c.Code)
		if code == http.StatusTooManyRequests {
			assert.Equal(g, "1", c.Header().Get("Retry-After"))
			assert.Equal(g, "close", c.Header().Get("Connection"))
			assert.Equal(g, "too many reviews at once\n", c.Body.String())
			continue
		}
		assert.Equal(g, "yes", c.Body.String())
	}
}

func (g *gate) away(n int) {
	g.Helper()
	assert.InDelta(g, n, testutil.ToFloat64(g.turnedAway), 0)
}

func TestReviewsWithinBounds(t *testing.T) {
	t.Parallel()
	gated(t, 2, 10, func(g *gate) {
		one, two := g.sent(5), g.sent(5)
		close(g.judge)
		g.answered(http.StatusOK, one, two)
		g.answered(http.StatusOK, g.sent(10), g.sent(10), g.sent(10))
		g.away(0)
	})
}

// The one that has been sending for longest makes room, and what its handler says of the body that ended is not sent.
func TestSlowBodiesMakeRoom(t *testing.T) {
	t.Parallel()
	gated(t, 2, 10, func(g *gate) {
		slow, second := g.sends(1), g.sends(1)
		third := g.sent(1)
		g.answered(http.StatusTooManyRequests, slow)
		g.away(1)
		g.ends(second)
		close(g.judge)
		g.answered(http.StatusOK, second, third)
		assert.Equal(g, 2, g.judged)
	})
}

// What is judged is not given up: then the newest comes again.
func TestJudgedReviewsAreKept(t *testing.T) {
	t.Parallel()
	gated(t, 2, 10, func(g *gate) {
		one, two := g.sent(1), g.sent(1)
		g.answered(http.StatusTooManyRequests, g.sends(0))
		g.away(1)
		close(g.judge)
		g.answered(http.StatusOK, one, two)
		g.answered(http.StatusOK, g.sent(1))
	})
}

// Bytes count while they are judged, and are given back.
func TestBytesAreBounded(t *testing.T) {
	t.Parallel()
	gated(t, 100, 10, func(g *gate) {
		judged, slow, other := g.sent(4), g.sends(3), g.sends(3)
		g.more(other, 1)
		g.answered(http.StatusTooManyRequests, slow)
		g.more(other, 2)
		g.ends(other)
		close(g.judge)
		g.answered(http.StatusOK, judged, other)
		g.away(1)
		alone := g.sends(11)
		g.answered(http.StatusTooManyRequests, alone)
		g.answered(http.StatusOK, g.sent(10))
	})
}

// What is short and has many elements takes more memory than its bytes.
func TestElementsWeigh(t *testing.T) {
	t.Parallel()
	gated(t, 100, 1000, func(g *gate) {
		close(g.judge)
		for elements, code := range map[int]int{14: http.StatusOK, 20: http.StatusTooManyRequests} {
			c := g.sends(1)
			_, _ = io.WriteString(c.sends, strings.Repeat("{},", elements))
			g.ends(c)
			g.answered(code, c)
		}
		g.away(1)
	})
}

// Large reviews do not keep small ones out.
func TestSmallReviewsAreFree(t *testing.T) {
	t.Parallel()
	gated(t, 100, 10, func(g *gate) {
		g.reviews.free = 2
		large := g.sent(12)
		small, larger := g.sent(2), g.sends(3)
		g.answered(http.StatusTooManyRequests, larger)
		close(g.judge)
		g.answered(http.StatusOK, large, small)
	})
}

// What goes has bytes to give: a small body that comes slowly does not, and an answer that begins is not cut off for itself.
func TestOnlyLargeReviewsMakeRoomForBytes(t *testing.T) {
	t.Parallel()
	gated(t, 100, 10, func(g *gate) {
		g.reviews.free = 2
		small, slow, judged := g.sends(2), g.sends(4), g.sends(8)
		other := g.sends(5)
		g.answered(http.StatusTooManyRequests, slow)
		g.ends(small) // it is judged first, because channels are fair
		g.ends(judged)
		g.ends(other)
		last := g.sent(3)     // all bytes are taken now
		g.judge <- struct{}{} // an answer has three bytes, of which one counts
		g.answered(http.StatusOK, small)
		close(g.judge)
		g.answered(http.StatusOK, judged, other, last)
		g.away(1)
	})
}

// An answer counts in the place of the body, from its first byte until it is sent.
func TestAnswersCount(t *testing.T) {
	t.Parallel()
	r := newReviews(100, 20, prometheus.NewCounter(prometheus.CounterOpts{Name: "away_total", Help: "Turned away."}))
	r.free = 1
	one := r.enter(httptest.NewRecorder(), io.NopCloser(strings.NewReader("0123456789")))
	_, err := io.ReadAll(body{one})
	require.NoError(t, err)
	assert.Equal(t, 9, r.bytes)
	one.WriteHeader(http.StatusOK)
	assert.Zero(t, r.bytes)
	for _, want := range []int{6, 13} {
		_, err = one.Write([]byte("1234567"))
		require.NoError(t, err)
		assert.Equal(t, want, r.bytes, "it is still being sent")
	}
	r.leave(one)
	assert.Zero(t, r.bytes)
	assert.Zero(t, r.count)
	assert.Zero(t, r.waiting.Len())
}

// Who does not read the answer keeps no other review out: neither by its number nor by the bytes that are kept for it.
func TestUnreadAnswersMakeRoom(t *testing.T) {
	t.Parallel()
	for name, bounds := range map[string]struct{ most, mostBytes int }{"Number": {2, 100}, "Bytes": {100, 8}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gated(t, bounds.most, bounds.mostBytes, func(g *gate) {
				close(g.judge) // the answer has three bytes
				first, second := g.deaf(1), g.deaf(1)
				g.answered(http.StatusOK, g.sent(3))
				<-first.done
				select {
				case <-second.done:
					assert.Fail(g, "one is enough")
				default:
				}
				g.away(1)
				g.answered(http.StatusOK, g.sent(3))
				g.ends(g.sends(bounds.mostBytes))
				<-second.done
				g.away(2)
			})
		})
	}
}

// Whose body comes slowly and who reads slowly are one line: the one that has waited for longest goes.
func TestTheLongestWaitGoes(t *testing.T) {
	t.Parallel()
	gated(t, 2, 100, func(g *gate) {
		close(g.judge)
		slow := g.sends(1)
		deaf := g.deaf(1)
		g.answered(http.StatusOK, g.sent(1))
		g.answered(http.StatusTooManyRequests, slow)
		second := g.sends(1)
		g.answered(http.StatusOK, g.sent(1))
		<-deaf.done
		g.ends(second)
		g.answered(http.StatusOK, second)
	})
}
