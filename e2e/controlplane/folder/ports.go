package folder

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
)

// The range that free ports are chosen from. It lies below the ports that Linux and macOS give to outgoing
// connections: a chosen port is remembered, and must not be the local end of another connection at the
// next start.
const (
	firstPort = 20000
	lastPort  = 32000
)

// attempts bounds the search; on a machine where so many draws in a row are taken something else is wrong.
const attempts = 200

// A Role is what a port is for.
type Role string

// The roles of a control plane's ports.
const (
	APIServer Role = "apiServer"
	Etcd      Role = "etcd"
	EtcdPeer  Role = "etcdPeer"
)

// RememberedPort is the port that the folder at path had for the role last; 0 if it never had one.
// It needs no lock: a running control plane's folder may be asked.
func RememberedPort(path string, role Role) (int, error) {
	ports, err := readPorts(filepath.Join(path, portsFile))
	return ports[role], err
}

// Port settles the role's port for this start and remembers it: the fixed one if not 0, else the one the
// folder had before (kubeconfigs already handed out stay right), else a free one. A taken port is an error.
// Until Close no other folder, of this process or another one, gets the port, though nothing listens on it yet.
func (f *Folder) Port(role Role, fixed int) (int, error) {
	ports, err := readPorts(f.Path(portsFile))
	if err != nil {
		return 0, err
	}
	ports[role], err = f.settle(fixed, ports[role])
	if err != nil {
		return 0, err
	}
	content, err := json.Marshal(ports)
	if err != nil {
		return 0, fmt.Errorf("cannot encode ports: %w", err)
	}
	return ports[role], WriteFile(f.Path(portsFile), append(content, '\n'))
}

func (f *Folder) settle(fixed, before int) (int, error) {
	if fixed != 0 {
		if err := f.reserve(fixed); err != nil {
			return 0, fmt.Errorf("cannot use port %d: %w: stop what uses it, or choose another one", fixed, err)
		}
		return fixed, nil
	}
	if before == 0 {
		return f.freePort()
	}
	if err := f.reserve(before); err != nil {
		return 0, fmt.Errorf("cannot use port %d, which this folder had before: %w: stop what uses it, or remove %q to have new ones chosen",
			before, err, f.Path(portsFile))
	}
	return before, nil
}

// readPorts reads what Port wrote; no file is no ports.
func readPorts(path string) (map[Role]int, error) {
	ports := map[Role]int{}
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return ports, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read ports %q: %w", path, err)
	}
	if err := json.Unmarshal(content, &ports); err != nil || ports == nil {
		return nil, fmt.Errorf("cannot read ports %q: %w: remove the file to have new ones chosen", path, errors.Join(errNotPorts, err))
	}
	return ports, nil
}

var errNotPorts = errors.New("it holds no ports")

func (f *Folder) freePort() (int, error) {
	var last error
	for range attempts {
		port := firstPort + rand.IntN(lastPort-firstPort)
		if f.ports[port] != nil {
			continue
		}
		if last = f.reserve(port); last == nil {
			return port, nil
		}
	}
	return 0, fmt.Errorf("cannot find a free port in %d-%d: %w", firstPort, lastPort, last)
}

// reserve keeps a port for this folder until Close. It fails if another folder has the port, or if something
// listens on it.
func (f *Folder) reserve(port int) error {
	if f.ports[port] != nil {
		return tryPort(port)
	}
	lock, err := lockPort(port)
	if err != nil {
		return err
	}
	if err := tryPort(port); err != nil {
		return errors.Join(err, lock.Close())
	}
	f.ports[port] = lock
	return nil
}

// lockPort locks the file that stands for a port, among those of the user.
func lockPort(port int) (*os.File, error) {
	dir := filepath.Join(os.TempDir(), "defaultplan-ports-"+strconv.Itoa(os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make a folder for the locks of ports: %w", err)
	}
	return takeLock(filepath.Join(dir, strconv.Itoa(port)))
}

// tryPort fails if it cannot listen on the loopback port now.
func tryPort(port int) error {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return reason(err)
	}
	return listener.Close()
}

// reason strips the address off a listen error: the message around it names the port already.
func reason(err error) error {
	var opErr *net.OpError
	if errors.As(err, &opErr) {
		return opErr.Err
	}
	return err
}
