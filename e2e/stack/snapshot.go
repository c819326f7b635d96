package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// Snapshot saves what etcd holds now to a file.
func (c *ControlPlane) Snapshot(ctx context.Context, file string) error {
	save := exec.CommandContext(ctx, filepath.Join(c.options.Bin, "controlplane"), "-snapshot", file, "-dir", c.home())
	if output, err := save.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot save snapshot %q: %w: %s", file, err, output)
	}
	return nil
}

// Restore ends the control plane and starts it again, at the same address, with what
// etcd held at the time of a snapshot. The stack must not be Apart.
func (c *ControlPlane) Restore(ctx context.Context, file string) error {
	if c.etcd != nil {
		return errors.New("cannot restore a snapshot: the stack is Apart")
	}
	if err := c.StopAPIServer(ctx, syscall.SIGTERM); err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(c.home(), "etcd")); err != nil {
		return fmt.Errorf("cannot remove what etcd holds: %w", err)
	}
	args := c.options.ControlPlaneArgs
	// Behind "--" they would be the API server's.
	c.options.ControlPlaneArgs = append([]string{"-restore", file}, args...)
	defer func() { c.options.ControlPlaneArgs = args }()
	return c.StartAPIServer(ctx)
}
