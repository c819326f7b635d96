package ui

import (
	"net/http"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/explain"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// A site is the pages of each namespace. It holds nothing of the cluster.
type site struct {
	layout layout
	client client.Client
	asker  *explain.Asker
	// seal marks what may be created; nil if nothing may.
	seal *seal
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
	return newSiteOf(c, options, layout{
		namespace: namespace, cluster: env.Cluster(), creates: allowCreate, now: time.Now, namespacesWithin: 10 * time.Second,
	})
}

// newSiteOf is a site of a client.
func newSiteOf(c client.Client, options *options.Options, layout layout) (*site, error) {
	asker, err := explain.NewAsker(c, options)
	if err != nil {
		return nil, err
	}
	layout.reader = c
	s := &site{layout: layout, client: c, asker: asker}
	if layout.creates {
		s.seal = newSeal()
	}
	return s, nil
}

// offers is a page about what is on offer.
func (s *site) offers(here, name string, read func(catalogPages, *http.Request) (*answer, error)) http.HandlerFunc {
	return s.layout.serve(here, name, func(at place, r *http.Request) (*answer, error) {
		return read(catalogPages{
			offers: market{s.client, at}, requests: requests{s.client, at.namespace}, asker: s.asker, seal: s.seal, flags: s.layout.cluster.Flags,
		}, r)
	})
}

// orders is a page about instances and bindings.
func (s *site) orders(name string, read func(orderPages, *http.Request) (*answer, error)) http.HandlerFunc {
	return s.layout.serve("instances", name, func(at place, r *http.Request) (*answer, error) {
		return read(orderPages{place: at, reader: s.client, asker: s.asker, flags: s.layout.cluster.Flags}, r)
	})
}

// routes are the pages, by their addresses.
func (s *site) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+assetsPath+"{name}", serveAsset)
	mux.HandleFunc("GET /{$}", s.offers("types", "types", catalogPages.types))
	mux.HandleFunc("GET /types/{type}", s.offers("types", "type", catalogPages.serviceType))
	mux.HandleFunc("GET /plans", s.offers("plans", "plans", catalogPages.plans))
	mux.HandleFunc("GET /plans/{scope}/{name}", s.offers("plans", "plan", catalogPages.plan))
	mux.HandleFunc("POST /plans/{scope}/{name}", formed(s.offers("plans", "plan", catalogPages.tryPlan)))
	if s.layout.creates {
		mux.HandleFunc("POST /plans/{scope}/{name}/create", formed(s.offers("plans", "plan", catalogPages.create)))
	}
	mux.HandleFunc("GET /instances", s.orders("instances", orderPages.all))
	mux.HandleFunc("GET /instances/{name}", s.orders("instance", orderPages.instance))
	mux.HandleFunc("GET /bindings/{name}", s.orders("binding", orderPages.binding))
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
