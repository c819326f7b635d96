// Package ha_test has what must not go wrong when a part of the installation does: two
// webhooks, two keepers and two controllers, and an API server and an etcd that stop.
package ha_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

// binFolder is where the binaries are that every stack of this package runs, and
// stateFolder where the stacks are.
var binFolder, stateFolder string

func TestMain(m *testing.M) {
	scenarios := stack.Scenarios{
		Name: "ha", Up: filepath.Join("..", ".."), Binaries: []string{"controlplane", "kubectl", "webhook", "controller"}, AtOnce: 8,
		Run: func(m *testing.M, dir, bin string) (code int, err error) {
			stateFolder, binFolder = dir, bin
			return m.Run(), nil
		},
	}
	os.Exit(scenarios.Main(m))
}

// startStack starts a stack as it is shipped, and more if the options say so. It is
// stopped when the test ends; its logs stay if any test fails.
func startStack(t *testing.T, name string, options stack.Options) *stack.Stack {
	t.Helper()
	options.Dir, options.Bin = filepath.Join(stateFolder, name), binFolder
	s, err := stack.Start(t.Context(), options)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Stop()) })
	return s
}
