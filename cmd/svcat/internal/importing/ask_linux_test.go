package importing

import (
	"bufio"
	"context"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

func control(t *testing.T, file *os.File, request uintptr, value unsafe.Pointer) {
	t.Helper()
	_, _, failed := syscall.Syscall(syscall.SYS_IOCTL, file.Fd(), request, uintptr(value))
	require.Zero(t, failed)
}

// openTerminal is a terminal: what is written to it appears on its screen.
func openTerminal(t *testing.T) (screen, terminal *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = screen.Close() })
	var number, unlocked int32
	control(t, screen, syscall.TIOCSPTLCK, unsafe.Pointer(&unlocked))
	control(t, screen, syscall.TIOCGPTN, unsafe.Pointer(&number))
	terminal, err = os.OpenFile("/dev/pts/"+strconv.Itoa(int(number)), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = terminal.Close() })
	return screen, terminal
}

// echoes says whether a terminal shows what is typed.
func echoes(t *testing.T, terminal *os.File) bool {
	t.Helper()
	var state syscall.Termios
	control(t, terminal, syscall.TCGETS, unsafe.Pointer(&state))
	return state.Lflag&syscall.ECHO != 0
}

// TestPasswordIsNotShown: while it is typed; afterwards, and after Ctrl-C, the terminal shows what
// is typed again.
func TestPasswordIsNotShown(t *testing.T) {
	t.Parallel()
	for _, interrupted := range []bool{false, true} {
		screen, terminal := openTerminal(t)
		env := cli.NewEnv(genericiooptions.IOStreams{In: terminal, Out: terminal, ErrOut: terminal})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		type reply struct {
			word string
			err  error
		}
		answered := make(chan reply, 1)
		go func() {
			word, err := askHidden(ctx, env, "token")
			answered <- reply{word, err}
		}()
		require.Eventually(t, func() bool { return !echoes(t, terminal) }, 10*time.Second, time.Millisecond)
		if interrupted {
			cancel()
		} else {
			_, err := screen.WriteString(canary + "\n")
			require.NoError(t, err)
		}
		got := <-answered
		assert.True(t, echoes(t, terminal))
		if interrupted {
			require.ErrorIs(t, got.err, context.Canceled)
			_, err := screen.WriteString("\n") // ends the read
			require.NoError(t, err)
			continue
		}
		require.NoError(t, got.err)
		assert.Equal(t, canary, got.word)
		line, err := bufio.NewReader(screen).ReadString('\n')
		require.NoError(t, err)
		assert.Equal(t, "token: \r\n", line)
	}
}
