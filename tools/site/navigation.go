package main

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// contents is the page that the navigation follows.
const contents = "docs/README.md"

// A group is a heading of the navigation and the pages below it.
type group struct {
	Title string
	Pages []*page
}

// navigation is the structure of the contents: each paragraph starts a group with its first
// words, and its links and those of the list after it are the pages of the group.
func (s *site) navigation() ([]group, error) {
	source, err := fs.ReadFile(s.root, contents)
	if err != nil {
		return nil, err
	}
	document := markdown.Parser().Parse(text.NewReader(source))
	groups := []group{{Title: "The project"}}
	for _, name := range []string{"README.md", contents, "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"} {
		groups[0].Pages = append(groups[0].Pages, s.pages[name])
	}
	for block := document.FirstChild(); block != nil; block = block.NextSibling() {
		if _, is := block.(*ast.Paragraph); is {
			said := textOf(block, source)
			groups = append(groups, group{Title: said[:strings.IndexAny(said+":", ":,.")]})
		}
		groups[len(groups)-1].Pages = append(groups[len(groups)-1].Pages, s.linked(block)...)
	}
	return slices.DeleteFunc(groups, func(g group) bool { return len(g.Pages) == 0 }), nil
}

// linked are the pages that a block of the contents links to.
func (s *site) linked(block ast.Node) (pages []*page) {
	_ = ast.Walk(block, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if link, is := node.(*ast.Link); is && entering {
			if p := s.pages[path.Join(path.Dir(contents), string(link.Destination))]; p != nil {
				pages = append(pages, p)
			}
		}
		return ast.WalkContinue, nil
	})
	return pages
}
