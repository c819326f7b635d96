package server

import (
	"bytes"
	"container/list"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// reviews are the requests that are being read, judged or answered. Over a bound, the one that has waited for its client
// for longest is turned away: for more of its body, or for its answer to be read. Where none waits, it is the newest.
type reviews struct {
	most, mostBytes int
	// free is how many bytes of each body or answer are not counted: large reviews do not keep small ones out.
	free       int
	turnedAway prometheus.Counter

	mu           sync.Mutex
	count, bytes int
	// waiting are those that wait for their client, the one first that does for longest.
	waiting list.List
}

// A review is one request. It is the body that the handler reads, and the answer that it
// writes: one that was turned away has another answer.
type review struct {
	http.ResponseWriter

	of   *reviews
	body io.ReadCloser
	// wrote says that the handler has begun to answer.
	wrote bool
	// What follows is guarded by of.mu. Size is what the body weighs as far as it was read, and then the size of the answer;
	// bytes are those of it that are counted.
	size, bytes int
	// at is its place among those that wait, nil while it is judged.
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
	if r.count >= r.most && !r.turnAwayOldest(func(*review) bool { return true }) {
		r.turnedAway.Inc()
		return nil
	}
	r.count++
	one := &review{ResponseWriter: w, of: r, body: from}
	one.at = r.waiting.PushBack(one)
	return one
}

func (r *reviews) leave(one *review) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waits(one, false)
	r.count--
	r.bytes -= one.bytes
}

// waits says whether a review waits for its client from now on; the lock is held.
func (r *reviews) waits(one *review, does bool) {
	if one.at != nil {
		r.waiting.Remove(one.at)
		one.at = nil
	}
	if does {
		one.at = r.waiting.PushBack(one)
	}
}

// turnAwayOldest turns away the one of those that may go that has waited for longest, if there is one; the lock is held.
func (r *reviews) turnAwayOldest(mayGo func(*review) bool) bool {
	for at := r.waiting.Front(); at != nil; at = at.Next() {
		if one, _ := at.Value.(*review); mayGo(one) {
			r.turnAway(one)
			return true
		}
	}
	return false
}

func (r *reviews) turnAway(one *review) {
	r.waits(one, false)
	r.turnedAway.Inc()
	// Its bytes are free in a moment: the others need not go for them, too.
	r.bytes -= one.bytes
	one.bytes, one.away = 0, true
	// What does not know deadlines does not wait.
	control, past := http.NewResponseController(one.ResponseWriter), time.Unix(1, 0)
	if one.wrote {
		_ = control.SetWriteDeadline(past)
		return
	}
	_ = control.SetReadDeadline(past)
}

// took counts what weighs n and was read of a body, and says whether its review was turned away.
func (r *reviews) took(one *review, n int, ended bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts(one, n)
	if ended && !one.wrote {
		r.waits(one, false)
	}
	return one.away
}

// counts adds to the size of a review, and makes room for it; the lock is held.
func (r *reviews) counts(one *review, n int) {
	if one.away {
		return
	}
	one.size += n
	counted := max(one.size-r.free, 0)
	r.bytes += counted - one.bytes
	one.bytes = counted
	// To turn a small one away would free nothing, and an answer that has only begun may be read at once.
	mayGo := func(other *review) bool { return other.bytes > 0 && (other != one || !one.wrote) }
	for r.bytes > r.mostBytes && r.turnAwayOldest(mayGo) {
	}
}

func (o *review) turnedAway() bool {
	o.of.mu.Lock()
	defer o.of.mu.Unlock()
	return o.away
}

// answers counts n bytes of the answer in the place of the body, which is not needed any more: a client that does not read
// its answer has it kept.
func (o *review) answers(n int) {
	o.of.mu.Lock()
	defer o.of.mu.Unlock()
	if !o.wrote {
		o.wrote, o.size = true, 0
		if !o.away {
			o.of.waits(o, true)
		}
	}
	o.of.counts(o, n)
}

// A body is that of a review.
type body struct{ of *review }

// elementWeight is what an element of a list or map counts beside its bytes: decoded, the "{}," of an owner reference
// takes 80 bytes.
const elementWeight = 64

// Read counts what it reads.
func (b body) Read(into []byte) (int, error) {
	n, err := b.of.body.Read(into)
	weight := n + elementWeight*bytes.Count(into[:n], []byte(","))
	if b.of.of.took(b.of, weight, err != nil) {
		return 0, errTurnedAway
	}
	return n, err //nolint:wrapcheck // readers compare it
}

// Close ends the body.
func (b body) Close() error { return b.of.body.Close() } //nolint:wrapcheck // its error is not looked at

// WriteHeader is the handler's, unless another answer is due.
func (o *review) WriteHeader(code int) {
	if o.wrote || !o.turnedAway() {
		o.answers(0)
		o.ResponseWriter.WriteHeader(code)
	}
}

// Write is likewise.
func (o *review) Write(answer []byte) (int, error) {
	if !o.wrote && o.turnedAway() {
		return len(answer), nil
	}
	o.answers(len(answer))
	return o.ResponseWriter.Write(answer) //nolint:wrapcheck // it is the handler's own
}

// Unwrap is for http.ResponseController.
func (o *review) Unwrap() http.ResponseWriter { return o.ResponseWriter }
