package main

import (
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The first signal ends the context; only what comes a second later is another one.
func TestInterruptible(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		signals := make(chan os.Signal, 1)
		var letGo atomic.Bool
		ctx, stop := interruptible(signals, func() { letGo.Store(true) })
		defer stop()
		synctest.Wait()
		require.NoError(t, ctx.Err(), "Ctrl-C was not pressed")
		signals <- os.Interrupt
		synctest.Wait()
		require.Error(t, ctx.Err())
		signals <- syscall.SIGTERM
		time.Sleep(repeat / 2)
		synctest.Wait()
		assert.False(t, letGo.Load(), "a repeat is the same")
		time.Sleep(repeat)
		synctest.Wait()
		assert.True(t, letGo.Load(), "the next one ends the process")
	})
}

// A command that ended lets nothing behind.
func TestInterruptibleStopped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := interruptible(make(chan os.Signal), func() { t.Error("Ctrl-C was not pressed") })
		stop()
		synctest.Wait()
		assert.Error(t, ctx.Err())
	})
}
