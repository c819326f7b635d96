package ui

import (
	"fmt"
	"net/http"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/explain"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// A site is the pages of one namespace. It holds nothing of the cluster.
type site struct {
	client client.Client
	asker  *explain.Asker
	// namespace and context are those of the kubeconfig and of its flags, when the
	// command was started.
	namespace, context string
}

// newSite is the site for the cluster and namespace of the flags.
func newSite(env *cli.Env, options *options.Options) (*site, error) {
	config, err := env.Config()
	if err != nil {
		return nil, err
	}
	config.WarningHandler, config.WarningHandlerWithContext = nil, heard{}
	scheme, err := cli.Scheme()
	if err != nil {
		return nil, err
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("cannot make a client: %w", err)
	}
	namespace, _, err := env.Namespace()
	if err != nil {
		return nil, err
	}
	return newSiteOf(c, options, namespace, contextOf(env))
}

// newSiteOf is a site of a client.
func newSiteOf(c client.Client, options *options.Options, namespace, context string) (*site, error) {
	asker, err := explain.NewAsker(c, options)
	if err != nil {
		return nil, err
	}
	return &site{client: c, asker: asker, namespace: namespace, context: context}, nil
}

// contextOf is the name of the kubeconfig's context; empty without one.
func contextOf(env *cli.Env) string {
	if named := env.Flags.Context; named != nil && *named != "" {
		return *named
	}
	config, err := env.Flags.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return ""
	}
	return config.CurrentContext
}

// routes are the pages, by their addresses.
func (s *site) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+assetsPath+"{name}", serveAsset)
	mux.HandleFunc("GET /{$}", s.types)
	mux.HandleFunc("GET /types/{type}", s.serviceType)
	mux.HandleFunc("GET /plans", s.plans)
	mux.HandleFunc("GET /plans/{scope}/{name}", s.plan)
	mux.HandleFunc("POST /plans/{scope}/{name}", s.tryPlan)
	mux.HandleFunc("GET /instances", s.instances)
	mux.HandleFunc("GET /instances/{name}", s.instance)
	mux.HandleFunc("GET /bindings/{name}", s.binding)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, r, http.StatusNotFound, "There is no such page.")
	})
	return mux
}

// scope is where the catalog of an instance in the namespace is.
func (s *site) scope() cli.Scope {
	return cli.Scope{Cluster: true, Namespaces: true, Namespace: s.namespace}
}

// page is a page of the site; err is what could not be read of it.
func (s *site) page(title, here string, err error) *page {
	lacks, _ := lacksOf(err)
	return &page{Title: title, Here: here, Namespace: s.namespace, Context: s.context, Lacks: lacks}
}

// fail answers with what went wrong, in the words of the command line.
func (s *site) fail(w http.ResponseWriter, r *http.Request, here string, err error) {
	failed, code := s.page("", here, err), http.StatusBadGateway
	lacks, all := lacksOf(err)
	switch {
	case all:
		failed.Title, code = "Not shown: you lack a right", http.StatusForbidden
		if len(lacks) > 1 {
			failed.Title = "Not shown: you lack rights"
		}
	case isUnknown(err):
		failed.Title, failed.Body, code = "There is no such thing", cli.Message(err), http.StatusNotFound
	default:
		failed.Title, failed.Body = "This could not be read", cli.Message(err)
	}
	render(w, r, code, "failed", failed)
}
