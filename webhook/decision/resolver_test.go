package decision

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/policies"
)

// Who waits no longer has no plans held against policies.
func TestMarkingEndsWithTheRequest(t *testing.T) {
	t.Parallel()
	ctx, end := context.WithCancel(t.Context())
	found, asked := &catalog.Slice{Catalog: resolve.Catalog{Classes: []resolve.ClassEntry{{Ref: resolve.Ref{Name: "db"}}}}}, 0
	for range 1000 {
		found.Plans = append(found.Plans, resolve.PlanEntry{Class: "db"})
	}
	err := (&Resolver{policies: &policies.Reader{}}).markDenied(ctx, found, func(*policy.Target) ([]policy.Rule, error) {
		asked++
		end()
		return nil, nil
	}, nil)
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, lookEvery, asked)
}
