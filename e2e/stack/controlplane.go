package stack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/defaultplan/defaultplan/e2e/stack/process"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// etcdName is the process of etcd where it is one of its own.
const etcdName = "etcd"

// A ControlPlane is the API server, the controllers beside it, and etcd.
type ControlPlane struct {
	options *Options
	server  *process.Process
	// etcd is nil where it is part of the server's process; etcdURL is where it is.
	etcd    *process.Process
	etcdURL string
}

// launch starts the control plane, or what of it is not etcd, and does not
// wait until it is ready.
func (c *ControlPlane) launch(ctx context.Context) (err error) {
	home := c.home()
	// A mark that a killed control plane left would be taken for the new one's.
	if err := removeMark(filepath.Join(home, "ready")); err != nil {
		return err
	}
	args := []string{"-dir", home}
	if c.etcd != nil {
		args = append(args, "-only=apiserver", "-etcd-url="+c.etcdURL)
	}
	c.server, err = c.options.start(ctx, process.Command{
		Name: "controlplane", Binary: filepath.Join(c.options.Bin, "controlplane"),
		Args: append(args, c.options.ControlPlaneArgs...),
	})
	return err
}

func (c *ControlPlane) home() string { return c.options.path("controlplane") }

// startEtcd starts etcd alone, and returns when it is ready.
func (c *ControlPlane) startEtcd(ctx context.Context) (err error) {
	home := c.options.path(etcdName)
	mark := filepath.Join(home, "ready")
	if err := removeMark(mark); err != nil {
		return err
	}
	c.etcd, err = c.options.start(ctx, process.Command{
		Name: etcdName, Binary: filepath.Join(c.options.Bin, "controlplane"), Args: []string{"-dir", home, "-only=etcd"},
	})
	if err != nil {
		return err
	}
	if err := c.waitMark(ctx, c.etcd, mark); err != nil {
		return err
	}
	line, err := os.ReadFile(mark)
	if err != nil {
		return fmt.Errorf("cannot read where etcd is: %w", err)
	}
	c.etcdURL = strings.TrimSpace(strings.TrimPrefix(string(line), "ready "))
	return nil
}

func removeMark(mark string) error {
	if err := os.Remove(mark); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("cannot remove the mark of an earlier process: %w", err)
	}
	return nil
}

// waitMark waits for the file that a part of the control plane writes when it is ready.
func (c *ControlPlane) waitMark(ctx context.Context, part *process.Process, mark string) error {
	ctx, cancel := context.WithTimeout(ctx, wait.Patience(readyTimeout))
	defer cancel()
	return wait.Eventually(ctx, func() (bool, error) {
		if err := part.Gone(); err != nil {
			return true, err
		}
		_, err := os.Stat(mark)
		return err == nil, err
	})
}

// StopAPIServer sends the signal to the API server, and to the controllers beside it,
// and returns when they ended. etcd goes on where the stack is Apart.
func (c *ControlPlane) StopAPIServer(ctx context.Context, signal syscall.Signal) error {
	if c.server == nil {
		return nil
	}
	ended := c.server
	c.server = nil
	return ended.End(ctx, signal)
}

// StartAPIServer starts it again at the address that it had, and returns when it is
// ready.
func (c *ControlPlane) StartAPIServer(ctx context.Context) error {
	if c.server != nil && c.server.Gone() == nil {
		return errors.New("cannot start the API server: it runs")
	}
	if err := c.launch(ctx); err != nil {
		return err
	}
	return c.waitMark(ctx, c.server, filepath.Join(c.home(), "ready"))
}

// PauseEtcd stops etcd in its tracks, until the function that it returns is called. The
// stack must be Apart.
func (c *ControlPlane) PauseEtcd(ctx context.Context) (resume func() error, err error) {
	if c.etcd == nil {
		return nil, errors.New("cannot pause etcd: the stack is not Apart")
	}
	etcd := c.etcd
	resume = func() error { return etcd.Signal(syscall.SIGCONT) }
	if err := etcd.Signal(syscall.SIGSTOP); err != nil {
		return nil, err
	}
	// The other threads go on until one of them, which may wait for a processor, has
	// taken the signal.
	if err := wait.Eventually(ctx, func() (bool, error) { return stopped(etcd.Pid()) }); err != nil {
		return nil, errors.Join(err, resume())
	}
	return resume, nil
}

// stopped says that all threads of a process are stopped by a signal. Without /proc there
// is no telling.
func stopped(pid int) (bool, error) {
	threads, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "stat"))
	if err != nil {
		return true, fmt.Errorf("cannot find the threads of process %d: %w", pid, err)
	}
	for _, thread := range threads {
		stat, err := os.ReadFile(thread)
		if errors.Is(err, os.ErrNotExist) {
			continue // it ended meanwhile
		}
		if err != nil {
			return true, fmt.Errorf("cannot read the state of a thread: %w", err)
		}
		// The state follows the name, which is in brackets and may hold some.
		if !bytes.HasPrefix(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" T ")) {
			return false, fmt.Errorf("process %d still runs", pid)
		}
	}
	return true, nil
}

// AuditLog is the file of the API server's audit log, where ControlPlaneArgs
// have -audit.
func (c *ControlPlane) AuditLog() string { return c.options.path("controlplane", "audit.log") }

// end ends what runs of it.
func (c *ControlPlane) end(ctx context.Context) error {
	failure := c.StopAPIServer(ctx, syscall.SIGTERM)
	if c.etcd != nil {
		failure = errors.Join(failure, c.etcd.End(ctx, syscall.SIGTERM))
		c.etcd = nil
	}
	return failure
}
