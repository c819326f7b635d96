package tree

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"k8s.io/cli-runtime/pkg/printers"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/termtext"
)

// write prints the trees of a scope, a line for each node. Names of the current namespace stand
// alone.
func write(w io.Writer, roots []*Node, current string, where cli.Scope) error {
	if len(roots) == 0 {
		_, err := fmt.Fprintf(w, "no instances in %s\n", where)
		return err
	}
	table := printers.GetNewTabWriter(w)
	_, err := fmt.Fprintln(table, "OBJECT\tREADY\tREASON\tNOTE")
	for _, root := range roots {
		err = errors.Join(err, writeNode(table, root, current, "", ""))
	}
	return errors.Join(err, table.Flush())
}

// writeNode prints a node after its own lead, and those below it after that of its children.
func writeNode(w io.Writer, node *Node, current, lead, below string) error {
	// The text of a node makes neither cells nor lines: a broker calls its plans as it likes.
	cells := []string{lead + termtext.Line(node.title(current)), termtext.Line(node.Ready), termtext.Line(node.Reason), termtext.Line(node.Note)}
	line := strings.Join(cells, "\t")
	_, err := fmt.Fprintln(w, strings.TrimRight(line, "\t"))
	for i, child := range node.Children {
		own, under := "├─ ", "│  "
		if i == len(node.Children)-1 {
			own, under = "└─ ", "   "
		}
		err = errors.Join(err, writeNode(w, child, current, below+own, below+under))
	}
	return err
}
