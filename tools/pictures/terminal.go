package main

import (
	"context"
	"encoding/xml"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	// columns is where a terminal goes on in its next line.
	columns = 132
	// The sizes of a character and of the frame, in pixels.
	advance, height, margin = 7.8, 18, 16
	// fails marks a command that is refused.
	fails = "! "
)

// scenes are the terminals, in the order in which their commands run.
var scenes = []struct {
	name, title string
	// before runs first and is not shown.
	before string
	// lines are the commands; one that fails begins with fails.
	lines []string
}{
	{name: "marketplace.svg", title: "svcat marketplace lists the types, classes and plans that brokers offer", lines: []string{"svcat marketplace"}},
	{
		name: "refused.svg", title: "An instance of type mysql is refused, because two plans are suggested; after one is made the default, it is created",
		lines: []string{fails + "kubectl apply -f mydb.yaml", "svcat set plan azure-mysql/premium-p1 --default", "kubectl apply -f mydb.yaml"},
	},
	{
		name: "described.svg", title: "svcat describe instance shows the plan, who chose it, and where each parameter comes from",
		// An event is written after the status that it is about.
		before: "kubectl wait serviceinstance/mydb --for=condition=Ready --timeout=2m; " +
			"until kubectl get events --field-selector involvedObject.name=mydb,reason=ProvisionedSuccessfully -o name | grep -q .; do sleep 1; done",
		lines: []string{"kubectl get serviceinstances", "svcat describe instance mydb"},
	},
}

// graphOf prints the graph that is drawn: that of a type with a default.
const graphOf = "svcat explain mysql -o mermaid"

// terminals runs all scenes and prints the graph.
func terminals(ctx context.Context, s *stack) (made []picture, graph string, err error) {
	for _, scene := range scenes {
		if scene.before != "" {
			if out, err := s.sh(ctx, scene.before); err != nil {
				return nil, "", fmt.Errorf("%s: %w\n%s", scene.before, err, out)
			}
		}
		var shown strings.Builder
		for _, line := range scene.lines {
			line, failing := strings.CutPrefix(line, fails)
			out, err := s.sh(ctx, line)
			if failing != (err != nil) {
				return nil, "", fmt.Errorf("%s: fails: %t, expected: %t: %v\n%s", line, err != nil, failing, err, out)
			}
			shown.WriteString("$ " + line + "\n" + strings.TrimRight(out, "\n") + "\n\n")
		}
		made = append(made, picture{scene.name, terminal(scene.title, fixed(shown.String()))})
	}
	graph, err = s.sh(ctx, graphOf)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w\n%s", graphOf, err, graph)
	}
	return made, fixed(graph), nil
}

// volatile is what differs from run to run, and what is shown for it.
var volatile = []struct {
	is    *regexp.Regexp
	shown string
}{
	{regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "5d5cd2ba-1c5b-5e0e-8f6c-2f0a3c1b7d90"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000 UTC\b`), "2026-11-01 09:00:00 +0000 UTC"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`), "2026-11-01T09:00:00Z"},
	{regexp.MustCompile(`\b127\.0\.0\.1:\d+\b`), "127.0.0.1:8080"},
}

// age is a time of seconds or minutes with the space that pads it in a table.
var age = regexp.MustCompile(`\b(\d{1,2}m)?\d{1,3}s\b *|\b\d{1,2}m\b *`)

// fixed is a text with the same times, addresses and random IDs in each run.
func fixed(text string) string {
	for _, v := range volatile {
		text = v.is.ReplaceAllString(text, v.shown)
	}
	text = age.ReplaceAllStringFunc(text, func(found string) string { return fmt.Sprintf("%-*s", len(found), "5s") })
	lines := strings.Split(text, "\n")
	for at := range lines {
		lines[at] = strings.TrimRight(lines[at], " ")
	}
	return strings.Join(lines, "\n")
}

// terminal draws a text. Each line has the width that its characters have in the grid, whatever
// the font.
func terminal(title, text string) []byte {
	lines := wrapped(strings.TrimRight(text, "\n"))
	widest := 0
	for _, line := range lines {
		widest = max(widest, utf8.RuneCountInString(line))
	}
	var svg strings.Builder
	w, h := int(float64(widest)*advance)+2*margin, len(lines)*height+2*margin
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img" aria-labelledby="title">
<title id="title">%s</title>
<style>
rect { fill: #fff; stroke: #d0d7de; } text { fill: #1f2328; font: 13px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; white-space: pre; } .command { fill: #0b5cad; font-weight: bold; }
@media (prefers-color-scheme: dark) { rect { fill: #16191d; stroke: #363d45; } text { fill: #dfe3e7; } .command { fill: #7ab8f5; } }
</style>
<rect x="0.5" y="0.5" width="%d" height="%d" rx="6"/>
`, w, h, escape(title), w-1, h-1)
	for at, line := range lines {
		if line == "" {
			continue
		}
		class := ""
		if strings.HasPrefix(line, "$ ") {
			class = ` class="command"`
		}
		fmt.Fprintf(&svg, "<text x=\"%d\" y=\"%d\" textLength=\"%.1f\" xml:space=\"preserve\"%s>%s</text>\n",
			margin, margin+13+at*height, float64(utf8.RuneCountInString(line))*advance, class, escape(line))
	}
	svg.WriteString("</svg>\n")
	return []byte(svg.String())
}

// wrapped are the lines of a text as a terminal breaks them.
func wrapped(text string) (lines []string) {
	for line := range strings.SplitSeq(text, "\n") {
		characters := []rune(line)
		for len(characters) > columns {
			lines = append(lines, string(characters[:columns]))
			characters = characters[columns:]
		}
		lines = append(lines, string(characters))
	}
	return lines
}

func escape(text string) string {
	var escaped strings.Builder
	_ = xml.EscapeText(&escaped, []byte(text)) // a Builder takes everything
	return escaped.String()
}
