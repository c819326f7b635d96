package test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/wait"
)

// eventually returns when done says so; the test fails when that takes too long.
func eventually(t *testing.T, done func(context.Context) bool) {
	t.Helper()
	require.NoError(t, wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, patience, true,
		func(ctx context.Context) (bool, error) { return done(ctx), nil }))
}
