package catalog

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The limiter is one namespace's own.
func TestLimiter(t *testing.T) {
	t.Parallel()
	var l Limiter
	allowed := 0
	for range 10 * confirmBurst {
		if l.Allow("dev") {
			allowed++
		}
	}
	assert.GreaterOrEqual(t, allowed, confirmBurst)
	assert.Less(t, allowed, 5*confirmBurst)
	assert.True(t, l.Allow("prod"), "another namespace is not held back")
	for i := range confirmNamespaces {
		l.Allow(fmt.Sprint(i))
	}
	assert.Equal(t, confirmNamespaces, l.known.Len(), "it forgets rather than grows")
}
