package main

import (
	"bufio"
	"os"
	"strconv"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/removal"
)

// openTerminal is a terminal: what is written to it appears on its screen.
func openTerminal(t *testing.T) (screen, terminal *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = screen.Close() })
	var number, unlocked int32
	for request, value := range map[uintptr]*int32{syscall.TIOCSPTLCK: &unlocked, syscall.TIOCGPTN: &number} {
		_, _, failed := syscall.Syscall(syscall.SYS_IOCTL, screen.Fd(), request, uintptr(unsafe.Pointer(value)))
		require.Zero(t, failed)
	}
	terminal, err = os.OpenFile("/dev/pts/"+strconv.Itoa(int(number)), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = terminal.Close() })
	return screen, terminal
}

// TestTerminalIsNotSteered: by nothing that svcat prints, errors included; it still has
// its colours.
func TestTerminalIsNotSteered(t *testing.T) {
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	require.NoError(t, os.Unsetenv("NO_COLOR"))
	screen, terminal := openTerminal(t)
	lines := bufio.NewReader(screen)
	streams := genericiooptions.IOStreams{In: terminal, Out: terminal, ErrOut: terminal}
	assert.Equal(t, 2, run([]string{"svcat", "version", "--\x1b[2J\u202e"}, streams))
	line, err := lines.ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "error: unknown flag: --\ufffd[2J\ufffd; see svcat version --help\r\n", line)

	env := cli.NewEnv(streams)
	assert.Zero(t, env.Width(), "a terminal that does not say how wide it is")
	size := [4]uint16{24, 100}
	_, _, failed := syscall.Syscall(syscall.SYS_IOCTL, screen.Fd(), syscall.TIOCSWINSZ, uintptr(unsafe.Pointer(&size)))
	require.Zero(t, failed)
	assert.Equal(t, 100, env.Width())
	assert.True(t, env.Colours())
	_, err = env.Out.Write([]byte("\x1b[32mok\x1b[0m\x1b[H\n"))
	require.NoError(t, err)
	line, err = lines.ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "\x1b[32mok\x1b[0m\ufffd[H\r\n", line)
}

// TestTerminalIsAsked: before a deletion, and the answer is taken from there.
func TestTerminalIsAsked(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{"y\n": "", "\n": "not confirmed: nothing was changed"} {
		screen, terminal := openTerminal(t)
		env := cli.NewEnv(genericiooptions.IOStreams{In: terminal, Out: terminal, ErrOut: terminal})
		require.True(t, env.Interactive())
		_, err := screen.WriteString(answer)
		require.NoError(t, err)
		err = (&removal.Flags{}).Confirm(t.Context(), env, &cli.WriteFlags{}, `instance "mydb"`)
		if want == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, want)
		}
	}
}
