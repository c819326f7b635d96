package svcat_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/env"
)

// A running svcat is one that has not ended yet.
type running struct {
	*testEnv

	cmd      *exec.Cmd
	out, err buffer
}

// A buffer is written and read at the same time.
type buffer struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (b *buffer) Write(text []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.text.Write(text)
}

func (b *buffer) String() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.text.String()
}

// start runs svcat in the env's namespace, and does not wait for its end. An
// empty kubeconfig is the stack's.
func (e *testEnv) start(kubeconfig string, args ...string) *running {
	e.Helper()
	r := &running{testEnv: e}
	r.cmd = exec.CommandContext(e.Context(), e.Binary("svcat"), append([]string{"-n", e.Namespace}, args...)...)
	r.cmd.Env = e.Environment()
	if kubeconfig != "" {
		r.cmd.Env = append(r.cmd.Env, "KUBECONFIG="+kubeconfig)
	}
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.err
	require.NoError(e, r.cmd.Start())
	return r
}

// says waits until standard error has a text.
func (r *running) says(text string) {
	r.Helper()
	r.Eventually(func() (bool, error) {
		if told := r.err.String(); !strings.Contains(told, text) {
			return false, fmt.Errorf("not yet %q: %s", text, told)
		}
		return true, nil
	})
}

// interrupt is Ctrl-C.
func (r *running) interrupt() {
	r.Helper()
	require.NoError(r, r.cmd.Process.Signal(os.Interrupt))
}

// ends waits for the end and returns what was printed.
func (r *running) ends() outcome {
	r.Helper()
	err := r.cmd.Wait()
	exit, ok := errors.AsType[*exec.ExitError](err)
	require.True(r, ok || err == nil, "%v", err)
	if err == nil {
		return outcome{r.out.String(), env.WithoutWaiting(r.err.String()), 0}
	}
	return outcome{r.out.String(), env.WithoutWaiting(r.err.String()), exit.ExitCode()}
}
