package stack

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/certs"
	"github.com/defaultplan/defaultplan/e2e/stack/loopback"
	"github.com/defaultplan/defaultplan/e2e/stack/process"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// webhookUser is who the webhook is to the API server; deploy/rbac gives it its
// rights.
const webhookUser = "system:serviceaccount:defaultplan-system:defaultplan-webhook"

// keeperUser is who the keeper is. A process that serves and keeps is that, with the
// webhook's rights besides.
const keeperUser = "system:serviceaccount:defaultplan-system:defaultplan-keeper"

// Webhooks are the replicas of the webhook, and the hooks by which the API server finds
// them.
type Webhooks struct {
	options  *Options
	access   *Access
	webhooks []*webhookProcess
	balancer *Balancer

	// address is the host:port at which the API server finds the hooks, and
	// caBundle what it trusts there.
	address           string
	caBundle          []byte
	webhookKubeconfig string
	// keeperKubeconfig is that of the keeper, and of a webhook process that keeps, too.
	keeperKubeconfig string
}

// letKeeperServe gives the keeper's user the webhook's rights, for processes that are
// both. As shipped, none is.
func (h *Webhooks) letKeeperServe(ctx context.Context) error {
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: keeperNamespace, Name: "defaultplan-keeper"}}
	for _, binding := range []client.Object{
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "stack-keeper-serves"}, Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "defaultplan-webhook"},
		},
		&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: keeperNamespace, Name: "stack-keeper-serves"}, Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "defaultplan-webhook"},
		},
	} {
		if err := h.access.client.Create(ctx, binding); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("cannot let the keeper serve: %w", err)
		}
	}
	return nil
}

// makeKubeconfigs makes those of the webhook and of the keeper.
func (h *Webhooks) makeKubeconfigs(ctx context.Context) (err error) {
	if h.webhookKubeconfig, err = h.access.KubeconfigFor(ctx, webhookUser); err != nil {
		return err
	}
	h.keeperKubeconfig, err = h.access.KubeconfigFor(ctx, keeperUser)
	return err
}

// ownKeeper says that the stack has a keeper of its own beside the webhooks, as shipped:
// unless their flags say where the keeper is. Webhooks that make their certificates
// themselves are keepers too.
func (h *Webhooks) ownKeeper() bool {
	return !h.options.ManagedCerts && !slices.ContainsFunc(h.options.WebhookArgs, isKeeperFlag)
}

func isKeeperFlag(arg string) bool { return strings.HasPrefix(arg, "--keeper=") }

// keeperArgs are the flags of who keeps.
func (h *Webhooks) keeperArgs() []string {
	if h.ownKeeper() {
		return []string{"--keeper=off"}
	}
	return nil
}

// kubeconfigOf is how a webhook process with these flags reaches the API server.
func (h *Webhooks) kubeconfigOf(args []string) string {
	keeps := true
	for _, arg := range args {
		if value, ok := strings.CutPrefix(arg, "--keeper="); ok {
			keeps = value != "off"
		}
	}
	if keeps {
		return h.keeperKubeconfig
	}
	return h.webhookKubeconfig
}

// readyTimeout bounds the start of one process.
const readyTimeout = 60 * time.Second

// A webhookProcess is one replica of the webhook. It keeps its ports when it is
// stopped and started again.
type webhookProcess struct {
	name                  string
	port, health, metrics int
	// certDir is its serving folder, and args are further flags, which come last.
	certDir string
	args    []string
	// process is nil while it is stopped.
	process *process.Process
}

func (w *webhookProcess) address() string { return loopback.Address(w.port) }

// prepareWebhooks gives the replicas ports, and all the same certificate. It
// needs no control plane.
func (h *Webhooks) prepareWebhooks(ctx context.Context) error {
	const portsEach = 3
	ports, err := loopback.FreePorts(ctx, portsEach*h.options.Webhooks)
	if err != nil {
		return err
	}
	for i := range h.options.Webhooks {
		h.webhooks = append(h.webhooks, &webhookProcess{
			name: fmt.Sprintf("webhook-%d", i),
			port: ports[portsEach*i], health: ports[portsEach*i+1], metrics: ports[portsEach*i+2],
			certDir: h.certDir(i),
		})
	}
	if h.options.ManagedCerts {
		return h.chooseAddress(ctx)
	}
	issued, err := certs.Issue("defaultplan playground", []string{loopback.Host}, time.Now(), lifetime)
	if err != nil {
		return err
	}
	h.caBundle = issued.CA.Cert
	if err := certs.WriteServing(h.certDir(0), issued.Leaf, issued.CA.Cert); err != nil {
		return err
	}
	return h.chooseAddress(ctx)
}

// chooseAddress sets where the API server finds the hooks.
func (h *Webhooks) chooseAddress(ctx context.Context) error {
	if len(h.webhooks) == 1 {
		h.address = h.webhooks[0].address()
		return nil
	}
	var backends []string
	for _, webhook := range h.webhooks {
		backends = append(backends, webhook.address())
	}
	balancer, err := NewBalancer(ctx, backends...)
	if err != nil {
		return err
	}
	h.balancer, h.address = balancer, balancer.Addr()
	return nil
}

// certDir is the serving folder of a replica: one for all, unless each makes its own.
func (h *Webhooks) certDir(i int) string {
	if h.options.ManagedCerts {
		return h.options.path("certs", fmt.Sprintf("webhook-%d", i))
	}
	return h.options.path("certs")
}

