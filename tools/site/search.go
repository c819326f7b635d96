package main

import (
	"html/template"
	"maps"
	"slices"
	"strings"
)

// searchBody is the page that search.js fills.
const searchBody template.HTML = `<h1>Search</h1>
<p id="found" role="status">The search needs JavaScript. Without it, use the contents.</p>
<ol id="results"></ol>
`

// index are the sections of all pages as search.js reads them: path with anchor, title of the
// page, heading, text.
func (s *site) index() [][4]string {
	var entries [][4]string
	for _, name := range slices.Sorted(maps.Keys(s.pages)) {
		p := s.pages[name]
		for _, section := range p.sections {
			entries = append(entries, [4]string{p.Path + "#" + section.anchor, p.Title, section.title, strings.Join(strings.Fields(section.text), " ")})
		}
	}
	return entries
}
