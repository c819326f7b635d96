package doctor

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

const (
	// shippedNamespace is where deploy puts the webhook and the controller.
	shippedNamespace = "defaultplan-system"
	// roundLimit bounds one look at everything: a hook that hangs has five seconds.
	roundLimit = time.Minute
	// reachLimit bounds the first request: whether there is an API server at all.
	reachLimit = 10 * time.Second
)

// An installation is what the command examines: the API server and the clients for it.
type installation struct {
	config *rest.Config
	client client.Client
	clock  clock.PassiveClock
	// namespace is where instances are tried.
	namespace string
	// system is where the webhook and the controller are; empty: as the hooks say.
	system string
}

func newInstallation(env *cli.Env, system string) (*installation, error) {
	namespace, _, err := env.Namespace()
	if err != nil {
		return nil, err
	}
	config, err := env.Config()
	if err != nil {
		return nil, err
	}
	c, err := env.QuietClient()
	if err != nil {
		return nil, err
	}
	return &installation{config: config, client: c, clock: clock.RealClock{}, namespace: namespace, system: system}, nil
}

// round looks at everything once. Of a cluster that cannot be reached, that is all
// there is to say.
func (s *installation) round(ctx context.Context) []finding {
	ctx, cancel := context.WithTimeout(ctx, roundLimit)
	defer cancel()
	reached := s.reach(ctx)
	if reached.Level == levelFailed {
		return []finding{reached}
	}
	findings := []finding{reached}
	findings = append(findings, s.definitions(ctx)...)
	configured, hooks := s.hooks(ctx)
	findings = append(findings, hooks...)
	findings = append(findings, s.certificates(ctx, configured)...)
	findings = append(findings, s.dryRuns(ctx, s.systemOf(configured))...)
	findings = append(findings, s.guards(ctx)...)
	findings = append(findings, s.leases(ctx, configured)...)
	findings = append(findings, s.brokers(ctx)...)
	findings = append(findings, s.types(ctx)...)
	return append(findings, s.instances(ctx)...)
}

// reach asks the API server for its version.
func (s *installation) reach(ctx context.Context) finding {
	const check = "cluster"
	ctx, cancel := context.WithTimeout(ctx, reachLimit)
	defer cancel()
	server, err := discovery.NewDiscoveryClientForConfig(s.config)
	if err == nil {
		version, asked := server.ServerVersionWithContext(ctx)
		if asked == nil {
			return okf(check, "Kubernetes %s", version.GitVersion)
		}
		err = asked
	}
	return failedf(check, "look at --context, --kubeconfig and kubectl version", "the API server cannot be asked: %s", err)
}

// unread is the finding about what could not be read.
func unread(check, what string, err error) finding {
	switch {
	case apierrors.IsForbidden(err):
		return unknownf(check, "ask a user who may, such as an administrator, to look", "not looked at: you may not read %s", what)
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err):
		return unknownf(check, "see to the definitions first", "not looked at: %s are not served", what)
	}
	return failedf(check, "look again; if it stays, look at the API server", "cannot read %s: %s", what, err)
}

// widest reads all namespaces, or the current one where one may not read all.
// Each read starts from nothing, so what a forbidden read left behind is dropped.
func (s *installation) widest(read func(cli.Scope) error) (limited bool, err error) {
	err = read(cli.Scope{Cluster: true, Namespaces: true})
	if !apierrors.IsForbidden(err) {
		return false, err
	}
	return true, read(cli.Scope{Cluster: true, Namespaces: true, Namespace: s.namespace})
}

// partly marks findings of a user who may not read all namespaces.
func partly(limited bool, findings ...finding) []finding {
	for i := range findings {
		findings[i].Partly = limited
	}
	return findings
}

// only names the namespace that was read for a user who may not read all of them.
func (s *installation) only(limited bool) string {
	if limited {
		return fmt.Sprintf(" (in the cluster and namespace %q; you may not read others)", s.namespace)
	}
	return ""
}
