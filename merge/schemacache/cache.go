package schemacache

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

// A Cache has the schemas that were used last, compiled.
type Cache struct {
	kept   *lru.Cache
	weight atomic.Int64
	making singleflight.Group
	turns  chan struct{}
	// tell is told how many there are, when one is added.
	tell func(kept int)
}

// New makes a cache, which tells how many schemas it keeps whenever it keeps another.
func New(tell func(kept int)) *Cache {
	c := &Cache{turns: make(chan struct{}, compiledAtOnce), tell: tell}
	c.kept = lru.NewWithEvictionFunc(keptSchemas, func(_ lru.Key, value any) {
		gone, _ := value.(*Schema)
		c.weight.Add(-gone.size())
	})
	return c
}

// Find returns what is kept of a digest, nil if nothing is.
func (c *Cache) Find(digest string) *Schema {
	known, _ := c.kept.Get(digest)
	kept, _ := known.(*Schema)
	return kept
}

// Of compiles a text and keeps what comes of it. One that is asked for many times at once
// is compiled once. The error is that ctx ended first: what is compiled then, is kept for
// the next who asks.
func (c *Cache) Of(ctx context.Context, digest string, text []byte) (*Schema, error) {
	for {
		made := c.making.DoChan(digest, func() (any, error) { return c.make(ctx, digest, text) })
		select {
		case result := <-made:
			if result.Err != nil && ctx.Err() == nil {
				continue // who began gave up while waiting for a turn
			}
			compiled, _ := result.Val.(*Schema)
			return compiled, result.Err
		case <-ctx.Done():
			return nil, outOfTime(ctx)
		}
	}
}

// make compiles and keeps. The error is that ctx ended before a schema might be compiled.
func (c *Cache) make(ctx context.Context, digest string, text []byte) (any, error) {
	if kept := c.Find(digest); kept != nil {
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

// Partial is the partial form of a schema, which is compiled when it is first asked for. The error is as with Of.
func (c *Cache) Partial(ctx context.Context, whole *Schema) (*Schema, error) {
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
	return &Schema{schema: schema, err: unusable(err)}, nil
}

// turn waits until a schema may be compiled; done ends that.
func (c *Cache) turn(ctx context.Context) error {
	if ctx.Err() != nil {
		return outOfTime(ctx)
	}
	select {
	case c.turns <- struct{}{}:
		return nil
	case <-ctx.Done():
		return outOfTime(ctx)
	}
}

func (c *Cache) done() { <-c.turns }

func outOfTime(ctx context.Context) error {
	return fmt.Errorf("cannot compile a schema in time: %w", context.Cause(ctx))
}

func (c *Cache) keep(digest string, compiled *Schema) {
	c.weight.Add(compiled.size())
	c.kept.Add(digest, compiled)
	for c.weight.Load() > keptSchemaBytes && c.kept.Len() > 1 {
		c.kept.RemoveOldest()
	}
	c.tell(c.kept.Len())
}

// Len is how many schemas are kept.
func (c *Cache) Len() int { return c.kept.Len() }
