package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An htmlPage is what a page of the site has.
type htmlPage struct {
	anchors map[string]bool
	// links may lead anywhere; resources are what a browser fetches to show the page.
	links, resources []string
}

// built is the site of this checkout, built once for all tests.
var built = sync.OnceValues(func() (string, error) {
	out, err := os.MkdirTemp("", "site")
	if err == nil {
		_, err = build("../..", out)
	}
	return out, err
})

func TestMain(m *testing.M) {
	code := m.Run()
	if out, err := built(); err == nil {
		_ = os.RemoveAll(out)
	}
	os.Exit(code)
}

// readSite parses all pages as XML, which only well-formed ones pass.
func readSite(t *testing.T) map[string]htmlPage {
	t.Helper()
	out, err := built()
	require.NoError(t, err)
	pages := map[string]htmlPage{}
	require.NoError(t, fs.WalkDir(os.DirFS(out), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".html" {
			return err
		}
		content, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			return err
		}
		pages[name], err = parse(string(content))
		assert.NoError(t, err, "%s is not well-formed", name)
		return nil
	}))
	return pages
}

func parse(content string) (htmlPage, error) {
	p := htmlPage{anchors: map[string]bool{}}
	decoder := xml.NewDecoder(strings.NewReader(content))
	decoder.Entity = xml.HTMLEntity
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return p, nil
		}
		if err != nil {
			return p, err
		}
		element, is := token.(xml.StartElement)
		for _, attribute := range element.Attr {
			switch name := attribute.Name.Local; {
			case !is:
			case name == "id" && p.anchors[attribute.Value]:
				return p, fmt.Errorf("two elements have the id %q", attribute.Value)
			case name == "id":
				p.anchors[attribute.Value] = true
			case name == "href" && element.Name.Local == "a":
				p.links = append(p.links, attribute.Value)
			case name == "href", name == "src", name == "srcset", name == "action", name == "data", name == "poster":
				p.resources = append(p.resources, attribute.Value)
			}
		}
	}
}

// TestEveryPageIsThere compares the site with the pages of the checkout: each is there, with all
// its headings, and another page leads to it.
func TestEveryPageIsThere(t *testing.T) {
	t.Parallel()
	pages := readSite(t)
	linked := map[string]bool{}
	for name, p := range pages {
		for _, link := range p.links {
			if to, _, _ := strings.Cut(link, "#"); path.Join(path.Dir(name), to) != name {
				linked[path.Join(path.Dir(name), to)] = true
			}
		}
	}
	headings := regexp.MustCompile(`(?m)^#{1,6} `)
	fences := regexp.MustCompile("(?ms)^```.*?^```")
	check := func(source string) {
		content, err := os.ReadFile(filepath.Join("../..", source))
		require.NoError(t, err)
		name := htmlName(source)
		p, is := pages[name]
		assert.True(t, is, "%s is not in the site", source)
		assert.True(t, linked[name], "no page leads to %s", name)
		expected := len(headings.FindAll(fences.ReplaceAll(content, nil), -1))
		assert.GreaterOrEqual(t, len(p.anchors), expected, "%s has all its headings", name)
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"} {
		check(name)
	}
	require.NoError(t, fs.WalkDir(os.DirFS("../.."), "docs", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && path.Ext(name) == ".md" {
			check(name)
		}
		return err
	}))
	assert.Greater(t, len(pages), 80, "the pages were found")
}

// TestLinksLeadSomewhere follows all links within the site, those to headings included, and all
// that a page fetches, which has to be in the site.
func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	out, err := built()
	require.NoError(t, err)
	pages := readSite(t)
	for name, p := range pages {
		for _, resource := range p.resources {
			assert.FileExists(t, filepath.Join(out, path.Dir(name), resource), "%s fetches it", name)
		}
		for _, link := range p.links {
			to, err := url.Parse(link)
			require.NoError(t, err, name)
			if to.Scheme != "" {
				continue
			}
			target := path.Join(path.Dir(name), to.Path)
			if to.Path == "" {
				target = name
			}
			if found, is := pages[target]; is {
				assert.True(t, to.Fragment == "" || found.anchors[to.Fragment], "%s: %s", name, link)
			} else {
				assert.FileExists(t, filepath.Join(out, target), "%s: %s", name, link)
			}
		}
	}
	styles, err := os.ReadFile(filepath.Join(out, "assets/site.css"))
	require.NoError(t, err)
	assert.NotContains(t, string(styles), "url(", "the style fetches nothing")
	assert.NotContains(t, string(styles), "@import")
}

