// Package coalesce shares reads of the API server among those who ask for the same at the same
// time, and gives none a read that began before it asked.
package coalesce

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// freshTimeout bounds one shared live read. It is shorter than the hooks'
// timeoutSeconds, so that a slow API server is reported as such.
const freshTimeout = 4 * time.Second

// Reads shares live reads among requests that ask for the same key at the same
// time. A request only shares a read that started after it arrived: a user who
// changes the catalog and then creates an object sees the change, and still a
// burst of N requests costs two reads, not N. Callers must not change the
// shared value.
type Reads[V any] struct {
	mu    sync.Mutex
	lanes map[string]*lane[V]
}

// A lane holds the reads of one key: the one in progress, and the next one, for
// which requests wait that arrived too late for the first.
type lane[V any] struct {
	next *flight[V]
}

type flight[V any] struct {
	done chan struct{}
	// asked is the span of the first caller, which records the read.
	asked trace.Span
	value V
	err   error
}

// Do returns the result of a read that starts after Do was called. It stops
// waiting when ctx ends; the read itself continues for the others.
func (f *Reads[V]) Do(ctx context.Context, key string, read func(context.Context) (V, error)) (V, error) {
	mine := f.board(ctx, key, read)
	select {
	case <-mine.done:
		return mine.value, mine.err
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	}
}

func newFlight[V any](ctx context.Context) *flight[V] {
	return &flight[V]{done: make(chan struct{}), asked: trace.SpanFromContext(ctx)}
}

// board returns the first flight of key that has not started yet; it starts one
// if none is under way.
func (f *Reads[V]) board(ctx context.Context, key string, read func(context.Context) (V, error)) *flight[V] {
	f.mu.Lock()
	defer f.mu.Unlock()
	if l, busy := f.lanes[key]; busy {
		if l.next == nil {
			l.next = newFlight[V](ctx)
		}
		return l.next
	}
	if f.lanes == nil {
		f.lanes = map[string]*lane[V]{}
	}
	l := &lane[V]{}
	f.lanes[key] = l
	first := newFlight[V](ctx)
	go f.fly(key, l, first, read)
	return first
}

// fly runs flights of one key, one after the other, until no one waits.
func (f *Reads[V]) fly(key string, l *lane[V], current *flight[V], read func(context.Context) (V, error)) {
	for current != nil {
		current.run(read)
		f.mu.Lock()
		current, l.next = l.next, nil
		if current == nil {
			delete(f.lanes, key)
		}
		f.mu.Unlock()
	}
}

func (f *flight[V]) run(read func(context.Context) (V, error)) {
	defer close(f.done)
	ctx, cancel := context.WithTimeout(trace.ContextWithSpan(context.Background(), f.asked), freshTimeout)
	defer cancel()
	defer Contain(ctx, &f.err)
	f.value, f.err = read(ctx)
}

var errReadPanicked = errors.New("internal error")

// Contain makes an error of a panic in a goroutine of ours, which would
// otherwise end the process: an HTTP server guards only its own.
func Contain(ctx context.Context, err *error) {
	if recover() == nil {
		return
	}
	log.FromContext(ctx).Error(errReadPanicked, "read panicked", "stack", string(debug.Stack()))
	*err = errReadPanicked
}
