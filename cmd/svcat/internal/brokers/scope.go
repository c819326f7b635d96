package brokers

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// The values of --scope.
const (
	inNamespace = "namespace"
	inCluster   = "cluster"
)

// A scope is where a broker is registered: as ever in the current namespace, unless
// the cluster is asked for. Nothing is guessed where something is written.
type scope struct {
	word    string
	cluster bool
}

func (s *scope) bind(flags *pflag.FlagSet) {
	flags.StringVar(&s.word, "scope", inNamespace, "Where the broker is: namespace, for the current one alone, or cluster")
	flags.BoolVar(&s.cluster, "cluster", false, "The same as --scope cluster")
}

// validate takes over --cluster.
func (s *scope) validate() error {
	switch s.word {
	case inNamespace, inCluster:
	default:
		return cli.Usagef("--scope is %q; allowed are cluster and namespace", s.word)
	}
	s.cluster = s.cluster || s.word == inCluster
	return nil
}

// find finds a broker. If it is only in the cluster, where it was not to look, the
// error says how to say that.
func find(ctx context.Context, reader client.Reader, scope cli.Scope, name string) (catalog.Broker, error) {
	broker, err := catalog.Finder{Reader: reader, Scope: scope}.Broker(ctx, name)
	if _, missing := errors.AsType[*catalog.NameError](err); !missing || scope.Cluster {
		return broker, err
	}
	elsewhere := catalog.Finder{Reader: reader, Scope: cli.Scope{Cluster: true}}
	if _, there := elsewhere.Broker(ctx, name); there == nil {
		err = fmt.Errorf("no broker %q in %s; the cluster has one: add --scope cluster if that is meant", name, scope)
	}
	return broker, err
}
