package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/defaultplan/defaultplan/webhook/suggest"
)

// A Cluster is the one that the flags and the kubeconfig name.
type Cluster struct {
	// Server is the API server's address, without credentials.
	Server string
	// Context and User are names of the kubeconfig, empty without one.
	Context, User string
	// File is the flag with which kubectl reads the same kubeconfig, after a space, and
	// Flags are those with which it takes the same context of it; empty without them.
	File, Flags string
}

// Cluster is where requests go, as far as that can be read.
func (e *Env) Cluster() Cluster {
	var found Cluster
	if config, err := e.Flags.ToRESTConfig(); err == nil {
		found.Server = addressOf(config)
	}
	config, err := e.Flags.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return found
	}
	name, context := e.context(&config)
	if context != nil {
		found.Context, found.User = name, context.AuthInfo
	}
	if given(e.Flags.AuthInfoName) != "" {
		found.User = *e.Flags.AuthInfoName
	}
	if file := given(e.Flags.KubeConfig); file != "" {
		found.File = " --kubeconfig=" + suggest.Word(file)
	}
	found.Flags = found.File
	if name := given(e.Flags.Context); name != "" {
		found.Flags += " --context=" + suggest.Word(name)
	}
	return found
}

// context is the one that is chosen; nil if there is none.
func (e *Env) context(config *clientcmdapi.Config) (string, *clientcmdapi.Context) {
	name := config.CurrentContext
	if chosen := given(e.Flags.Context); chosen != "" {
		name = chosen
	}
	return name, config.Contexts[name]
}

// given is what a flag says, empty if nothing.
func given(flag *string) string {
	if flag == nil {
		return ""
	}
	return *flag
}

// addressOf is the API server's address as it is shown.
func addressOf(config *rest.Config) string {
	address, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return ""
	}
	address.User = nil
	return strings.TrimSuffix(address.String(), "/")
}

// userinfo are the credentials in an address: up to its last @, since a password may have one.
var userinfo = regexp.MustCompile(`://[^/\s"]*@`)

// WithoutCredentials is a text without those of addresses in it.
func WithoutCredentials(text string) string { return userinfo.ReplaceAllString(text, "://") }

// The ways out of a kubeconfig that does not lead to a cluster.
const (
	nameKubeconfig = "\n  → name a kubeconfig: export KUBECONFIG=FILE, or --kubeconfig FILE"
	mendKubeconfig = "\n  → correct it, or name another: export KUBECONFIG=FILE, or --kubeconfig FILE"
	chooseContext  = "\n  → choose one: --context NAME, or kubectl config use-context NAME"
)

// configFault says what is wrong with the kubeconfig, or with what was asked of it.
func (e *Env) configFault(err error) error {
	config, unread := e.Flags.ToRawKubeConfigLoader().RawConfig()
	if name, context := e.context(&config); unread == nil && name != "" && context == nil {
		return fmt.Errorf("no context %q in the kubeconfig %s; contexts: %s%s", name, e.files(), contextsOf(&config), chooseContext)
	}
	if missing, is := errors.AsType[*fs.PathError](err); is && unread != nil {
		err = missing.Err
	}
	return fmt.Errorf("cannot read the kubeconfig %s: %s%s", e.files(), WithoutCredentials(err.Error()), mendKubeconfig)
}

// unconfigured says what is missing where the kubeconfig and the flags name no API server.
// Then client-go takes the one on this machine that nearly none has.
func (e *Env) unconfigured(config *rest.Config) error {
	if config.Host != clientcmd.ClusterDefaults.Server || os.Getenv("KUBERNETES_MASTER") != "" || given(e.Flags.APIServer) != "" {
		return nil
	}
	raw, err := e.Flags.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return e.configFault(err)
	}
	switch name, context := e.context(&raw); {
	case len(raw.Contexts) == 0:
		return fmt.Errorf("no cluster is configured: looked at %s%s", strings.Join(e.looked(), ", "), nameKubeconfig)
	case context == nil:
		return fmt.Errorf("no current context in the kubeconfig %s; contexts: %s%s", e.files(), contextsOf(&raw), chooseContext)
	case raw.Clusters[context.Cluster] == nil || raw.Clusters[context.Cluster].Server == "":
		return fmt.Errorf("context %q is of cluster %q, which has no server in the kubeconfig %s\n  → set it: kubectl config set-cluster %s --server=URL, or choose another: --context NAME",
			name, context.Cluster, e.files(), suggest.Word(context.Cluster))
	}
	return nil
}

// contextsOf are the names of the contexts.
func contextsOf(config *clientcmdapi.Config) string {
	return strings.Join(slices.Sorted(maps.Keys(config.Contexts)), ", ")
}

// files are the files that are read for the kubeconfig.
func (e *Env) files() string {
	return strings.Join(e.precedence(), ", ")
}

// looked are the files, and why none of them names a cluster.
func (e *Env) looked() []string {
	files := slices.Clone(e.precedence())
	for i, file := range files {
		why := " (no contexts)"
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			why = " (not there)"
		}
		files[i] += why
	}
	return files
}

func (e *Env) precedence() []string {
	access := e.Flags.ToRawKubeConfigLoader().ConfigAccess()
	if access.IsExplicitFile() {
		return []string{access.GetExplicitFile()}
	}
	return access.GetLoadingPrecedence()
}
