package ui

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/rights"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/termtext"
)

//go:embed templates
var templateFiles embed.FS

//go:embed assets
var assetFiles embed.FS

// pages are the templates, by the name of their file. They are parsed when svcat ui starts: with every
// command, they would be a quarter of what is allocated before main.
var pages = sync.OnceValue(func() map[string]*template.Template {
	return parsePages("enter", "refused", "failed", "types", "type", "plans", "plan", "instances", "instance", "binding")
})

// parsePages puts each page together with the layout and what pages share.
func parsePages(names ...string) map[string]*template.Template {
	parsed := map[string]*template.Template{}
	for _, name := range names {
		parsed[name] = template.Must(template.New("layout.html").Option("missingkey=error").Funcs(template.FuncMap{"lines": lines, "json": compact, "withheld": isWithheld}).
			ParseFS(templateFiles, "templates/layout.html", "templates/shared.html", "templates/"+name+".html"))
	}
	return parsed
}

// lines are the lines of a text.
func lines(text string) []string { return strings.Split(strings.TrimRight(text, "\n"), "\n") }

// A page is what the layout needs to know, and the Body of the page's own template.
type page struct {
	Title string
	// Here is the entry of the navigation that is marked, empty for none.
	Here string
	// Namespace is what the page is about, and At where its links lead; without it there is
	// no navigation. Context is that of the kubeconfig.
	Namespace, Context string
	At                 place
	Chooser            chooser
	// Lacks are the rights without which something is not shown.
	Lacks []rights.Missing
	// Self is the page's own address, empty for the answer to a form, and AsOf when it
	// was read.
	Self string
	AsOf time.Time
	// Creates says that the pages may create.
	Creates bool
	Body    any
}

// render writes a page. It renders into memory first: half a page would be
// worse than none.
func render(w http.ResponseWriter, r *http.Request, code int, name string, content *page) {
	var text bytes.Buffer
	if err := pages()[name].Execute(&text, content); err != nil {
		http.Error(w, "cannot write this page: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	if r.Method != http.MethodHead {
		// A client that hung up reads no error either.
		_, _ = w.Write(visible(text.Bytes()))
	}
}

// visible is a page in which every character only stands for itself: those that turn
// text around, or that cannot be seen, are shown as what cannot be shown. What a broker
// calls a plan must not look like another plan's name.
func visible(text []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || termtext.Rune(r) {
			return r
		}
		return utf8.RuneError
	}, text)
}

// assets are the files that pages ask for.
var assets = map[string]string{"style.css": "assets/style.css", "page.js": "assets/page.js", "icon.svg": "assets/icon.svg"}

// serveAsset serves the style, the script and the icon.
func serveAsset(w http.ResponseWriter, r *http.Request) {
	file := assets[r.PathValue("name")]
	if file == "" {
		refuse(w, r, http.StatusNotFound, "There is no such file.")
		return
	}
	http.ServeFileFS(w, r, assetFiles, file)
}
