package webhook

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
// timeoutSeconds, so that a slow API server is told as such.
const freshTimeout = 4 * time.Second

// fresh shares live reads among requests that ask for the same key at the same
// time. A request only ever shares a read that started after it arrived: whoever
// changed the catalog and then creates an object sees the change, and still a
// burst of N requests costs two reads, not N. The value is shared: it must not
// be changed by who gets it.
type fresh[V any] struct {
	mu    sync.Mutex
	lanes map[string]*lane[V]
}

// A lane is the reads of one key: the one under way, and the one that those wait
// for who came too late for it.
type lane[V any] struct {
	next *flight[V]
}

type flight[V any] struct {
	done chan struct{}
	// asked is the span of who asked first: the read is told there.
	asked trace.Span
	value V
	err   error
}

// do returns what read gives, from a read that starts after do was called. It
// stops waiting when ctx ends; the read itself goes on for the others.
func (f *fresh[V]) do(ctx context.Context, key string, read func(context.Context) (V, error)) (V, error) {
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
func (f *fresh[V]) board(ctx context.Context, key string, read func(context.Context) (V, error)) *flight[V] {
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
func (f *fresh[V]) fly(key string, l *lane[V], current *flight[V], read func(context.Context) (V, error)) {
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
	defer contain(ctx, &f.err)
	f.value, f.err = read(ctx)
}

var errReadPanicked = errors.New("internal error")

// contain makes an error of a panic in a goroutine of ours, which would
// otherwise end the process: the endpoint guards only its own.
func contain(ctx context.Context, err *error) {
	if recover() == nil {
		return
	}
	log.FromContext(ctx).Error(errReadPanicked, "catalog read panicked", "stack", string(debug.Stack()))
	*err = errReadPanicked
}
