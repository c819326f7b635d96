package why

import (
	"fmt"
	"io"
	"strings"
)

// walk visits a node and all below it, each with a number of its own and that of
// the one above it, which is -1 at the top.
func walk(trees []node, visit func(number, above int, n *node)) {
	next := 0
	var down func(n *node, above int)
	down = func(n *node, above int) {
		number := next
		next++
		visit(number, above, n)
		for i := range n.kids {
			down(&n.kids[i], number)
		}
	}
	for i := range trees {
		down(&trees[i], -1)
	}
}

// drawDot writes the trees as one graph for Graphviz.
func drawDot(out io.Writer, trees []node) error {
	var text strings.Builder
	text.WriteString("digraph explain {\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n")
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	walk(trees, func(number, above int, n *node) {
		style := map[mark]string{winner: ", color=darkgreen, penwidth=2", loser: ", color=red", heading: ", style=bold"}[n.mark]
		fmt.Fprintf(&text, "  n%d [label=\"%s\"%s];\n", number, quote.Replace(n.line(false)), style)
		if above >= 0 {
			fmt.Fprintf(&text, "  n%d -> n%d;\n", above, number)
		}
	})
	text.WriteString("}\n")
	_, err := io.WriteString(out, text.String())
	return err
}

// drawMermaid writes the trees as one flow chart for Mermaid. What could mean
// something to it is written as entities.
func drawMermaid(out io.Writer, trees []node) error {
	var text strings.Builder
	text.WriteString("flowchart LR\n")
	quote := strings.NewReplacer("#", "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "&", "#amp;", "`", "#96;", "\n", "<br/>")
	marks := map[mark]string{winner: ":::chosen", loser: ":::refused"}
	walk(trees, func(number, above int, n *node) {
		fmt.Fprintf(&text, "  n%d[\"%s\"]%s\n", number, quote.Replace(n.line(false)), marks[n.mark])
		if above >= 0 {
			fmt.Fprintf(&text, "  n%d --> n%d\n", above, number)
		}
	})
	text.WriteString("  classDef chosen stroke:#070,stroke-width:3px\n  classDef refused stroke:#c00\n")
	_, err := io.WriteString(out, text.String())
	return err
}
