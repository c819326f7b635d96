package cli

import (
	"fmt"
	"sync"

	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/internal/version"
)

// An Env is the environment of a command: its streams, and the cluster that the
// flags and the kubeconfig name. It connects at the first use.
type Env struct {
	genericiooptions.IOStreams

	// Flags are those of kubectl, such as --kubeconfig, --context and
	// --namespace.
	Flags *genericclioptions.ConfigFlags

	connect  sync.Once
	client   client.WithWatch
	failed   error
	warnings rest.WarningHandler
	slow     slowRequests
	colour   colourMode
}

// NewEnv returns the environment of a process that has these streams. On a terminal,
// what the cluster holds is shown and never obeyed.
func NewEnv(streams genericiooptions.IOStreams) *Env {
	flags := genericclioptions.NewConfigFlags(true)
	// The proposal has a --cluster of its own.
	flags.ClusterName = nil
	streams.Out, streams.ErrOut = shown(streams.Out), shown(streams.ErrOut)
	return &Env{IOStreams: streams, Flags: flags, slow: slowRequests{out: streams.ErrOut}}
}

// Bind adds the flags that every command takes. One letter of kubectl's is given
// up: -s is the Secret of provision and bind.
func (e *Env) Bind(flags *pflag.FlagSet) {
	kubectls := pflag.NewFlagSet("", pflag.ContinueOnError)
	e.Flags.AddFlags(kubectls)
	kubectls.VisitAll(func(flag *pflag.Flag) {
		switch flag.Name {
		case "server":
			flag.Shorthand = ""
		case "cache-dir":
			// What help says is the same on every machine.
			flag.DefValue = "$HOME/.kube/cache"
		}
		flags.AddFlag(flag)
	})
	e.bindColour(flags)
	bindLogs(flags)
}

// Config is how to reach the cluster. An API server that does not answer is reported once.
func (e *Env) Config() (*rest.Config, error) {
	config, err := e.quietConfig()
	if err != nil {
		return nil, err
	}
	config.WarningHandler = e.warn()
	e.slow.wrap(config)
	return config, nil
}

// quietConfig is Config without a word of how the API server is.
func (e *Env) quietConfig() (*rest.Config, error) {
	config, err := e.Flags.ToRESTConfig()
	if err != nil {
		return nil, e.configFault(err)
	}
	if err := e.unconfigured(config); err != nil {
		return nil, err
	}
	// One person types: the API server's priority and fairness decides who waits.
	config.QPS = -1
	config.UserAgent = version.UserAgent("svcat")
	config.WarningHandler = rest.NoWarnings{}
	return config, nil
}

// warn prints each warning of the API server once, as kubectl does.
func (e *Env) warn() rest.WarningHandler {
	if e.warnings == nil {
		e.warnings = rest.NewWarningWriter(e.ErrOut, rest.WarningWriterOptions{Deduplicate: true, Color: e.colours(e.ErrOut)})
	}
	return e.warnings
}

// Client reads from and writes to the cluster.
func (e *Env) Client() (client.WithWatch, error) {
	e.connect.Do(func() {
		var config *rest.Config
		if config, e.failed = e.Config(); e.failed == nil {
			e.client, e.failed = Dial(config)
		}
	})
	return e.client, e.failed
}

// QuietClient is a Client of its own that prints no warning of the API server, nor that
// it is slow: for writes that are only tried, and where a person is in the middle of a
// line.
func (e *Env) QuietClient() (client.WithWatch, error) {
	config, err := e.quietConfig()
	if err != nil {
		return nil, err
	}
	return Dial(config)
}

// Dial makes a client of a config.
func Dial(config *rest.Config) (client.WithWatch, error) {
	scheme, err := Scheme()
	if err != nil {
		return nil, err
	}
	mapper, err := mapperFor(config, scheme)
	if err != nil {
		return nil, err
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme, Mapper: mapper})
	if err != nil {
		return nil, fmt.Errorf("cannot make a client: %w", err)
	}
	return c, nil
}

// Namespace is that of --namespace, or that of the kubeconfig's context; given
// says that it was the flag.
func (e *Env) Namespace() (namespace string, given bool, err error) {
	namespace, given, err = e.Flags.ToRawKubeConfigLoader().Namespace()
	if clientcmd.IsEmptyConfig(err) {
		return "default", false, nil
	}
	if err != nil {
		return "", false, e.configFault(err)
	}
	return namespace, given, nil
}