// TestSearch opens the page of the search in Chromium, from the disk, and has its script answer
// more queries.
func TestSearch(t *testing.T) {
	t.Parallel()
	chromium := findChromium(t)
	first := map[string]string{
		"plan is chosen":         "docs/choosing.html#how-a-plan-is-chosen",
		"Rotate":                 "docs/rotation.html#credentials-that-rotate",
		"ORPHAN mitigat":         "docs/controller.html#orphan-mitigation",
		"zzz":                    "none",
		"plan zzz":               "none",
		"":                       "none",
		"<img src=x>":            "none",
		"service-type names ...": "docs/service-types.html#the-names-of-service-types",
	}
	queries, err := json.Marshal(slices.Sorted(maps.Keys(first)))
	require.NoError(t, err)

	out := t.TempDir()
	_, err = build("../..", out)
	require.NoError(t, err)
	page, err := os.ReadFile(filepath.Join(out, "search.html"))
	require.NoError(t, err)
	more := `<script src="more.js" defer="defer"></script></head>`
	require.NoError(t, writeFile(out, "search.html", []byte(strings.Replace(string(page), "</head>", more, 1))))
	require.NoError(t, writeFile(out, "more.js", fmt.Appendf(nil, `document.body.append(...%s.map((query) => {
		const p = document.createElement("p");
		p.append("answer: ", query, " → ", search(query)[0]?.[0] ?? "none");
		return p;
	}))`, queries)))

	profile, err := os.MkdirTemp("", "chromium")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(profile) }) // a child of Chromium may still write to it
	address := url.URL{Scheme: "file", Path: filepath.Join(out, "search.html"), RawQuery: "q=default+plan"}
	shown, err := exec.CommandContext(t.Context(), chromium, "--headless", "--no-sandbox", "--disable-gpu",
		"--user-data-dir="+profile, "--dump-dom", address.String()).Output()
	require.NoError(t, err)
	assert.Regexp(t, `<ol id="results"><li><a href="docs/choosing.html#how-a-plan-is-chosen">How a plan is chosen</a><p>`, string(shown))
	for query, address := range first {
		assert.Contains(t, string(shown), "<p>answer: "+html.EscapeString(query)+" → "+address+"</p>")
	}
}

// findChromium is the path of Chromium. Without it the test is skipped, unless it is required.
func findChromium(t *testing.T) string {
	t.Helper()
	chromium, err := exec.LookPath("chromium")
	if err != nil && os.Getenv("DEFAULTPLAN_REQUIRE_CHROMIUM") != "1" {
		listSkipped(t, "SKIPPED: "+t.Name()+" of the site: install the Debian package chromium to run it")
	}
	require.NoError(t, err)
	return chromium
}

// listSkipped skips a test, in the list that make test ends with.
func listSkipped(t *testing.T, line string) {
	t.Helper()
	if name := os.Getenv("DEFAULTPLAN_SKIPPED"); name != "" {
		list, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		require.NoError(t, err)
		_, err = fmt.Fprintln(list, line)
		require.NoError(t, err)
		require.NoError(t, list.Close())
	}
	t.Skip(line)
}

// TestProjects builds small sites.
func TestProjects(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason, page, fails, has string
	}{
		"None":     {reason: "a link to nothing", page: "[a](none.md)", fails: `cannot render docs/a.md: a link leads nowhere: stat docs/none.md: no such file or directory`},
		"Folder":   {reason: "a folder whose files are not in the site", page: "[a](../code)", fails: "cannot render docs/a.md: a link leads to code, a folder outside docs: link to a page or a file"},
		"Page":     {reason: "Markdown becomes HTML", page: "[a](README.md#b)", has: `<a href="../docs/index.html#b">`},
		"Listing":  {reason: "a folder without a README.md has a page", page: "[a](more/)", has: `<a href="../docs/more/index.html">`},
		"File":     {reason: "another file is copied", page: "[a](../code/a.go)", has: `<a href="../code/a.go">`},
		"Outside":  {reason: "other sites stay as they are", page: "[a](https://a.example/)", has: `<a href="https://a.example/">`},
		"Twice":    {reason: "the anchors of GitHub", page: "# B, `c` d_e\n# B, `c` d_e\n", has: `id="b-c-d_e-1"`},
		"Escaped":  {reason: "a title is text", page: "# `<b>`\n", has: "<title>&lt;b&gt; · defaultplan</title>"},
		"Contents": {reason: "the navigation is that of docs/README.md", page: "a", has: "<h2>Begin here</h2>\n<ul>\n<li><a href=\"../docs/more/index.html\">More</a></li>\n</ul>\n</nav>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			project, out := t.TempDir(), t.TempDir()
			for name, content := range map[string]string{
				"README.md": "# A", "CONTRIBUTING.md": "# C", "SECURITY.md": "# S", "CHANGELOG.md": "# L", "code/a.go": "package a",
				"docs/README.md": "# Docs\n\nBegin here: first\n\n- [m](more/)\n\nNo link.\n\n# B", "docs/more/a.yaml": "a: b", "docs/a.md": test.page,
			} {
				require.NoError(t, writeFile(project, name, []byte(content)))
			}
			pages, err := build(project, out)
			if test.fails != "" {
				require.EqualError(t, err, test.fails, test.reason)
				return
			}
			require.NoError(t, err, test.reason)
			assert.Equal(t, 9, pages)
			written, err := os.ReadFile(filepath.Join(out, "docs/a.html"))
			require.NoError(t, err)
			assert.Contains(t, string(written), test.has, test.reason)
			assert.FileExists(t, filepath.Join(out, "docs/more/a.yaml"))
		})
	}
}
