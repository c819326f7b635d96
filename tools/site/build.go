package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed assets page.html
var own embed.FS

var layout = template.Must(template.ParseFS(own, "page.html"))

// A site is what is written, by paths below its root, all with slashes.
type site struct {
	root fs.FS
	// pages are by their source: a file of Markdown, or a folder of docs without a README.md.
	pages map[string]*page
	// files are copied as they are: those of docs, and those that a page links to.
	files []string
}

// build writes the site of a project into a folder, which it replaces, and counts its pages.
func build(project, out string) (pages int, err error) {
	s := &site{root: os.DirFS(project), pages: map[string]*page{}}
	if err := s.read(); err != nil {
		return 0, err
	}
	groups, err := s.navigation()
	if err != nil {
		return 0, err
	}
	if err := os.RemoveAll(out); err != nil {
		return 0, err
	}
	if err := s.write(out, groups); err != nil {
		return 0, err
	}
	return len(s.pages), s.copyFiles(out)
}

// read renders the pages of the root and all of docs. Folders come last: they list titles.
func (s *site) read() error {
	names := []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"}
	var folders []string
	err := fs.WalkDir(s.root, "docs", func(name string, entry fs.DirEntry, err error) error {
		_, noContents := fs.Stat(s.root, path.Join(name, "README.md"))
		switch {
		case err != nil:
			return err
		case entry.IsDir() && noContents != nil:
			folders = append(folders, name)
		case entry.IsDir():
		case path.Ext(name) == ".md":
			names = append(names, name)
		default:
			s.files = append(s.files, name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range slices.Concat(names, folders) {
		s.pages[name] = &page{Path: htmlName(name)}
	}
	for _, name := range names {
		source, err := fs.ReadFile(s.root, name)
		if err != nil {
			return err
		}
		if err := s.render(name, source); err != nil {
			return err
		}
	}
	for _, name := range folders {
		if err := s.render(name, s.listing(name)); err != nil {
			return err
		}
	}
	return nil
}

// htmlName is the path of the page of a file of Markdown or of a folder.
func htmlName(name string) string {
	name, isMarkdown := strings.CutSuffix(name, ".md")
	if isMarkdown && path.Base(name) != "README" {
		return name + ".html"
	}
	return path.Join(strings.TrimSuffix(name, "README"), "index.html")
}

// listing is Markdown with a link to each page and file of a folder.
func (s *site) listing(folder string) []byte {
	var list bytes.Buffer
	base := path.Base(folder)
	fmt.Fprintf(&list, "# %s\n\n", strings.ToUpper(base[:1])+base[1:])
	for _, name := range slices.Sorted(maps.Keys(s.pages)) {
		if path.Dir(name) == folder {
			fmt.Fprintf(&list, "- [%s](%s)\n", s.pages[name].Title, path.Base(name))
		}
	}
	for _, name := range s.files {
		if path.Dir(name) == folder {
			fmt.Fprintf(&list, "- [%s](%[1]s)\n", path.Base(name))
		}
	}
	return list.Bytes()
}

// write writes all pages, and the index for the search in them.
func (s *site) write(out string, groups []group) error {
	index, err := json.Marshal(s.index())
	if err != nil {
		return err
	}
	s.pages["try"] = &page{Path: "try.html", Title: "Try it", Body: tryBody}
	s.pages["search"] = &page{Path: "search.html", Title: "Search", Body: searchBody}
	for _, p := range s.pages {
		var written bytes.Buffer
		up := strings.Repeat("../", strings.Count(p.Path, "/"))
		if err := layout.Execute(&written, map[string]any{"Page": p, "Up": up, "Groups": groups}); err != nil {
			return err
		}
		if err := writeFile(out, p.Path, written.Bytes()); err != nil {
			return err
		}
	}
	return writeFile(out, "assets/index.js", slices.Concat([]byte("const sections = "), index, []byte(";\n")))
}

func (s *site) copyFiles(out string) error {
	styles, err := fs.Glob(own, "assets/*")
	if err != nil {
		return err
	}
	for from, names := range map[fs.FS][]string{own: styles, s.root: s.files} {
		for _, name := range names {
			content, err := fs.ReadFile(from, name)
			if err != nil {
				return err
			}
			if err := writeFile(out, name, content); err != nil {
				return err
			}
		}
	}
	return nil
}

func writeFile(out, name string, content []byte) error {
	to := filepath.Join(out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o644)
}
