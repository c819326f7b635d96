package node

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	egressFile   = "egress.yaml"
	egressSocket = "egress.sock"
	dialTimeout  = 2 * time.Second
)

// egressConfig makes the API server reach Services and pods, and nothing else, through
// a proxy. A Unix socket is the only one that it speaks to without TLS.
const egressConfig = `apiVersion: apiserver.k8s.io/v1beta1
kind: EgressSelectorConfiguration
egressSelections:
- name: cluster
  connection:
    proxyProtocol: HTTPConnect
    transport:
      uds:
        udsName: %s
`

// ControlPlaneArgs are the arguments of a control plane whose pods a Node runs: the
// controllers of workloads, and the way to the Services through the node's folder dir,
// which is made if absent. Flags of kube-apiserver may be appended.
func ControlPlaneArgs(dir string) ([]string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot name folder of the node: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make folder of the node: %w", err)
	}
	file := filepath.Join(dir, egressFile)
	if err := os.WriteFile(file, fmt.Appendf(nil, egressConfig, filepath.Join(dir, egressSocket)), 0o600); err != nil {
		return nil, fmt.Errorf("cannot write configuration of the egress: %w", err)
	}
	return []string{"-workloads", "--", "--egress-selector-config-file=" + file}, nil
}

// An egress is the proxy through which the API server reaches what is in the cluster.
type egress struct {
	listener net.Listener
	// find returns where on this machine the cluster's host:port is.
	find func(address string) (string, error)
	wg   sync.WaitGroup

	mu     sync.Mutex
	open   map[net.Conn]struct{}
	closed bool
}

func newEgress(ctx context.Context, socket string, find func(string) (string, error)) (*egress, error) {
	// One that a killed process left would be in the way.
	if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("cannot remove old socket: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", socket)
	if err != nil {
		return nil, fmt.Errorf("cannot listen for the egress: %w", err)
	}
	e := &egress{listener: listener, find: find, open: map[net.Conn]struct{}{}}
	e.wg.Go(e.accept)
	return e, nil
}

func (e *egress) accept() {
	for {
		conn, err := e.listener.Accept()
		if err != nil {
			return // it was closed
		}
		e.wg.Go(func() { e.serve(conn) })
	}
}

// close stops listening, cuts what is open and waits until all is done.
func (e *egress) close() error {
	err := e.listener.Close()
	e.mu.Lock()
	e.closed = true
	for conn := range e.open {
		hangUp(conn)
	}
	e.mu.Unlock()
	e.wg.Wait()
	return err
}

// serve answers one CONNECT, and copies until either side ends.
func (e *egress) serve(client net.Conn) {
	defer hangUp(client)
	reader := bufio.NewReader(client)
	request, err := http.ReadRequest(reader)
	if err != nil {
		return
	}
	server, err := e.dial(request)
	if err != nil {
		_, _ = fmt.Fprintf(client, "HTTP/1.1 503 %s\r\nContent-Length: 0\r\n\r\n", http.StatusText(http.StatusServiceUnavailable))
		return
	}
	defer hangUp(server)
	if !e.track(client, server) {
		return
	}
	defer e.untrack(client, server)
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { pipe(server, reader, client) })
	both.Go(func() { pipe(client, server, server) })
	both.Wait()
}

func (e *egress) dial(request *http.Request) (net.Conn, error) {
	if request.Method != http.MethodConnect {
		return nil, fmt.Errorf("cannot serve method %q", request.Method)
	}
	address, err := e.find(request.Host)
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{Timeout: dialTimeout}
	return dialer.DialContext(context.Background(), "tcp", address)
}

func (e *egress) track(conns ...net.Conn) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	for _, conn := range conns {
		e.open[conn] = struct{}{}
	}
	return true
}

func (e *egress) untrack(conns ...net.Conn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, conn := range conns {
		delete(e.open, conn)
	}
}

// pipe copies what from has and tells to that there is no more. A broken connection
// ends both directions, so that a killed process is noticed at once.
func pipe(to net.Conn, content io.Reader, from net.Conn) {
	if _, err := io.Copy(to, content); err != nil {
		hangUp(to)
		hangUp(from)
		return
	}
	if half, ok := to.(interface{ CloseWrite() error }); ok {
		// It fails only if the connection is gone already.
		_ = half.CloseWrite()
	}
}

// hangUp closes; that it was closed before is what it wants.
func hangUp(conn net.Conn) { _ = conn.Close() }
