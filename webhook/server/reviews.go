package server

import (
	"container/list"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// reviews are the requests that are being read or judged. Over a bound, the one that has
// been sending its body for longest is turned away; where none is being sent, the newest.
type reviews struct {
	most, mostBytes int
	// free is how many bytes of each body are not counted: large reviews do not keep small ones out.
	free       int
	turnedAway prometheus.Counter

	mu           sync.Mutex
	count, bytes int
	// reading are those whose bodies have not been read yet, the oldest first.
	reading list.List
}

// A review is one request. It is the body that the handler reads, and the answer that it
// writes: one that was turned away has another answer.
type review struct {
	http.ResponseWriter

	of   *reviews
	body io.ReadCloser
	// wrote says that the handler has begun to answer.
	wrote bool
	// What follows is guarded by of.mu. Bytes are those of what was sent that are counted.
	sent, bytes int
	// at is its place among those that are read, nil afterwards.
	at   *list.Element
	away bool
}

// errTurnedAway is what the handler is told in the place of a body.
var errTurnedAway = errors.New("too many reviews at once")

func newReviews(most, mostBytes int, turnedAway prometheus.Counter) *reviews {
	return &reviews{most: most, mostBytes: mostBytes, turnedAway: turnedAway}
}

// bound has a handler serve within the bounds.
func (r *reviews) bound(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		one := r.enter(w, request.Body)
		if one == nil {
			refuse(w)
			return
		}
		defer r.leave(one)
		request = request.WithContext(request.Context()) // a copy: a server closes the body that it knows
		request.Body = body{one}
		handler.ServeHTTP(one, request)
		if one.turnedAway() && !one.wrote {
			refuse(w)
		}
	})
}

// refuse answers a review that another try may see judged. Its connection ends: what is
// left of the body is not waited for.
func refuse(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "1")
	w.Header().Set("Connection", "close")
	http.Error(w, errTurnedAway.Error(), http.StatusTooManyRequests)
}

// enter lets a request in, or returns nil.
func (r *reviews) enter(w http.ResponseWriter, from io.ReadCloser) *review {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count >= r.most && !r.turnAwayOldest() {
		r.turnedAway.Inc()
		return nil
	}
	r.count++
	one := &review{ResponseWriter: w, of: r, body: from}
	one.at = r.reading.PushBack(one)
	return one
}

func (r *reviews) leave(one *review) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read(one)
	r.count--
	r.bytes -= one.bytes
}

// read takes a review from those that are being read; the lock is held.
func (r *reviews) read(one *review) {
	if one.at != nil {
		r.reading.Remove(one.at)
		one.at = nil
	}
}

// turnAwayOldest turns away the one that has been read for longest, if there is one; the
// lock is held.
func (r *reviews) turnAwayOldest() bool {
	front := r.reading.Front()
	if front == nil {
		return false
	}
	one, _ := front.Value.(*review)
	r.read(one)
	r.turnedAway.Inc()
	// Its bytes are free in a moment: the others need not go for them, too.
	r.bytes -= one.bytes
	one.bytes, one.away = 0, true
	// It may be waiting for more of its body. What does not know deadlines does not wait.
	_ = http.NewResponseController(one.ResponseWriter).SetReadDeadline(time.Unix(1, 0))
	return true
}

// took counts what was read of a body, and says whether its review was turned away.
func (r *reviews) took(one *review, n int, ended bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if one.away {
		return true
	}
	one.sent += n
	counted := max(one.sent-r.free, 0)
	r.bytes += counted - one.bytes
	one.bytes = counted
	if r.bytes > r.mostBytes {
		r.turnAwayOldest()
	}
	if ended {
		r.read(one)
	}
	return one.away
}

func (o *review) turnedAway() bool {
	o.of.mu.Lock()
	defer o.of.mu.Unlock()
	return o.away
}

// begins gives back the bytes of the body when the answer begins: a client that does not read it keeps no other out.
func (o *review) begins() {
	if o.wrote {
		return
	}
	o.wrote = true
	o.of.mu.Lock()
	defer o.of.mu.Unlock()
	o.of.read(o)
	o.of.bytes -= o.bytes
	o.bytes = 0
}

// A body is that of a review.
type body struct{ of *review }

// Read counts what it reads.
func (b body) Read(into []byte) (int, error) {
	n, err := b.of.body.Read(into)
	if b.of.of.took(b.of, n, err != nil) {
		return 0, errTurnedAway
	}
	return n, err //nolint:wrapcheck // readers compare it
}

// Close ends the body.
func (b body) Close() error { return b.of.body.Close() } //nolint:wrapcheck // its error is not looked at

// WriteHeader is the handler's, unless another answer is due.
func (o *review) WriteHeader(code int) {
	if o.wrote || !o.turnedAway() {
		o.begins()
		o.ResponseWriter.WriteHeader(code)
	}
}

// Write is likewise.
func (o *review) Write(answer []byte) (int, error) {
	if !o.wrote && o.turnedAway() {
		return len(answer), nil
	}
	o.begins()
	return o.ResponseWriter.Write(answer) //nolint:wrapcheck // it is the handler's own
}

// Unwrap is for http.ResponseController.
func (o *review) Unwrap() http.ResponseWriter { return o.ResponseWriter }
