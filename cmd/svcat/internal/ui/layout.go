package ui

import (
	"cmp"
	"errors"
	"net/http"
	"time"

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
	// creates says that the pages may create.
	creates bool
	// now is the time at which a page is read.
	now func() time.Time
}

// An answer is what one page shows.
type answer struct {
	title string
	body  any
	// missing is what could not be read of it, nil if nothing.
	missing error
	// code is 0 for 200.
	code int
	// elsewhere is the address of the page that is shown instead, empty for this one.
	elsewhere string
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
		if found.elsewhere != "" {
			http.Redirect(w, r, found.elsewhere, http.StatusSeeOther)
			return
		}
		content := l.page(r, found.title, here, found.missing)
		content.Body = found.body
		render(w, r, cmp.Or(found.code, http.StatusOK), name, content)
	}
}

// page is a page of the site; err is what could not be read of it.
func (l layout) page(r *http.Request, title, here string, err error) *page {
	lacks, _ := rights.MissingIn(err)
	content := &page{
		Title: title, Here: here, Namespace: l.namespace, Context: l.cluster.Context, Lacks: lacks,
		AsOf: l.now(), Creates: l.creates,
	}
	if r.Method != http.MethodPost {
		content.Self = r.URL.RequestURI()
	}
	return content
}

// fail answers with what went wrong, in the words of the command line.
func (l layout) fail(w http.ResponseWriter, r *http.Request, here string, err error) {
	failed, code := l.page(r, "", here, err), http.StatusBadGateway
	lacks, all := rights.MissingIn(err)
	unfit, isUnfit := errors.AsType[*filterError](err)
	unsure, isUnsure := errors.AsType[unsureError](err)
	switch {
	case isUnfit:
		failed.Title, failed.Body, code = "There is no such filter", unfit.Error(), http.StatusBadRequest
	case all:
		failed.Title, code = "Not shown: you lack a right", http.StatusForbidden
		if len(lacks) > 1 {
			failed.Title = "Not shown: you lack rights"
		}
	case isUnsure:
		failed.Title, failed.Body = "It is not known whether it was created", remedy.Message(l.cluster, unsure)+"\n→ The page of instances shows whether it is there."
	case isUnknown(err):
		failed.Title, failed.Body, code = "There is no such thing", remedy.Message(l.cluster, err), http.StatusNotFound
	default:
		failed.Title, failed.Body = "This could not be read", remedy.Message(l.cluster, err)
	}
	render(w, r, code, "failed", failed)
}
