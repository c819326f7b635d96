package apiproxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/defaultplan/defaultplan/e2e/stack/loopback"
)

// A Proxy stands between one client and the API server. It speaks plain HTTP on
// loopback, so that it can read what goes through, and is to the API server the user of
// the kubeconfig that it was given. It stops writes before or after they are applied,
// keeps watches back, and can be away.
type Proxy struct {
	listener net.Listener
	server   *http.Server
	served   chan error
	reverse  *httputil.ReverseProxy
	file     string

	mu             sync.Mutex
	holds, answers []*HeldWrite
	// spy is told of every write; may be nil.
	spy     func(*Write)
	absence *absence
	// watching ends the watches under way.
	watching map[*http.Request]context.CancelFunc
	// lag is nil, or closed when the watches of lagging go on.
	lag     chan struct{}
	lagging map[string]bool
	delay   time.Duration
	// unread has the resources of which nothing is read until the channel is closed.
	unread map[string]chan struct{}
}

// readHeaderTimeout bounds how long a client takes to say what it wants.
const readHeaderTimeout = 60 * time.Second

// Start starts a proxy for the user of a kubeconfig, and writes its own to file.
func Start(ctx context.Context, kubeconfig, file string) (*Proxy, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("cannot use kubeconfig %q: %w", kubeconfig, err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("cannot reach the API server: %w", err)
	}
	upstream, err := url.Parse(config.Host)
	if err != nil {
		return nil, fmt.Errorf("cannot find the API server: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", loopback.Address(0))
	if err != nil {
		return nil, fmt.Errorf("cannot listen for the API server: %w", err)
	}
	p := &Proxy{listener: listener, served: make(chan error, 1), watching: map[*http.Request]context.CancelFunc{}, file: file}
	p.reverse = &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(upstream) },
		Transport: transport, FlushInterval: -1, ModifyResponse: p.answer, ErrorHandler: hangUpOn,
	}
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: readHeaderTimeout}
	go func() { p.served <- p.server.Serve(listener) }()
	if err := os.WriteFile(file, p.kubeconfig(), 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot write kubeconfig: %w", err), p.Close())
	}
	return p, nil
}

// kubeconfig is one that leads to the proxy, which knows who it is.
func (p *Proxy) kubeconfig() []byte {
	config := clientcmdapi.NewConfig()
	config.Clusters["stack"] = &clientcmdapi.Cluster{Server: "http://" + p.listener.Addr().String()}
	config.AuthInfos["anonymous"] = &clientcmdapi.AuthInfo{}
	config.Contexts["stack"] = &clientcmdapi.Context{Cluster: "stack", AuthInfo: "anonymous"}
	config.CurrentContext = "stack"
	content, err := clientcmd.Write(*config)
	if err != nil {
		panic(err) // of strings alone
	}
	return content
}

// hangUpOn ends a connection without an answer: so does an API server that is killed.
func hangUpOn(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }

// Kubeconfig is the file with which a process reaches the API server through the proxy.
func (p *Proxy) Kubeconfig() string { return p.file }

// Close cuts all connections and waits until it no longer listens.
func (p *Proxy) Close() error {
	err := p.server.Close()
	if served := <-p.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	if err != nil {
		return fmt.Errorf("cannot close the proxy of the API server: %w", err)
	}
	return nil
}

// ServeHTTP passes a request on, after what was asked for it.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	write, is, err := writeOf(r)
	if err != nil {
		panic(http.ErrAbortHandler) // the client left while it was sending
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	if is {
		p.tell(write)
	}
	if !p.enter(r, is, cancel) {
		panic(http.ErrAbortHandler)
	}
	defer p.leave(r)
	if !is && !p.reads(ctx, r) {
		panic(http.ErrAbortHandler)
	}
	if is {
		if held := p.held(write); held != nil {
			if !held.arrive(ctx) {
				panic(http.ErrAbortHandler)
			}
			ctx = context.WithValue(ctx, heldKey{}, held)
		}
		ctx = context.WithValue(ctx, writeKey{}, write)
	}
	p.reverse.ServeHTTP(w, r.WithContext(ctx))
}

// enter lets a request in, unless the API server is away.
func (p *Proxy) enter(r *http.Request, write bool, cancel context.CancelFunc) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.absence != nil {
		p.absence.cut(write)
		return false
	}
	if watches(r) {
		p.watching[r] = cancel
	}
	return true
}

func (p *Proxy) leave(r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.watching, r)
}

// answer comes before any of an answer is passed on.
func (p *Proxy) answer(response *http.Response) error {
	ctx := response.Request.Context()
	if write, ok := ctx.Value(writeKey{}).(*Write); ok {
		write.Code = response.StatusCode
		if held := p.heldAnswer(write); held != nil && !held.answered(ctx) {
			return context.Cause(ctx)
		}
	}
	if held, ok := ctx.Value(heldKey{}).(*HeldWrite); ok && !held.answered(ctx) {
		return context.Cause(ctx)
	}
	if watches(response.Request) {
		of := resourceOf(response.Request.URL.Path)
		response.Body = &laggingBody{ReadCloser: response.Body, wait: func() { p.lagBehind(ctx, of) }}
	}
	return nil
}
