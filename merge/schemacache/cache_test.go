package schemacache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// largeSchema is one of so many properties, the nth of its kind.
func largeSchema(n, properties int) []byte {
	texts := make([]string, properties)
	for i := range texts {
		texts[i] = fmt.Sprintf(`"p%d":{}`, i)
	}
	return fmt.Appendf(nil, `{"title":"%d","properties":{%s}}`, n, strings.Join(texts, ","))
}

// However many plans have a large schema, what is kept of them is bounded: that of the
// schemas that were used last.
func TestKeptSchemasAreWeighed(t *testing.T) {
	t.Parallel()
	c := New(func(int) {})
	var last string
	for n := range 12 {
		text := largeSchema(n, 4000)
		last = digest(text)
		made, err := c.Of(t.Context(), last, text)
		require.NoError(t, err)
		require.Nil(t, made.err)
		assert.Greater(t, made.size(), int64(4<<20), "it is about as large as this")
		assert.LessOrEqual(t, c.weight.Load(), int64(keptSchemaBytes))
	}
	assert.Equal(t, keptSchemaBytes/int(c.Find(last).size()), c.kept.Len())
	assert.Nil(t, c.Find(digest(largeSchema(0, 4000))), "the first went first")
	for c.kept.Len() > 0 {
		c.kept.RemoveOldest()
	}
	assert.Zero(t, c.weight.Load())
}

// A schema that is no schema is kept too, so that it is not compiled again.
func TestUnusableSchemaIsKept(t *testing.T) {
	t.Parallel()
	c := New(func(int) {})
	text := []byte(`{"type":1}`)
	made, err := c.Of(t.Context(), digest(text), text)
	require.NoError(t, err)
	require.NotNil(t, made.err)
	assert.Same(t, made, c.Find(digest(text)))
}

// Many who ask at once get one compilation, and each waits for it no longer than its context lasts.
func TestSchemaIsCompiledOnceAtATime(t *testing.T) {
	t.Parallel()
	c := New(func(int) {})
	text := largeSchema(0, 1000)
	var all sync.WaitGroup
	made := make([]*Schema, 20)
	for i := range made {
		all.Go(func() {
			var err error
			made[i], err = c.Of(t.Context(), digest(text), text)
			assert.NoError(t, err)
		})
	}
	all.Wait()
	for _, one := range made {
		assert.Same(t, made[0], one)
	}
	assert.Equal(t, made[0].size(), c.weight.Load())

	slow, release := "slow", make(chan struct{})
	first := c.making.DoChan(slow, func() (any, error) { <-release; return compile(text), nil })
	late, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := c.Of(late, slow, text)
	require.ErrorIs(t, err, context.Canceled)
	close(release)
	<-first
}

// Schemas of different texts wait for each other, and no longer than their requests last. What was compiled waits for
// nothing.
func TestFewSchemasAreCompiledAtOnce(t *testing.T) {
	t.Parallel()
	c := New(func(int) {})
	text := []byte(`{"required":["a"]}`)
	known, err := c.Of(t.Context(), digest(text), text)
	require.NoError(t, err)
	_, err = c.Partial(t.Context(), known)
	require.NoError(t, err)
	other, err := c.Of(t.Context(), "other", []byte(`{"required":["b"]}`))
	require.NoError(t, err)
	for range compiledAtOnce {
		require.NoError(t, c.turn(t.Context()))
	}
	late, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = c.Of(late, "late", text)
	require.ErrorIs(t, err, context.Canceled)
	_, err = c.Partial(late, other)
	require.ErrorIs(t, err, context.Canceled)
	partial, err := c.Partial(late, known)
	require.NoError(t, err)
	report, why := partial.Check(nil)
	require.Nil(t, why)
	assert.Zero(t, report.Total, "what a Secret may bring is not asked for")
	c.done()
	_, err = c.Of(t.Context(), "late", text)
	require.NoError(t, err, "it was given up, and is asked for again")
}
