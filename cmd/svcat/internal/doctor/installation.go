package doctor

import (
	"context"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/remedy"
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
	cluster cli.Cluster
	config  *rest.Config
	client  client.Client
	clock   clock.PassiveClock
	// namespace is where instances are tried.
	namespace string
	// system is where the webhook and the controller are; empty: as the hooks say.
	system string
	// reasonsOnly says that what brokers answered is not told.
	reasonsOnly bool
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
	return &installation{cluster: env.Cluster(), config: config, client: c, clock: clock.RealClock{}, namespace: namespace, system: system}, nil
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
	definitions := checkDefinitions(ctx, s.client)
	configured, hooks := checkHooks(ctx, s.client)
	system := s.systemOf(configured)
	contents := inventory{reader: s.client, clock: s.clock, namespace: s.namespace, reasonsOnly: s.reasonsOnly}
	return slices.Concat(
		[]finding{reached}, definitions, hooks,
		checkCertificates(ctx, configured, s.clock.Now()),
		admission{s.client, s.namespace, system, s.reasonsOnly}.dryRuns(ctx),
		checkGuards(ctx, s.client),
		leases{s.client, s.clock, system}.all(ctx),
		contents.brokers(ctx), contents.types(ctx), contents.instances(ctx),
	)
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
	text, do := remedy.Of(s.cluster, err)
	if len(do) == 0 {
		return failedf(check, "look at --context, --kubeconfig and kubectl version", "the API server cannot be asked: %s", err)
	}
	return failedf(check, strings.Join(do, "; "), "%s", text)
}

// systemOf is the namespace of the webhook and the controller.
func (s *installation) systemOf(hooks []hook) string {
	if s.system != "" {
		return s.system
	}
	for i := range hooks {
		if service := hooks[i].ClientConfig.Service; service != nil {
			return service.Namespace
		}
	}
	return shippedNamespace
}
