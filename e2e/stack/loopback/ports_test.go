package loopback

import (
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A port that was found is not found again, though nothing listens on it yet: neither in
// this process nor in another one, which opens the lock's file as this test does.
func TestFreePortsAreReserved(t *testing.T) {
	t.Parallel()
	ports, err := FreePorts(t.Context(), 3)
	require.NoError(t, err)
	for _, port := range ports {
		assert.ErrorIs(t, reserve(t.Context(), port), errReserved)
	}
	assert.Len(t, ports, 3)
}

// A port on which something listens is not chosen, and its lock is given back.
func TestATakenPortIsNotChosen(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", Address(0))
	require.NoError(t, err)
	address, ok := listener.Addr().(*net.TCPAddr)
	require.True(t, ok)
	assert.ErrorIs(t, reserve(t.Context(), address.Port), syscall.EADDRINUSE)
	require.NoError(t, listener.Close())
	lock, err := lockPort(address.Port)
	require.NoError(t, err)
	assert.NoError(t, lock.Close())
}
