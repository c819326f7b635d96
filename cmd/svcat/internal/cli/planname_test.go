package cli_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// TestPlanName: half a name is a wrong command line, and asks nothing of the cluster.
func TestPlanName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"small", "redis/small", "redis/a/b"} {
		require.NoError(t, cli.PlanName(name))
	}
	for _, name := range []string{"", "/", "redis/", "/small"} {
		err := cli.PlanName(name)
		require.ErrorContains(t, err, "names no plan; give NAME or CLASS/PLAN")
		assert.Equal(t, cli.ExitUsage, cli.ExitCode(err))
	}
}
