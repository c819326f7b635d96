package main

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

// markdown is what GitHub shows of the pages. They are ours, so their HTML is kept; as XHTML,
// so that a test can read all of it.
var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe(), html.WithXHTML()))

// unheard is what GitHub leaves out of the anchor of a heading.
var unheard = regexp.MustCompile(`[^\p{L}\p{M}\p{N}_ -]`)

// A page is one HTML file.
type page struct {
	Path, Title string
	Body        template.HTML
	sections    []section
}

// A section is what the search finds: a heading and the text below it.
type section struct{ anchor, title, text string }

// render fills a page from Markdown.
func (s *site) render(name string, source []byte) error {
	document := markdown.Parser().Parse(text.NewReader(source))
	if err := s.resolveLinks(name, document); err != nil {
		return fmt.Errorf("cannot render %s: %w", name, err)
	}
	p := s.pages[name]
	anchors := map[string]int{}
	for block := document.FirstChild(); block != nil; block = block.NextSibling() {
		said := textOf(block, source)
		if heading, is := block.(*ast.Heading); is {
			p.startSection(heading, said, anchors)
		} else if last := len(p.sections) - 1; last >= 0 {
			p.sections[last].text += said + " "
		}
	}
	var body bytes.Buffer
	if err := markdown.Renderer().Render(&body, source, document); err != nil {
		return err
	}
	p.Body = template.HTML(body.String())
	return nil
}

// startSection gives a heading the anchor that GitHub gives it.
func (p *page) startSection(heading *ast.Heading, title string, anchors map[string]int) {
	anchor := strings.ReplaceAll(unheard.ReplaceAllString(strings.ToLower(title), ""), " ", "-")
	times := anchors[anchor]
	anchors[anchor]++
	if times > 0 {
		anchor = fmt.Sprintf("%s-%d", anchor, times)
	}
	heading.SetAttributeString("id", []byte(anchor))
	if p.Title == "" {
		p.Title = title
	}
	p.sections = append(p.sections, section{anchor: anchor, title: title})
}

// textOf is what a reader sees of a node.
func textOf(node ast.Node, source []byte) string {
	var said strings.Builder
	_ = ast.Walk(node, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				said.Write(n.Value(source))
				if n.SoftLineBreak() || n.HardLineBreak() {
					said.WriteByte(' ')
				}
			}
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			if entering {
				said.Write(n.Lines().Value(source))
			}
		case *ast.Paragraph, *ast.TextBlock, *ast.ListItem, *east.TableCell:
			if !entering {
				said.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.TrimSpace(said.String())
}

// resolveLinks makes the links of a page lead to pages and files of the site.
func (s *site) resolveLinks(name string, document ast.Node) error {
	folder := name
	if path.Ext(name) == ".md" {
		folder = path.Dir(name)
	}
	return ast.Walk(document, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		link, is := node.(*ast.Link)
		if !is || !entering {
			return ast.WalkContinue, nil
		}
		parsed, err := url.Parse(string(link.Destination))
		if err != nil || parsed.Scheme != "" || parsed.Path == "" {
			return ast.WalkContinue, err
		}
		to := path.Join(folder, parsed.Path)
		if target := s.pages[to]; target != nil {
			parsed.Path = strings.Repeat("../", strings.Count(s.pages[name].Path, "/")) + target.Path
			link.Destination = []byte(parsed.String())
			return ast.WalkContinue, nil
		}
		return ast.WalkContinue, s.addFile(to)
	})
}

// addFile adds a file that a page links to.
func (s *site) addFile(name string) error {
	info, err := fs.Stat(s.root, name)
	if err != nil {
		return fmt.Errorf("a link leads nowhere: %w", err)
	}
	if info.IsDir() {
		return fmt.Errorf("a link leads to %s, a folder outside docs: link to a page or a file", name)
	}
	if !slices.Contains(s.files, name) {
		s.files = append(s.files, name)
	}
	return nil
}
