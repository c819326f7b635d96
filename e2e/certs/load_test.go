package certs_test

import (
	"context"
	"crypto/x509"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// A load is a steady stream of creates through the API server, and, beside it, of
// handshakes with the webhook that trust what each webhook's bundle holds at the time:
// the API server keeps connections, and would shake hands too rarely to notice all.
type load struct {
	env    *testEnv
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu                  sync.Mutex
	creates, handshakes int
	failures            []string
	// phases are what was seen, each as often as it came: how many authorities the
	// bundles hold, and which of them signed what is served.
	phases []phase
}

// A phase is what is trusted, and who signed what is served, by names.
type phase struct{ trusted, signer string }

// rest is between two requests of the load.
const rest = 20 * time.Millisecond

// underLoad begins a load; stop it by done.
func (e *testEnv) underLoad() *load {
	ctx, cancel := context.WithCancel(e.Context())
	l := &load{env: e, cancel: cancel}
	e.Cleanup(func() { cancel(); l.wg.Wait() })
	for _, every := range []func(context.Context) error{l.create, l.shakeHands} {
		l.wg.Go(func() {
			for ctx.Err() == nil {
				if err := every(ctx); err != nil && ctx.Err() == nil {
					l.failed(err)
				}
				select {
				case <-ctx.Done():
				case <-time.After(rest):
				}
			}
		})
	}
	return l
}

func (l *load) failed(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failures = append(l.failures, time.Now().Format(time.StampMilli)+" "+err.Error())
}

// create asks for a class and a plan that are not there, which is always admitted.
func (l *load) create(ctx context.Context) error {
	instance := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "load-"}}
	instance.Spec.ClusterServiceClassExternalName = "class"
	instance.Spec.ClusterServicePlanExternalName = "plan"
	if err := l.env.Client().Create(ctx, instance, client.DryRunAll); err != nil {
		return fmt.Errorf("cannot create: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.creates++
	return nil
}

// shakeHands trusts what the bundles hold, each of them alone.
func (l *load) shakeHands(ctx context.Context) error {
	bundles, err := l.env.bundles(ctx)
	if err != nil {
		return err
	}
	leaf, err := l.env.served(ctx)
	if err != nil {
		return fmt.Errorf("cannot shake hands: %w", err)
	}
	seen := map[string]bool{}
	for _, bundle := range bundles {
		if seen[string(bundle)] {
			continue
		}
		seen[string(bundle)] = true
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(bundle)
		if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "127.0.0.1"}); err != nil {
			return fmt.Errorf("a bundle does not trust what is served: %w", err)
		}
	}
	l.note(bundles, leaf, len(seen) == 1)
	return nil
}

// note adds a phase, while all bundles are the same.
func (l *load) note(bundles [][]byte, leaf *x509.Certificate, same bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.handshakes++
	if !same {
		return
	}
	trusted, _ := parse(bundles[0])
	var names []string
	for _, cert := range trusted {
		names = append(names, cert.Subject.CommonName)
	}
	p := phase{trusted: strings.Join(names, " "), signer: leaf.Issuer.CommonName}
	if len(l.phases) == 0 || l.phases[len(l.phases)-1] != p {
		l.phases = append(l.phases, p)
	}
}

// seen are the phases so far.
func (l *load) seen() []phase {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]phase(nil), l.phases...)
}

// done ends the load: nothing of it may have failed.
func (l *load) done() {
	l.env.Helper()
	l.cancel()
	l.wg.Wait()
	assert.Empty(l.env, l.failures, "no request fails")
	assert.Greater(l.env, l.creates, 20)
	assert.Greater(l.env, l.handshakes, 20)
	l.env.Logf("%d creates and %d handshakes", l.creates, l.handshakes)
}
