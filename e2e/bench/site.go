package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/e2e/bench/review"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/loopback"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// Namespaces of a site where our hooks do not admit: in the first the raw ones do, in the second
// raw ones of which the mutating one always answers the patch that it was taught last.
const (
	rawNamespace      = "bench-raw"
	patchingNamespace = "bench-patching"
)

// Names of the processes of a stack.
const (
	webhookProcess      = "webhook-0"
	keeperProcess       = "keeper"
	controllerProcess   = "controller"
	controlPlaneProcess = "controlplane"
	rawProcess          = "raw-hook"
)

// A site is a stack with the raw hook beside the webhook.
type site struct {
	*stack.Stack

	inventory inventory
	caBundle  []byte
	rawURL    string
}

// startSite starts a stack. The keeper has a process of its own, as shipped: it is no part of what
// an admission costs, but without its Lease the webhook would not take its cache for current.
func startSite(ctx context.Context, bin string) (*site, ending, error) {
	dir, err := newFolder()
	if err != nil {
		return nil, nil, err
	}
	started, err := stack.Start(ctx, stack.Options{Dir: dir, Bin: bin, Webhooks: 1})
	if err != nil {
		return nil, nil, err //nolint:wrapcheck // it says what failed
	}
	s := &site{Stack: started, inventory: inventory{started.Client()}}
	end := leave(dir, started.Stop)
	if err := s.open(ctx); err != nil {
		return nil, nil, end(err)
	}
	return s, end, nil
}

// open starts the raw hook and makes the namespaces.
func (s *site) open(ctx context.Context) error {
	shipped, err := shippedHooks(ctx, s.Client())
	if err != nil {
		return err
	}
	s.caBundle = shipped.mutating.Webhooks[0].ClientConfig.CABundle
	if err := s.startRawHook(ctx, s.Path("certs")); err != nil {
		return err
	}
	for _, name := range []string{review.Namespace, rawNamespace, patchingNamespace} {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{hooksLabel: name}}}
		if err := s.Client().Create(ctx, namespace); err != nil {
			return fmt.Errorf("cannot create namespace %q: %w", name, err)
		}
	}
	return nil
}

// startRawHook starts this program once more, and waits until it listens.
func (s *site) startRawHook(ctx context.Context, certDir string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find this program: %w", err)
	}
	ports, err := loopback.FreePorts(ctx, 1)
	if err != nil {
		return err //nolint:wrapcheck // it says what failed
	}
	port := ports[0]
	if err := s.StartProcess(rawProcess, self, rawProcess, "--cert-dir="+certDir, "--port="+strconv.Itoa(port)); err != nil { //nolint:contextcheck // it ends with the stack
		return err
	}
	address := loopback.Address(port)
	s.rawURL = "https://" + address
	return wait.Eventually(ctx, func() (bool, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err != nil {
			return false, err //nolint:wrapcheck // told with the reason for waiting
		}
		return true, conn.Close()
	})
}

// hook is one endpoint of one of the two servers.
func (s *site) hook(process, url string) (review.Hook, error) {
	pid, err := s.Pid(process)
	return review.Hook{Client: review.NewClient(s.caBundle), Pid: pid, URL: url}, err
}
