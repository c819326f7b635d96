package explain

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// The values of --output.
const (
	outputTree    = "tree"
	outputJSON    = "json"
	outputDot     = "dot"
	outputMermaid = "mermaid"
)

var outputs = []string{outputTree, outputJSON, outputDot, outputMermaid}

// A drawer prints a report.
type drawer func(*cli.Env, *Report) error

// drawerOf is the drawer for a value of --output.
func drawerOf(output string) (drawer, error) {
	switch output {
	case outputTree:
		return func(env *cli.Env, r *Report) error { return drawTrees(env.Out, r.trees(), env.Colours()) }, nil
	case outputJSON:
		return drawJSON, nil
	case outputDot:
		return func(env *cli.Env, r *Report) error { return drawDot(env.Out, r.trees()) }, nil
	case outputMermaid:
		return func(env *cli.Env, r *Report) error { return drawMermaid(env.Out, r.trees()) }, nil
	}
	return nil, cli.Usagef("--output is %q; allowed are %s", output, strings.Join(outputs, ", "))
}

func (r *Report) trees() []node {
	trees := make([]node, len(r.Explanations))
	for i := range r.Explanations {
		trees[i] = r.Explanations[i].tree()
	}
	return trees
}

func drawJSON(env *cli.Env, r *Report) error {
	encoder := json.NewEncoder(env.Out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(r); err != nil {
		return fmt.Errorf("cannot print the explanation: %w", err)
	}
	return nil
}

// drawTrees writes the trees for a terminal, an empty line between them.
func drawTrees(out io.Writer, trees []node, colours bool) error {
	var text strings.Builder
	for i, tree := range trees {
		if i > 0 {
			text.WriteString("\n")
		}
		tree.write(&text, "", "", colours)
		tree.draw(&text, "", colours)
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// draw writes what stands below a node, each line behind indent.
func (n node) draw(text *strings.Builder, indent string, colours bool) {
	for i, kid := range n.kids {
		branch, below := "├─ ", "│  "
		if i == len(n.kids)-1 {
			branch, below = "└─ ", "   "
		}
		kid.write(text, indent+branch, indent+below, colours)
		kid.draw(text, indent+below, colours)
	}
}

// write writes a node's own text behind a branch; what it has of more lines stands
// below, where nothing is taken for a branch.
func (n node) write(text *strings.Builder, branch, below string, colours bool) {
	if len(n.kids) > 0 {
		below += "│  "
	}
	text.WriteString(branch + strings.ReplaceAll(n.line(colours), "\n", "\n"+below) + "\n")
}

// line is a node's own line. Colour only repeats what the mark says.
func (n node) line(colours bool) string {
	sign, colour := string(n.mark), ""
	switch n.mark {
	case heading:
		sign, colour = "", "\x1b[1m"
	case winner:
		colour = "\x1b[32m"
	case loser:
		colour = "\x1b[31m"
	case plain, passed:
	}
	if colour == "" || !colours {
		return sign + n.text
	}
	return colour + sign + n.text + "\x1b[0m"
}

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