// certArgs are the flags of who makes the certificate.
func (h *Webhooks) certArgs(w *webhookProcess) []string {
	if h.options.ManagedCerts {
		return []string{"--certs=managed", "--certs-hosts=" + loopback.Host, "--cert-dir=" + w.certDir}
	}
	return []string{"--certs=files", "--cert-dir=" + w.certDir}
}

// SetWebhookArgs gives replica i, counted from 0, further flags from its next start on.
// They come last, so that they win.
func (h *Webhooks) SetWebhookArgs(i int, args ...string) error {
	w, err := h.webhook(i)
	if err != nil {
		return err
	}
	w.args = args
	return nil
}

// StartWebhook starts replica i, counted from 0, with the ports that it had
// before, and returns when it is ready.
func (h *Webhooks) StartWebhook(ctx context.Context, i int) error {
	w, err := h.webhook(i)
	if err != nil {
		return err
	}
	if w.process != nil && w.process.Gone() == nil {
		return fmt.Errorf("cannot start %q: it runs", w.name)
	}
	keeperArgs := h.keeperArgs()
	w.process, err = h.options.start(ctx, process.Command{
		Name: w.name, Binary: filepath.Join(h.options.Bin, "webhook"),
		Args: slices.Concat([]string{
			"--kubeconfig=" + h.kubeconfigOf(slices.Concat(keeperArgs, h.options.WebhookArgs, w.args)),
			"--bind-address=" + loopback.Host, fmt.Sprintf("--port=%d", w.port),
			"--health-address=" + loopback.Address(w.health), "--metrics-address=" + loopback.Address(w.metrics),
		}, keeperArgs, h.certArgs(w), h.options.WebhookArgs, w.args),
	})
	if err != nil {
		return err
	}
	return h.waitReady(ctx, w)
}

// StopWebhook sends the signal to replica i, counted from 0, and returns when it
// ended. One that is stopped already stays so.
func (h *Webhooks) StopWebhook(ctx context.Context, i int, signal syscall.Signal) error {
	w, err := h.webhook(i)
	if err != nil || w.process == nil {
		return err
	}
	ended := w.process
	w.process = nil
	return ended.End(ctx, signal)
}

// WebhookLog is the file with the output of replica i, counted from 0.
func (h *Webhooks) WebhookLog(i int) string {
	return process.LogFile(h.options.Dir, fmt.Sprintf("webhook-%d", i))
}

// WebhookMetrics is the URL of the metrics of replica i, counted from 0.
func (h *Webhooks) WebhookMetrics(i int) string {
	return "https://" + loopback.Address(h.webhooks[i].metrics) + "/metrics"
}

// WebhookURL is where the API server finds the hook of a path such as
// /mutate/serviceinstances.
func (h *Webhooks) WebhookURL(path string) string { return "https://" + h.address + path }

// Balancer is what stands before two or more replicas; nil before one or none.
func (h *Webhooks) Balancer() *Balancer { return h.balancer }

func (h *Webhooks) webhook(i int) (*webhookProcess, error) {
	if i < 0 || i >= len(h.webhooks) {
		return nil, fmt.Errorf("cannot find webhook %d: there are %d, counted from 0", i, len(h.webhooks))
	}
	return h.webhooks[i], nil
}

// WebhookReady asks replica i, counted from 0, whether it is ready; an error is what it
// says otherwise, or that it is not there.
func (h *Webhooks) WebhookReady(ctx context.Context, i int) error {
	w, err := h.webhook(i)
	if err != nil {
		return err
	}
	return probe(ctx, "http://"+loopback.Address(w.health)+"/readyz")
}

// stopWebhooks ends the replicas and what stands before them.
func (h *Webhooks) stopWebhooks(ctx context.Context) error {
	var failures []error
	for i := range h.webhooks {
		failures = append(failures, h.StopWebhook(ctx, i, syscall.SIGTERM))
	}
	if h.balancer != nil {
		failures = append(failures, h.balancer.Close())
		h.balancer = nil
	}
	return errors.Join(failures...)
}

func (h *Webhooks) waitReady(ctx context.Context, w *webhookProcess) error {
	err := untilReady(ctx, w.process, h.options.ReadyWithin, func(ctx context.Context) (bool, error) {
		if err := probe(ctx, "http://"+loopback.Address(w.health)+"/readyz"); err != nil {
			return false, err
		}
		// Ready may mean that caches are filled; what the API server needs is
		// the port.
		return accepts(ctx, w.address())
	})
	if err != nil {
		return fmt.Errorf("cannot start %q: %w", w.name, err)
	}
	return nil
}

// untilReady waits until a process is ready that was just started: so long at most, scaled as
// wait.Patience scales it; 0: a minute. No process reports how far its
// caches are filled, so a wait without progress is no failure.
func untilReady(ctx context.Context, running *process.Process, within time.Duration, ready func(context.Context) (bool, error)) error {
	within = cmp.Or(within, readyTimeout)
	ctx, cancel := context.WithTimeout(ctx, wait.Patience(within))
	defer cancel()
	return wait.EventuallyWithin(ctx, within, func() (bool, error) {
		if err := running.Gone(); err != nil {
			return true, err
		}
		return ready(ctx)
	})
}

func accepts(ctx context.Context, address string) (bool, error) {
	// Who it is does not matter here: only that it listens and speaks TLS.
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // a probe that sends nothing
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return false, err
	}
	return true, conn.Close()
}

// probe asks a health endpoint; what it answers is the error.
func probe(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	body, readErr := io.ReadAll(io.LimitReader(response.Body, 4096))
	if err := errors.Join(readErr, response.Body.Close()); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %d: %s", url, response.StatusCode, body)
	}
	return nil
}
