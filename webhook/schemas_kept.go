package webhook

import (
	"context"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/singleflight"
	"k8s.io/utils/lru"
)

const (
	// keptSchemas is how many compiled schemas are kept. They are found by the digest of
	// their text: plans that share one share the compiled one.
	keptSchemas = 1024
	// keptSchemaBytes is about how much memory they may keep together: a schema of 64 KiB
	// keeps up to some MiB.
	keptSchemaBytes = 64 << 20
	// compiledAtOnce is how many schemas are compiled at once: each may take a second, and some MiB more than it keeps.
	compiledAtOnce = 2
)

// compilations are the schemas that were used last, compiled.
type compilations struct {
	kept   *lru.Cache
	weight atomic.Int64
	making singleflight.Group
	turns  chan struct{}
}

func newCompilations() *compilations {
	c := &compilations{turns: make(chan struct{}, compiledAtOnce)}
	c.kept = lru.NewWithEvictionFunc(keptSchemas, func(_ lru.Key, value any) {
		gone, _ := value.(*compilation)
		c.weight.Add(-gone.size())
	})
	return c
}

// find returns what is kept of a digest, nil if nothing is.
func (c *compilations) find(digest string) *compilation {
	known, _ := c.kept.Get(digest)
	kept, _ := known.(*compilation)
	return kept
}

// of compiles a text and keeps what comes of it. One that is asked for many times at once
// is compiled once. The error is that ctx ended first: what is compiled then, is kept for
// the next who asks.
func (c *compilations) of(ctx context.Context, digest string, text []byte) (*compilation, error) {
	for {
		made := c.making.DoChan(digest, func() (any, error) { return c.make(ctx, digest, text) })
		select {
		case result := <-made:
			if result.Err != nil && ctx.Err() == nil {
				continue // who began gave up while waiting for a turn
			}
			compiled, _ := result.Val.(*compilation)
			return compiled, result.Err
		case <-ctx.Done():
			return nil, outOfTime(ctx)
		}
	}
}

// make compiles and keeps. The error is that ctx ended before a schema might be compiled.
func (c *compilations) make(ctx context.Context, digest string, text []byte) (any, error) {
	if kept := c.find(digest); kept != nil {
		return kept, nil
	}
	if err := c.turn(ctx); err != nil {
		return nil, err
	}
	defer c.done()
	compiled := compile(text)
	c.keep(digest, compiled)
	return compiled, nil
}

// partial is the partial form of a schema, which is compiled when it is first asked for. The error is as with of.
func (c *compilations) partial(ctx context.Context, whole *compilation) (*compilation, error) {
	if whole.err != nil {
		return whole, nil
	}
	if !whole.halved.Load() {
		if err := c.turn(ctx); err != nil {
			return nil, err
		}
		defer c.done()
		defer whole.halved.Store(true)
	}
	schema, err := whole.schema.Partial()
	return &compilation{schema: schema, err: unusable(err)}, nil
}

// turn waits until a schema may be compiled; done ends that.
func (c *compilations) turn(ctx context.Context) error {
	select {
	case c.turns <- struct{}{}:
		return nil
	case <-ctx.Done():
		return outOfTime(ctx)
	}
}

func (c *compilations) done() { <-c.turns }

func outOfTime(ctx context.Context) error {
	return fmt.Errorf("cannot compile a schema in time: %w", context.Cause(ctx))
}

func (c *compilations) keep(digest string, compiled *compilation) {
	c.weight.Add(compiled.size())
	c.kept.Add(digest, compiled)
	for c.weight.Load() > keptSchemaBytes && c.kept.Len() > 1 {
		c.kept.RemoveOldest()
	}
	schemasKept.Set(float64(c.kept.Len()))
}

// size is about how many bytes of memory a compilation keeps.
func (c *compilation) size() int64 {
	const unusable = 1 << 10
	if c.schema == nil {
		return unusable
	}
	return int64(c.schema.Size())
}
