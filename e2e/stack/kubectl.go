package stack

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// Kubectl runs kubectl as the administrator and returns what it wrote. The
// error has kubectl's exit code; what is wrong is in stderr. Where a webhook had no
// time for its first write, it runs again.
func (a *Access) Kubectl(ctx context.Context, stdin string, args ...string) (stdout, stderr string, err error) {
	err = wait.Eventually(ctx, func() (bool, error) {
		var failed error
		stdout, stderr, failed = a.kubectlOnce(ctx, stdin, args)
		return failed == nil || !wait.CommandTimedOut(stdout, stderr), failed
	})
	return stdout, stderr, err
}

func (a *Access) kubectlOnce(ctx context.Context, stdin string, args []string) (stdout, stderr string, err error) {
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, filepath.Join(a.options.Bin, "kubectl"), args...)
	// Garbage collection takes a fifth of a kubectl apply; package suite makes it less frequent.
	cmd.Env = append(a.Environment(), "GOGC="+os.Getenv("GOGC"))
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.String(), errs.String(), fmt.Errorf("kubectl %s: %w", strings.Join(args, " "), err)
	}
	return out.String(), errs.String(), nil
}

// Environment is that of commands which are to reach this stack: the binaries
// first in PATH, the administrator's kubeconfig, and a home of their own, so
// that nothing of the user's is read or written.
func (a *Access) Environment() []string {
	return []string{
		"PATH=" + a.options.Bin + ":/usr/local/bin:/usr/bin:/bin",
		"KUBECONFIG=" + a.Kubeconfig(),
		"HOME=" + a.options.path("home"),
	}
}
