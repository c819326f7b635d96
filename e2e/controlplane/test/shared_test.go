package test

import (
	"os"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// shared is one control plane for the tests that only use it; each keeps to a namespace or names of its own.
var shared struct {
	once    sync.Once
	process *process
	err     error
}

func useShared(t *testing.T) *process {
	t.Helper()
	shared.once.Do(func() {
		dir, err := os.MkdirTemp("", "controlplane-test-")
		if err != nil {
			shared.err = err
			return
		}
		shared.process, shared.err = launch(dir, "-audit")
	})
	require.NoError(t, shared.err)
	return shared.process
}

func endShared() {
	if shared.process == nil {
		return
	}
	_ = shared.process.signal(syscall.SIGTERM)
	_ = os.RemoveAll(shared.process.dir)
}
