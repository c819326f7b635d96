package ui

import (
	"net/http"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/explain"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// A site is the pages of one namespace. It holds nothing of the cluster.
type site struct {
	layout  layout
	catalog catalogPages
	orders  orderPages
}

// newSite is the site for the cluster and namespace of the flags.
func newSite(env *cli.Env, options *options.Options, allowCreate bool) (*site, error) {
	config, err := env.Config()
	if err != nil {
		return nil, err
	}
	config.WarningHandler, config.WarningHandlerWithContext = nil, heard{}
	c, err := cli.Dial(config)
	if err != nil {
		return nil, err
	}
	namespace, _, err := env.Namespace()
	if err != nil {
		return nil, err
	}
	return newSiteOf(c, options, layout{namespace: namespace, cluster: env.Cluster(), creates: allowCreate, now: time.Now})
}

// newSiteOf is a site of a client.
func newSiteOf(c client.Client, options *options.Options, layout layout) (*site, error) {
	asker, err := explain.NewAsker(c, options)
	if err != nil {
		return nil, err
	}
	namespace := layout.namespace
	catalog := catalogPages{offers: market{c, namespace}, requests: requests{c, namespace}, asker: asker, flags: layout.cluster.Flags}
	if layout.creates {
		catalog.seal = newSeal()
	}
	return &site{layout: layout, catalog: catalog, orders: orderPages{reader: c, namespace: namespace, asker: asker}}, nil
}

// routes are the pages, by their addresses.
func (s *site) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+assetsPath+"{name}", serveAsset)
	mux.HandleFunc("GET /{$}", s.layout.serve("types", "types", s.catalog.types))
	mux.HandleFunc("GET /types/{type}", s.layout.serve("types", "type", s.catalog.serviceType))
	mux.HandleFunc("GET /plans", s.layout.serve("plans", "plans", s.catalog.plans))
	mux.HandleFunc("GET /plans/{scope}/{name}", s.layout.serve("plans", "plan", s.catalog.plan))
	mux.HandleFunc("POST /plans/{scope}/{name}", formed(s.layout.serve("plans", "plan", s.catalog.tryPlan)))
	if s.layout.creates {
		mux.HandleFunc("POST /plans/{scope}/{name}/create", formed(s.layout.serve("plans", "plan", s.catalog.create)))
	}
	mux.HandleFunc("GET /instances", s.layout.serve("instances", "instances", s.orders.all))
	mux.HandleFunc("GET /instances/{name}", s.layout.serve("instances", "instance", s.orders.instance))
	mux.HandleFunc("GET /bindings/{name}", s.layout.serve("instances", "binding", s.orders.binding))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, r, http.StatusNotFound, "There is no such page.")
	})
	return mux
}

// formed has a handler behind it answer to forms that can be read.
func formed(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			refuse(w, r, http.StatusBadRequest, "The form could not be read: it is too large, or not a form.")
			return
		}
		next(w, r)
	}
}
