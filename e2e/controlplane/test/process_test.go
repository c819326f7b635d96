package test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// patience bounds every wait; two cores shared by many make a start slow.
const patience = 90 * time.Second

// builtBinary is where make build puts it, seen from this folder.
const builtBinary = "../../../bin/controlplane"

func TestMain(m *testing.M) {
	path, err := filepath.Abs(binary())
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "cannot find the controlplane binary: %v: run make build, or set CONTROLPLANE_BIN\n", err)
		os.Exit(1)
	}
	code := m.Run()
	endShared()
	os.Exit(code)
}

func binary() string {
	if path := os.Getenv("CONTROLPLANE_BIN"); path != "" {
		return path
	}
	return builtBinary
}

// A process is a running controlplane.
type process struct {
	cmd *exec.Cmd
	dir string
	// ready is the ready line; rest is what stdout had after it, once the process has ended.
	ready  string
	rest   chan string
	stderr bytes.Buffer
}

// launch starts the binary on a folder and returns when it is ready.
func launch(dir string, args ...string) (*process, error) {
	p := &process{dir: dir, rest: make(chan string, 1)}
	p.cmd = exec.Command(binary(), append([]string{"-dir", dir}, args...)...)
	p.cmd.Stderr = &p.stderr
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(stdout)
	p.ready, err = lines.ReadString('\n')
	if err != nil {
		// Not ready at all: stdout ended with the process.
		_ = p.cmd.Wait()
		return nil, fmt.Errorf("ended before it was ready: %s", p.stderr.String())
	}
	p.ready = strings.TrimSuffix(p.ready, "\n")
	go func() {
		rest, _ := io.ReadAll(lines)
		p.rest <- string(rest)
	}()
	return p, nil
}

// start is launch for one test, which ends the process when it still runs.
func start(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	p, err := launch(dir, args...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.signal(syscall.SIGKILL) })
	return p
}

func (p *process) signal(s syscall.Signal) error {
	if p.cmd.ProcessState != nil {
		return nil
	}
	if err := p.cmd.Process.Signal(s); err != nil {
		return err
	}
	if s == syscall.SIGSTOP || s == syscall.SIGCONT {
		return nil
	}
	<-p.rest
	_ = p.cmd.Wait() // the exit code is in ProcessState
	return nil
}

// end sends the signal and returns the exit code (-1 if the signal killed it).
func (p *process) end(t *testing.T, s syscall.Signal) int {
	t.Helper()
	require.NoError(t, p.signal(s))
	return p.cmd.ProcessState.ExitCode()
}

// config is the administrator's, from the kubeconfig that the ready line names.
func (p *process) config(t *testing.T) *rest.Config {
	t.Helper()
	_, path, found := strings.Cut(p.ready, "kubeconfig=")
	require.True(t, found, "ready line: %s", p.ready)
	config, err := clientcmd.BuildConfigFromFlags("", path)
	require.NoError(t, err)
	config.QPS = -1
	return config
}

// refused runs the binary to its end, which must be exit code 1 with one line on stderr, and returns that line.
func refused(t *testing.T, args ...string) string {
	t.Helper()
	stdout, stderr := &bytes.Buffer{}, &bytes.Buffer{}
	cmd := exec.Command(binary(), args...)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	var exit *exec.ExitError
	require.ErrorAs(t, cmd.Run(), &exit)
	require.Equal(t, 1, exit.ExitCode())
	require.Empty(t, stdout.String())
	line, rest, _ := strings.Cut(stderr.String(), "\n")
	require.Empty(t, rest, "more than one line")
	return line
}
