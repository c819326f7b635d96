package certs_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

// binFolder is where the binaries are that every stack of this package runs, and
// stacksFolder where the stacks are, which are kept when a test fails.
var binFolder, stacksFolder string

func TestMain(m *testing.M) {
	scenarios := stack.Scenarios{
		Name: "certs", Up: filepath.Join("..", ".."), AtOnce: 3,
		Binaries: []string{"controlplane", "kubectl", "webhook", "certmanager"},
		Run: func(m *testing.M, dir, bin string) (int, error) {
			binFolder, stacksFolder = bin, dir
			return m.Run(), nil
		},
	}
	os.Exit(scenarios.Main(m))
}

// startWorld starts a stack of two webhooks behind one address that make their
// certificates themselves, with the rights that are shipped.
func startWorld(t *testing.T, args ...string) *world {
	t.Helper()
	dir := filepath.Join(stacksFolder, t.Name())
	s, err := stack.Start(t.Context(), stack.Options{Dir: dir, Bin: binFolder, Webhooks: 2, ManagedCerts: true, WebhookArgs: args})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Stop()) })
	w := &world{T: t, Stack: s, dir: dir}
	t.Cleanup(w.tellNoKey)
	return w
}
