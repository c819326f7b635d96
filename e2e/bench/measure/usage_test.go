package measure

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestUsage(t *testing.T) {
	t.Parallel()
	used, err := UsedBy(func(string) (int, error) { return os.Getpid(), nil }, "self", "same")
	require.NoError(t, err)
	assert.Positive(t, used["self"])
	assert.GreaterOrEqual(t, used["same"], used["self"])
	gone := errors.New("gone")
	_, err = UsedBy(func(string) (int, error) { return 0, gone }, "self")
	require.ErrorIs(t, err, gone)

	since := Usage{"webhook-0": 3 * time.Second, "keeper": 7 * time.Second}.Since(Usage{"webhook-0": time.Second, "keeper": time.Second})
	assert.Equal(t, 8*time.Second, since.Total())
	assert.Equal(t, "keeper 6s, webhook 2s", since.Words(time.Duration.String))
	assert.Equal(t, Usage{"webhook-0": time.Second, "keeper": 3 * time.Second}, since.Each(2))
	assert.Equal(t, Usage{"a": 2, "b": 5}, Median([]Usage{{"a": 1, "b": 5}, {"a": 9, "b": 6}, {"a": 2, "b": 4}}))
}
