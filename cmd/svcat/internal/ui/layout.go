package ui

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/remedy"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/rights"
	"github.com/defaultplan/defaultplan/webhook/suggest"
)

// A layout is what all pages of a site have around them.
type layout struct {
	// namespace and cluster are those of the kubeconfig and of its flags, when the
	// command was started. A page is about this namespace unless its address names another.
	namespace string
	cluster   cli.Cluster
	// reader lists the namespaces to choose from. A page is complete without them, and
	// waits for them no longer than namespacesWithin.
	reader           client.Reader
	namespacesWithin time.Duration
	// creates says that the pages may create.
	creates bool
	// now is the time at which a page is read.
	now func() time.Time
}

// ofOtherNamespace is the parameter of addresses that names the namespace of a page.
const ofOtherNamespace = "namespace"

// A place is the namespace that a page is about. It is a parameter of the page's address, and of
// its links, unless svcat ui was started for it.
type place struct{ namespace, started string }

// Chosen is the namespace if it is another than svcat ui was started for, or empty.
func (p place) Chosen() string {
	if p.namespace == p.started {
		return ""
	}
	return p.namespace
}

// Link is the address of a page about the same namespace, with these parameters, each a name and
// its value.
func (p place) Link(path string, parameters ...string) string {
	query := url.Values{}
	for pair := range slices.Chunk(parameters, 2) {
		query.Set(pair[0], pair[1])
	}
	if p.Chosen() != "" {
		query.Set(ofOtherNamespace, p.namespace)
	}
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// flag has a command look in the namespace.
func (p place) flag() string { return " --namespace=" + suggest.Word(p.namespace) }

// A placeError is about an address that does not say which namespace it is about.
type placeError struct{ started string }

// Error says what is allowed. It does not repeat the value, which was written by what linked to
// this page.
func (e *placeError) Error() string {
	return "The address is malformed, or its parameter \"" + ofOtherNamespace + "\" is not one name of a namespace: " +
		"at most 63 lower-case letters, digits and hyphens, with a letter or digit at both ends.\n" +
		"→ Leave it out for namespace " + e.started + "."
}

// placeOf is the namespace that an address names, or that of the command line.
func (l layout) placeOf(r *http.Request) (place, error) {
	given, err := url.ParseQuery(r.URL.RawQuery)
	asked := strings.TrimSpace(given.Get(ofOtherNamespace))
	if err != nil || len(given[ofOtherNamespace]) > 1 || asked != "" && len(validation.IsDNS1123Label(asked)) > 0 {
		return place{l.namespace, l.namespace}, &placeError{l.namespace}
	}
	return place{cmp.Or(asked, l.namespace), l.namespace}, nil
}

// mostNamespaces is how many namespaces there may be to choose from. Where there are more, the name
// is typed.
const mostNamespaces = 500

// A chooser is the form that leads to the pages of another namespace.
type chooser struct {
	// Path is where it leads to, and Keep are the other parameters of the page's address, each as a
	// filter with a value.
	Path string
	Keep []filter
	// Options are the namespaces to choose from; none where they may not be listed, or are too many.
	Options []option
	// Unknown says that the namespace of the page is none of those.
	Unknown bool
}

// chooserAt is the chooser of a page, with a list of namespaces if that is asked for. A page
// about one object of a namespace leads to the list of such objects.
func (l layout) chooserAt(r *http.Request, at place, here string, list bool) chooser {
	form := chooser{Path: map[string]string{"plans": "/plans", "instances": "/instances"}[here]}
	form.Path = cmp.Or(form.Path, "/")
	if r.Method != http.MethodPost && here == "plans" && r.URL.Path == form.Path {
		asked := r.URL.Query()
		for _, one := range filtersOf(nil) {
			if one.Value = asked.Get(one.Name); one.Value != "" {
				form.Keep = append(form.Keep, one)
			}
		}
	}
	if !list {
		return form
	}
	names := l.namespaces(r.Context())
	form.Unknown = len(names) > 0 && !slices.Contains(names, at.namespace)
	if form.Unknown {
		names = append(names, at.namespace)
	}
	for _, name := range names {
		form.Options = append(form.Options, option{Value: name, Label: name, Chosen: name == at.namespace})
	}
	return form
}

// namespaces are those that the user may list; none for a user who may not, where they are
// too many, and where they do not come in time.
func (l layout) namespaces(ctx context.Context) (names []string) {
	ctx, cancel := context.WithTimeout(ctx, l.namespacesWithin)
	defer cancel()
	list := &corev1.NamespaceList{}
	if err := l.reader.List(ctx, list, client.Limit(mostNamespaces)); err != nil || list.Continue != "" {
		return nil
	}
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	slices.Sort(names)
	return names
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
func (l layout) serve(here, name string, read func(place, *http.Request) (*answer, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		at, err := l.placeOf(r)
		if err != nil {
			l.fail(w, r, at, here, err)
			return
		}
		found, err := read(at, r)
		if err != nil {
			l.fail(w, r, at, here, err)
			return
		}
		if found.elsewhere != "" {
			http.Redirect(w, r, found.elsewhere, http.StatusSeeOther)
			return
		}
		content := l.page(r, at, found.title, here, found.missing)
		content.Body, content.Chooser = found.body, l.chooserAt(r, at, here, true)
		render(w, r, cmp.Or(found.code, http.StatusOK), name, content)
	}
}

// page is a page of the site; err is what could not be read of it.
func (l layout) page(r *http.Request, at place, title, here string, err error) *page {
	lacks, _ := rights.MissingIn(err)
	content := &page{
		Title: title, Here: here, Namespace: at.namespace, At: at, Context: l.cluster.Context, Lacks: lacks,
		AsOf: l.now(), Creates: l.creates,
	}
	if r.Method != http.MethodPost {
		content.Self = r.URL.RequestURI()
	}
	return content
}

// fail answers with what went wrong, in the words of the command line.
func (l layout) fail(w http.ResponseWriter, r *http.Request, at place, here string, err error) {
	failed, code := l.page(r, at, "", here, err), http.StatusBadGateway
	lacks, all := rights.MissingIn(err)
	unfit, isUnfit := errors.AsType[*filterError](err)
	misplaced, isMisplaced := errors.AsType[*placeError](err)
	unsure, isUnsure := errors.AsType[unsureError](err)
	switch {
	case isUnfit:
		failed.Title, failed.Body, code = "There is no such filter", unfit.Error(), http.StatusBadRequest
	case isMisplaced:
		failed.Title, failed.Body, code = "This names no namespace", misplaced.Error(), http.StatusBadRequest
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
	// An API server that cannot be reached is not asked again.
	failed.Chooser = l.chooserAt(r, at, here, code != http.StatusBadGateway)
	if isUnfit {
		failed.Chooser.Keep = nil // nor is it a filter in another namespace
	}
	render(w, r, code, "failed", failed)
}
