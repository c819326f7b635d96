package ui

import (
	"cmp"
	"net/http"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/remedy"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/rights"
)

// A layout is what all pages of a site have around them.
type layout struct {
	// namespace and cluster are those of the kubeconfig and of its flags, when the
	// command was started.
	namespace string
	cluster   cli.Cluster
}

// An answer is what one page shows.
type answer struct {
	title string
	body  any
	// missing is what could not be read of it, nil if nothing.
	missing error
	// code is 0 for 200.
	code int
}

// serve answers with a page, or with what went wrong. here is the entry of the navigation
// that is marked, and name the page's template.
func (l layout) serve(here, name string, read func(*http.Request) (*answer, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		found, err := read(r)
		if err != nil {
			l.fail(w, r, here, err)
			return
		}
		content := l.page(found.title, here, found.missing)
		content.Body = found.body
		render(w, r, cmp.Or(found.code, http.StatusOK), name, content)
	}
}

// page is a page of the site; err is what could not be read of it.
func (l layout) page(title, here string, err error) *page {
	lacks, _ := rights.MissingIn(err)
	return &page{Title: title, Here: here, Namespace: l.namespace, Context: l.cluster.Context, Lacks: lacks}
}

// fail answers with what went wrong, in the words of the command line.
func (l layout) fail(w http.ResponseWriter, r *http.Request, here string, err error) {
	failed, code := l.page("", here, err), http.StatusBadGateway
	lacks, all := rights.MissingIn(err)
	switch {
	case all:
		failed.Title, code = "Not shown: you lack a right", http.StatusForbidden
		if len(lacks) > 1 {
			failed.Title = "Not shown: you lack rights"
		}
	case isUnknown(err):
		failed.Title, failed.Body, code = "There is no such thing", remedy.Message(l.cluster, err), http.StatusNotFound
	default:
		failed.Title, failed.Body = "This could not be read", remedy.Message(l.cluster, err)
	}
	render(w, r, code, "failed", failed)
}
