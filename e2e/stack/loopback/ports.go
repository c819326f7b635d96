package loopback

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
)

// Host is where everything listens: a stack is not reachable from outside.
const Host = "127.0.0.1"

// Ports are taken from below those that the system gives to outgoing
// connections: of many stacks at once, one's connection would sooner or later
// sit on the port that another has found free and not yet taken. They are also
// below those that control planes choose for themselves.
const (
	lowestPort  = 12000
	portCount   = 8000
	triesPerOne = 100
)

// reserved has the locks of the ports that this process found. They are held until it
// ends: the process that the port is for listens on it only later, and again after each
// of its restarts.
var reserved = struct {
	sync.Mutex

	locks []*os.File
}{}

// errReserved is why a port is not chosen though nothing listens on it.
var errReserved = errors.New("it is reserved")

// FreePorts finds n loopback ports on which nothing listens, and which no process that
// calls FreePorts is given while this one runs.
func FreePorts(ctx context.Context, n int) ([]int, error) {
	var ports []int
	for range n {
		port, err := freePort(ctx)
		if err != nil {
			return nil, fmt.Errorf("cannot find a free port: %w", err)
		}
		ports = append(ports, port)
	}
	return ports, nil
}

func freePort(ctx context.Context) (port int, err error) {
	for range triesPerOne {
		port = lowestPort + rand.IntN(portCount) //nolint:gosec // any number will do
		if err = reserve(ctx, port); err == nil {
			return port, nil
		}
	}
	return 0, err
}

// reserve locks a port, and fails if it is locked or something listens on it.
func reserve(ctx context.Context, port int) error {
	lock, err := lockPort(port)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", Address(port))
	if err != nil {
		return errors.Join(err, lock.Close())
	}
	reserved.Lock()
	defer reserved.Unlock()
	reserved.locks = append(reserved.locks, lock)
	return listener.Close()
}

// lockPort locks the file that stands for a port, among those of the user.
func lockPort(port int) (*os.File, error) {
	dir := filepath.Join(os.TempDir(), "defaultplan-ports-"+strconv.Itoa(os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make a folder for the locks of ports: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, strconv.Itoa(port)), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot lock port %d: %w", port, err)
	}
	// A lock belongs to the open file: another one of this process does not get it either.
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot use port %d: %w", port, errReserved), lock.Close())
	}
	return lock, nil
}

// Address is the host:port of a port.
func Address(port int) string { return net.JoinHostPort(Host, strconv.Itoa(port)) }
